/**
 * A small assembler for WebAssembly: just the instructions that the cryptography of this node needs.
 *
 * The code of an expression is a nested array of bytes; an instruction takes the code of its operands
 * and encloses it. So a module has no source but TypeScript, and no compiled file is stored.
 */

export type Code = readonly (number | Code)[];
type Bytes = readonly number[];
export type ValueType = 'i32' | 'i64' | 'v128';

const typeBytes: Readonly<Record<ValueType, number>> = { i32: 0x7f, i64: 0x7e, v128: 0x7b };

/** Little-endian base 128, unsigned. */
function unsigned(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) out.push((rest % 128) | 0x80);
  return [...out, rest];
}

/** Little-endian base 128, signed. */
function signed(value: bigint): number[] {
  const out: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    const low = Number(rest & 0x7fn);
    if (rest >= -64n && rest < 64n) return [...out, low];
    out.push(low | 0x80);
  }
}

const binary =
  (opcode: number) =>
  (a: Code, b: Code): Code => [a, b, opcode];
/** `alignment` is the exponent of two that the engine may expect of the address. */
const load =
  (opcode: Bytes, alignment: number) =>
  (address: Code, offset: number): Code => [address, ...opcode, alignment, ...unsigned(offset)];
const store =
  (opcode: Bytes, alignment: number) =>
  (address: Code, offset: number, value: Code): Code => [
    address,
    value,
    ...opcode,
    alignment,
    ...unsigned(offset),
  ];

const and = binary(0x71);
const or = binary(0x72);
const rotateLeft = (a: Code, bits: number) => binary(0x77)(a, i32.const(bits));

export const i32 = {
  const: (value: number): Code => [0x41, ...signed(BigInt(value))],
  load: load([0x28], 2),
  store: store([0x36], 2),
  add: binary(0x6a),
  sub: binary(0x6b),
  mul: binary(0x6c),
  and,
  eq: binary(0x46),
  isZero: (a: Code): Code => [a, 0x45],
  lessUnsigned: binary(0x49),
  /** The low half of an i64. */
  wrap: (a: Code): Code => [a, 0xa7],
  /** The same bytes in the opposite order. `a` is evaluated twice. */
  byteSwapped: (a: Code): Code => {
    const [outer, inner] = [rotateLeft(a, 8), rotateLeft(a, 24)];
    return or(and(outer, i32.const(0x00ff00ff)), and(inner, i32.const(-0xff0100)));
  },
};

export const i64 = {
  const: (value: bigint): Code => [0x42, ...signed(BigInt.asIntN(64, value))],
  load: load([0x29], 3),
  store: store([0x37], 3),
  /** 32 bits, the upper half zero. */
  load32: load([0x35], 2),
  store32: store([0x3e], 2),
  add: binary(0x7c),
  sub: binary(0x7d),
  mul: binary(0x7e),
  and: binary(0x83),
  or: binary(0x84),
  xor: binary(0x85),
  not: (a: Code): Code => i64.xor(a, i64.const(-1n)),
  rotateLeft: (a: Code, bits: number) => binary(0x89)(a, i64.const(BigInt(bits))),
  shiftLeft: (a: Code, bits: number) => binary(0x86)(a, i64.const(BigInt(bits))),
  shiftRight: (a: Code, bits: number) => binary(0x88)(a, i64.const(BigInt(bits))),
  shiftRightSigned: (a: Code, bits: number) => binary(0x87)(a, i64.const(BigInt(bits))),
};

const simd = (opcode: number): number[] => [0xfd, ...unsigned(opcode)];
const vectorBinary =
  (opcode: number) =>
  (a: Code, b: Code): Code => [a, b, ...simd(opcode)];

