/** The text form that answers show as `scriptText` (docs/protocol/scripts.md#text-form). */
import { headerText, type Tree } from './tree.ts';
import { isBytes, isList, type Value } from './values.ts';

/** From this size on, a hash stands for the bytes. */
const SHOWN_BYTES_MAX = 511;

export function treeText(tree: Tree): string {
  const parts: string[] = [];
  append(parts, tree);
  return parts.join('');
}

function append(out: string[], tree: Tree): void {
  switch (tree.op) {
    case 'long':
      out.push(`CONST_LONG(${tree.value})`);
      break;
    case 'string':
      out.push(`CONST_STRING(${tree.value})`);
      break;
    case 'bytes':
      out.push(`CONST_BYTEVECTOR(${bytesText(tree.value)})`);
      break;
    case 'bool':
      out.push(tree.value ? 'TRUE' : 'FALSE');
      break;
    case 'ref':
      out.push(`REF(${tree.name})`);
      break;
    case 'getter':
      out.push('GETTER(');
      append(out, tree.of);
      out.push(`,${tree.field})`);
      break;
    case 'if':
      out.push('IF(');
      append(out, tree.test);
      out.push(',');
      append(out, tree.yes);
      out.push(',');
      append(out, tree.no);
      out.push(')');
      break;
    case 'block':
      out.push(`BLOCK(LET(${tree.name},`);
      append(out, tree.value);
      out.push('),');
      append(out, tree.body);
      out.push(')');
      break;
    case 'call':
      out.push(`FUNCTION_CALL(${headerText(tree.header)},List(`);
      for (const [i, arg] of tree.args.entries()) {
        if (i > 0) out.push(', ');
        append(out, arg);
      }
      out.push('))');
  }
}

function bytesText(bytes: Uint8Array): string {
  const { length } = bytes;
  if (length === 0) return 'ByteVector(empty)';
  if (length > SHOWN_BYTES_MAX) return `ByteVector(${length} bytes, #${hashOf(bytes)})`;
  const digits = Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('hex');
  return `ByteVector(${length} bytes, 0x${digits})`;
}

/** As long as a script, so that no constant is cut. */
const HASHED_BYTES_MAX = 8192;

/** Distinguishes long values for a reader; nothing depends on it. */
function hashOf(bytes: Uint8Array): number {
  let hash = 0;
  for (const byte of bytes.subarray(0, HASHED_BYTES_MAX)) hash = (Math.imul(hash, 31) + byte) | 0;
  return hash;
}

export const VALUE_LENGTH_MAX = 1200;

/** The value of a variable, as the log of a failed script shows it; a long one is cut. */
export function valueText(value: Value): string {
  const text = cutText(value, VALUE_LENGTH_MAX + 1);
  return text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX)}…` : text;
}

/**
 * The text of a value, or at least the first `limit` characters of it. Records can be deep and share
 * their parts: each level takes characters of the limit, so both end there.
 */
function cutText(value: Value, limit: number): string {
  if (limit <= 0) return '';
  switch (typeof value) {
    case 'bigint':
      return `CONST_LONG(${value})`;
    case 'string':
      return `CONST_STRING(${value.slice(0, limit)})`;
    case 'boolean':
      return value ? 'TRUE' : 'FALSE';
    default:
      if (isBytes(value)) return `CONST_BYTEVECTOR(${bytesText(value)})`;
      if (isList(value)) return `List(${joined(value.entries(), limit, () => '')})`;
      return `${value.type}(${joined(value.fields, limit - value.type.length, (name) => `${name}=`)})`;
  }
}

function joined<K>(
  items: Iterable<readonly [K, Value]>,
  limit: number,
  label: (key: K) => string,
): string {
  let text = '';
  for (const [key, value] of items) {
    if (text.length > limit) break;
    if (text !== '') text += ', ';
    text += label(key);
    text += cutText(value, limit - text.length);
  }
  return text;
}
