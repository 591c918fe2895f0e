/** The text form that answers show as `scriptText` (docs/protocol/scripts.md#text-form). */
import { headerText, type Tree } from '../language/tree.ts';
import { isBytes, isList, type Value } from '../language/values.ts';

/** From this size on, a hash stands for the bytes. */
const SHOWN_BYTES_MAX = 511;

export function treeText(tree: Tree): string {
  const texts: string[] = [];
  // The last one is the next. No depth of a tree exhausts the stack.
  const rest: (Tree | string)[] = [tree];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (typeof next === 'string') texts.push(next);
    else for (const part of formOf(next).reverse()) rest.push(part);
  }
  return texts.join('');
}

/** The text of a node, with its parts where their texts stand. */
function formOf(node: Tree): (Tree | string)[] {
  switch (node.op) {
    case 'long':
      return [`CONST_LONG(${node.value})`];
    case 'string':
      return [`CONST_STRING(${node.value})`];
    case 'bytes':
      return [`CONST_BYTEVECTOR(${bytesText(node.value)})`];
    case 'bool':
      return [node.value ? 'TRUE' : 'FALSE'];
    case 'ref':
      return [`REF(${node.name})`];
    case 'getter':
      return ['GETTER(', node.of, `,${node.field})`];
    case 'if':
      return ['IF(', node.test, ',', node.yes, ',', node.no, ')'];
    case 'block':
      return [`BLOCK(LET(${node.name},`, node.value, '),', node.body, ')'];
    case 'call': {
      const form: (Tree | string)[] = [`FUNCTION_CALL(${headerText(node.header)},List(`];
      for (const [i, arg] of node.args.entries()) form.push(i > 0 ? ', ' : '', arg);
      form.push('))');
      return form;
    }
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
  const shown = text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX)}…` : text;
  return shown.toWellFormed();
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