export const v128 = {
  /** Four 32-bit lanes, the lowest first. */
  const32: (lanes: readonly number[]): Code => [
    ...simd(0x0c),
    ...new Uint8Array(Uint32Array.from(lanes).buffer),
  ],
  load: load(simd(0), 4),
  store: store(simd(0x0b), 4),
  /** Picks four 32-bit lanes; 0 to 3 are those of `a`, 4 to 7 those of `b`. */
  shuffle32: (a: Code, b: Code, lanes: readonly number[]): Code => [
    a,
    b,
    ...simd(0x0d),
    ...lanes.flatMap((lane) => [0, 1, 2, 3].map((byte) => 4 * lane + byte)),
  ],
  splat32: (a: Code): Code => [a, ...simd(0x11)],
  /** The half with that number as i64. */
  half: (a: Code, number: 0 | 1): Code => [a, ...simd(0x1d), number],
  and: vectorBinary(0x4e),
  or: vectorBinary(0x50),
  xor: vectorBinary(0x51),
  add32: vectorBinary(0xae),
  sub32: vectorBinary(0xb1),
  mul32: vectorBinary(0xb5),
  equal32: vectorBinary(0x37),
  shiftLeft32: (a: Code, bits: number): Code => [a, i32.const(bits), ...simd(0xab)],
  shiftRight32: (a: Code, bits: number): Code => [a, i32.const(bits), ...simd(0xad)],
  add64: vectorBinary(0xce),
  shiftLeft64: (a: Code, bits: number): Code => [a, i32.const(bits), ...simd(0xcb)],
  shiftRight64: (a: Code, bits: number): Code => [a, i32.const(bits), ...simd(0xcd)],
  splat64: (a: Code): Code => [a, ...simd(0x12)],
  /** Two products of 64 bits: of the lower two 32-bit lanes, or of the upper two. */
  multiplyLow: vectorBinary(0xde),
  multiplyHigh: vectorBinary(0xdf),
};

export const get = (local: number): Code => [0x20, ...unsigned(local)];
export const set = (local: number, value: Code): Code => [value, 0x21, ...unsigned(local)];

/** Runs the body as long as the condition, computed after it, is not 0. */
export const doWhile = (body: Code, condition: Code): Code => [
  ...[0x03, 0x40],
  body,
  condition,
  ...[0x0d, 0x00, 0x0b],
];

export interface FunctionScope {
  /** The number of a new local variable. */
  local(type: ValueType): number;
  locals(type: ValueType, count: number): number[];
}

interface Definition {
  readonly name: string;
  readonly parameters: number;
  readonly locals: readonly ValueType[];
  readonly code: Bytes;
}

/** Functions have i32 parameters and no result: they work on the memory, which is imported. */
export class Assembler {
  private readonly definitions: Definition[] = [];

  /** `write` returns the code of the function; its parameters are the first local variables. */
  define(name: string, parameters: number, write: (scope: FunctionScope) => Code): void {
    const locals: ValueType[] = [];
    const local = (type: ValueType) => parameters + locals.push(type) - 1;
    const code = write({
      local,
      locals: (type, count) => Array.from({ length: count }, () => local(type)),
    });
    this.definitions.push({ name, parameters, locals, code: flat(code, []) });
  }

  /** Calls a function that is already defined. */
  call(name: string, ...args: readonly Code[]): Code {
    const index = this.definitions.findIndex((one) => one.name === name);
    if (index < 0) throw new Error(`no function ${name} is defined`);
    return [...args, 0x10, ...unsigned(index)];
  }

  /** The bytes of the module. It exports all functions and imports `host.memory`. */
  assemble(): Uint8Array<ArrayBuffer> {
    const all = this.definitions;
    const counts = [...new Set(all.map(({ parameters }) => parameters))];
    const i32s = (count: number) => Array.from({ length: count }, () => typeBytes.i32);
    return Uint8Array.from([
      ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
      ...section(
        1,
        counts.map((count) => [0x60, ...vector(i32s(count).map((type) => [type])), 0]),
      ),
      ...section(2, [[...text('host'), ...text('memory'), 0x02, 0x00, 0x00]]),
      ...section(
        3,
        all.map(({ parameters }) => unsigned(counts.indexOf(parameters))),
      ),
      ...section(
        7,
        all.map(({ name }, index) => [...text(name), 0x00, ...unsigned(index)]),
      ),
      ...section(10, all.map(body)),
    ]);
  }
}

function flat(code: Code, out: number[]): number[] {
  for (const part of code) {
    if (typeof part === 'number') out.push(part);
    else flat(part, out);
  }
  return out;
}

function body({ locals, code }: Definition): number[] {
  const declared = vector(locals.map((type) => [1, typeBytes[type]]));
  return [...unsigned(declared.length + code.length + 1), ...declared, ...code, 0x0b];
}

const text = (ascii: string): number[] => [...unsigned(ascii.length), ...Buffer.from(ascii)];

function vector(items: readonly Bytes[]): number[] {
  return [...unsigned(items.length), ...items.flat()];
}

function section(id: number, items: readonly Bytes[]): number[] {
  const content = vector(items);
  return [id, ...unsigned(content.length), ...content];
}
