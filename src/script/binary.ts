/**
 * The binary form of scripts (docs/protocol/scripts.md#binary-form).
 *
 *   script   version 1 | tree | checksum 4
 *   tree     opcode 1 | content
 *
 * The size of a script bounds how deep its tree is, so recursion is safe. Nothing is allocated by a
 * count that the bytes announce.
 */
import { concat, equal, utf8 } from '../base/bytes.ts';
import { FALSE, type Header, ScriptError, TRUE, type Tree, type Version } from './tree.ts';

export const SCRIPT_BYTES_MAX = 8192;
const CHECKSUM_BYTES = 4;

type SecureHash = (message: Uint8Array) => Uint8Array;

const LONG = 0;
const BYTES = 1;
const STRING = 2;
const IF = 3;
const BLOCK = 4;
const REF = 5;
const YES = 6;
const NO = 7;
const GETTER = 8;
const CALL = 9;

const NATIVE = 0;
const USER = 1;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

// ── writing ──────────────────────────────────────────────────────────────────────────────────

export function writeScript(version: Version, tree: Tree, secureHash: SecureHash): Uint8Array {
  const out: number[] = [version];
  writeTree(out, tree);
  const content = Uint8Array.from(out);
  return concat(content, secureHash(content).subarray(0, CHECKSUM_BYTES));
}

function writeTree(out: number[], tree: Tree): void {
  switch (tree.op) {
    case 'long':
      out.push(LONG);
      writeInteger(out, BigInt.asUintN(64, tree.value), 8);
      break;
    case 'bytes':
      out.push(BYTES);
      writeSized(out, tree.value);
      break;
    case 'string':
      out.push(STRING);
      writeSized(out, utf8(tree.value));
      break;
    case 'bool':
      out.push(tree.value ? YES : NO);
      break;
    case 'ref':
      out.push(REF);
      writeSized(out, utf8(tree.name));
      break;
    case 'getter':
      out.push(GETTER);
      writeTree(out, tree.of);
      writeSized(out, utf8(tree.field));
      break;
    case 'if':
      out.push(IF);
      writeTree(out, tree.test);
      writeTree(out, tree.yes);
      writeTree(out, tree.no);
      break;
    case 'block':
      out.push(BLOCK);
      writeSized(out, utf8(tree.name));
      writeTree(out, tree.value);
      writeTree(out, tree.body);
      break;
    case 'call':
      out.push(CALL);
      writeHeader(out, tree.header);
      writeInteger(out, BigInt(tree.args.length), 4);
      for (const arg of tree.args) writeTree(out, arg);
  }
}

function writeHeader(out: number[], header: Header): void {
  out.push(typeof header === 'number' ? NATIVE : USER);
  if (typeof header === 'number') writeInteger(out, BigInt(header), 2);
  else writeSized(out, utf8(header));
}

function writeSized(out: number[], bytes: Uint8Array): void {
  writeInteger(out, BigInt(bytes.length), 4);
  for (const byte of bytes) out.push(byte);
}

function writeInteger(out: number[], value: bigint, size: number): void {
  for (let i = size - 1; i >= 0; i--) out.push(Number((value >> BigInt(8 * i)) & 0xffn));
}

// ── reading ──────────────────────────────────────────────────────────────────────────────────

export interface Decoded {
  readonly version: Version;
  readonly tree: Tree;
}

/** Throws ScriptError. The checks have a fixed order, because clients see the first that fails. */
export function readScript(script: Uint8Array, secureHash: SecureHash): Decoded {
  if (script.length === 0) throw new ScriptError('Empty script');
  const end = script.length - CHECKSUM_BYTES;
  const content = script.subarray(0, Math.max(end, 0));
  const checksum = secureHash(content).subarray(0, CHECKSUM_BYTES);
  if (end < 1 || !equal(checksum, script.subarray(end))) throw new ScriptError('Invalid checksum');
  const version = script[0]!;
  if (version !== 1 && version !== 2) throw new ScriptError(`Invalid version: ${version}`);
  const size = content.length - 1;
  if (size > SCRIPT_BYTES_MAX) throw tooLarge(size);
  const source = new Source(content, 1);
  const tree = readTree(source);
  if (source.left > 0) throw new ScriptError(`${source.left} bytes left`);
  return { version, tree };
}

export const tooLarge = (size: number): ScriptError =>
  new ScriptError(`Script is too large: ${size} bytes > ${SCRIPT_BYTES_MAX} bytes`);

function readTree(source: Source): Tree {
  const opcode = source.byte();
  switch (opcode) {
    case LONG:
      return { op: 'long', value: source.long() };
    case BYTES:
      return { op: 'bytes', value: source.sized() };
    case STRING:
      return { op: 'string', value: source.text() };
    case IF:
      return { op: 'if', test: readTree(source), yes: readTree(source), no: readTree(source) };
    case BLOCK:
      return { op: 'block', name: source.text(), value: readTree(source), body: readTree(source) };
    case REF:
      return { op: 'ref', name: source.text() };
    case YES:
      return TRUE;
    case NO:
      return FALSE;
    case GETTER:
      return { op: 'getter', of: readTree(source), field: source.text() };
    case CALL:
      return readCall(source);
    default:
      throw new ScriptError(`Unknown operation: ${opcode}`);
  }
}

function readCall(source: Source): Tree {
  const type = source.byte();
  if (type !== NATIVE && type !== USER) {
    throw new ScriptError(`Unknown function header type: ${type}`);
  }
  const header = type === NATIVE ? source.short() : source.text();
  const count = source.int();
  if (count < 0 || count > source.left) throw new ScriptError(`Invalid argument count (${count})`);
  const args: Tree[] = [];
  for (let i = 0; i < count; i++) args.push(readTree(source));
  return { op: 'call', header, args };
}

class Source {
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private at: number;

  constructor(bytes: Uint8Array, from: number) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = from;
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  byte(): number {
    return this.view.getUint8(this.skip(1));
  }

  short(): number {
    return this.view.getInt16(this.skip(2));
  }

  int(): number {
    return this.view.getInt32(this.skip(4));
  }

  long(): bigint {
    return this.view.getBigInt64(this.skip(8));
  }

  text(): string {
    return decoder.decode(this.sized());
  }

  /** A copy, since the tree outlives the bytes that it was read from. */
  sized(): Uint8Array {
    const size = this.int();
    if (size < 0 || size > this.bytes.length) {
      throw new ScriptError(`Invalid array size (${size})`);
    }
    const from = this.skip(size);
    return this.bytes.slice(from, from + size);
  }

  private skip(size: number): number {
    const from = this.at;
    if (size > this.left) throw new ScriptError('The script ends too early');
    this.at = from + size;
    return from;
  }
}
