/**
 * The binary form of scripts (docs/protocol/scripts.md#binary-form).
 *
 *   script   version 1 | tree | checksum 4
 *   tree     opcode 1 | content
 *
 * 8,192 bytes hold a tree of 2,730 levels, so reader and writer keep stacks of their own: whether a
 * script is good depends on its bytes alone, and not on the caller. Nothing is allocated by a count
 * that the bytes announce.
 */
import { concat, equal, utf8 } from '../../base/bytes.ts';
import { FALSE, type Header, partsOf, ScriptError, TRUE, type Tree, type Version } from './tree.ts';

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

/** Throws ScriptError where the whole script would have more than 8,192 bytes. */
export function writeScript(version: Version, tree: Tree, secureHash: SecureHash): Uint8Array {
  const out = new Sink();
  out.byte(version);
  writeTree(out, tree);
  const size = out.size + CHECKSUM_BYTES;
  if (size > SCRIPT_BYTES_MAX) throw tooLarge(size);
  const content = out.written();
  return concat(content, secureHash(content).subarray(0, CHECKSUM_BYTES));
}

/** The name of a field stands behind the record that has it. */
interface FieldName {
  readonly op: 'fieldName';
  readonly name: string;
}

function writeTree(out: Sink, tree: Tree): void {
  // The last one is the next.
  const rest: (Tree | FieldName)[] = [tree];
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    if (node.op === 'fieldName') {
      out.text(node.name);
      continue;
    }
    writeNode(out, node);
    if (node.op === 'getter') rest.push({ op: 'fieldName', name: node.field });
    const parts = partsOf(node);
    for (let i = parts.length - 1; i >= 0; i--) rest.push(parts[i]!);
  }
}

/** What stands in front of the parts of a node. */
function writeNode(out: Sink, node: Tree): void {
  switch (node.op) {
    case 'long':
      out.byte(LONG);
      out.long(node.value);
      break;
    case 'bytes':
      out.byte(BYTES);
      out.sized(node.value);
      break;
    case 'string':
      out.byte(STRING);
      out.text(node.value);
      break;
    case 'bool':
      out.byte(node.value ? YES : NO);
      break;
    case 'ref':
      out.byte(REF);
      out.text(node.name);
      break;
    case 'getter':
      out.byte(GETTER);
      break;
    case 'if':
      out.byte(IF);
      break;
    case 'block':
      out.byte(BLOCK);
      out.text(node.name);
      break;
    case 'call':
      out.byte(CALL);
      writeHeader(out, node.header);
      out.integer(node.args.length, 4);
  }
}

function writeHeader(out: Sink, header: Header): void {
  out.byte(typeof header === 'number' ? NATIVE : USER);
  if (typeof header === 'number') out.integer(header, 2);
  else out.text(header);
}

/** Keeps what a script may have; of more, it only counts the bytes. */
class Sink {
  size = 0;
  private readonly bytes = new Uint8Array(SCRIPT_BYTES_MAX);

  written(): Uint8Array {
    return this.bytes.subarray(0, this.size);
  }

  byte(value: number): void {
    if (this.size < this.bytes.length) this.bytes[this.size] = value;
    this.size++;
  }

  integer(value: number, size: number): void {
    for (let shift = 8 * (size - 1); shift >= 0; shift -= 8) this.byte((value >> shift) & 0xff);
  }

  long(value: bigint): void {
    for (let shift = 56n; shift >= 0n; shift -= 8n) this.byte(Number((value >> shift) & 0xffn));
  }

  text(value: string): void {
    this.sized(utf8(value));
  }

  sized(value: Uint8Array): void {
    this.integer(value.length, 4);
    if (this.size + value.length <= this.bytes.length) this.bytes.set(value, this.size);
    this.size += value.length;
  }
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

const tooLarge = (size: number): ScriptError =>
  new ScriptError(`Script is too large: ${size} bytes > ${SCRIPT_BYTES_MAX} bytes`);

/** A node that has parts, one at least, until all of them are read. */
interface Open {
  readonly op: 'open';
  readonly count: number;
  readonly parts: Tree[];
  /** Reads what stands behind the parts. */
  readonly close: (parts: readonly Tree[]) => Tree;
}

function readTree(source: Source): Tree {
  // The innermost one is the last.
  const unfinished: Open[] = [];
  for (;;) {
    const node = readNode(source);
    if (node.op === 'open') {
      unfinished.push(node);
      continue;
    }
    const whole = finish(node, unfinished);
    if (whole !== undefined) return whole;
  }
}

/** Closes all nodes that end with this one; returns the whole tree if nothing is left open. */
function finish(last: Tree, unfinished: Open[]): Tree | undefined {
  let tree = last;
  for (let around = unfinished.at(-1); around !== undefined; around = unfinished.at(-1)) {
    around.parts.push(tree);
    if (around.parts.length < around.count) return undefined;
    unfinished.pop();
    tree = around.close(around.parts);
  }
  return tree;
}

function readNode(source: Source): Tree | Open {
  const opcode = source.byte();
  switch (opcode) {
    case LONG:
      return { op: 'long', value: source.long() };
    case BYTES:
      return { op: 'bytes', value: source.sized() };
    case STRING:
      return { op: 'string', value: source.text() };
    case IF:
      return open(3, ([test, yes, no]) => ({ op: 'if', test: test!, yes: yes!, no: no! }));
    case BLOCK: {
      const name = source.text();
      return open(2, ([value, body]) => ({ op: 'block', name, value: value!, body: body! }));
    }
    case REF:
      return { op: 'ref', name: source.text() };
    case YES:
      return TRUE;
    case NO:
      return FALSE;
    case GETTER:
      return open(1, ([of]) => ({ op: 'getter', of: of!, field: source.text() }));
    case CALL:
      return readCall(source);
    default:
      throw new ScriptError(`Unknown operation: ${opcode}`);
  }
}

function readCall(source: Source): Tree | Open {
  const type = source.byte();
  if (type !== NATIVE && type !== USER) {
    throw new ScriptError(`Unknown function header type: ${type}`);
  }
  const header = type === NATIVE ? source.short() : source.text();
  const count = source.int();
  if (count < 0 || count > source.left) throw new ScriptError(`Invalid argument count (${count})`);
  if (count === 0) return { op: 'call', header, args: [] };
  return open(count, (args) => ({ op: 'call', header, args }));
}

const open = (count: number, close: Open['close']): Open => ({
  op: 'open',
  count,
  parts: [],
  close,
});

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
