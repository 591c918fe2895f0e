/**
 * One value in every form: bytes, JSON, JSON Schema and TypeScript type, declared once.
 *
 * Invariants: integers are big-endian; `read` and `fromJson` throw nothing but CodecError and never
 * look beyond their input; both apply the same constraint, so bytes from a peer and JSON from a
 * client obey the same rule; decoding copies nothing, byte fields are views into the input.
 */
import { assert } from '../base/assert.ts';
import type { CryptoCharges } from '../base/charge.ts';
import type { Refusal } from '../base/errors.ts';
import { ExpectedError } from '../base/faults/expected-error.ts';

/** A JSON Schema (draft 2020-12), as embedded in OpenAPI 3.1. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/**
 * What bytes, JSON and scripts depend on besides the value: the chain's id, key size, address form,
 * hashes and signatures.
 * The word is that of the setting `address-scheme-character`. `crypto/chain-scheme.ts` implements
 * it, so this folder contains no cryptography.
 */
export interface ChainScheme {
  /** ASCII code of `address-scheme-character`. */
  readonly chainId: number;
  readonly publicKeySize: number;
  /** Name of the native token in messages and order pairs. */
  readonly nativeToken: string;
  readonly addressOf: (publicKey: Uint8Array) => Uint8Array;
  readonly addressToText: (address: Uint8Array) => string;
  /** The text of a public key, and that of its address. */
  readonly accountTexts: (publicKey: Uint8Array) => AccountTexts;
  /** Throws ApiError InvalidAddress with the reasons of rest.md#parameters. */
  readonly addressFromText: (text: string) => Uint8Array;
  /** The reason why these 26 bytes are no address of this network, or undefined. */
  readonly addressProblem: (bytes: Uint8Array) => string | undefined;
  readonly fastHash: (bytes: Uint8Array) => Uint8Array;
  /** Checksums of scripts are parts of it. */
  readonly secureHash: (bytes: Uint8Array) => Uint8Array;
  /** The verdict of the network on a signature; false for malformed input. */
  readonly verify: (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean;
  /** What a script pays for these functions. */
  readonly charges: CryptoCharges;
}

export interface AccountTexts {
  readonly publicKey: string;
  readonly address: string;
}

export interface Codec<T> {
  write(out: Writer, value: T): void;
  /** Throws CodecError. */
  read(src: Reader): T;
  toJson(value: T, scheme: ChainScheme): unknown;
  /**
   * Reads a value of this node's own store and gives the text of its JSON form, for frequent
   * answers; it need not repeat the checks of `read`. Absent: the text is that of `toJson`.
   */
  readonly print?: ((src: Reader) => string) | undefined;
  /** `path` is the place of the value, e.g. `obj.transfers[3].amount`. Throws CodecError. */
  fromJson(json: unknown, path: string, scheme: ChainScheme): T;
  readonly schema: JsonSchema;
  /** True if a request may leave the field out: `fromJson(undefined)` then gives its default. */
  readonly optional?: boolean;
  /** The value where a version has no such field; see `since` in struct.ts. */
  readonly absent?: T;
  /**
   * The bytes of the shortest item of a list; from it follows the least length of a list in JSON.
   */
  readonly itemBytesMin?: number;
  /**
   * True if the value's JSON form is several members of the object around it, and not one: `toJson`
   * gives an object of members, `fromJson` takes the whole object and its path.
   */
  readonly flat?: boolean;
}

export type ValueOf<C> = C extends Codec<infer T> ? T : never;

/**
 * The one error of this layer. `why` is the machine-readable reason of rest.md#errors
 * (`error.path.missing`, `error.expected.jsnumber` …) or a text; `api` is set where the
 * catalogue has an entry of its own for this field (invalid address, negative amount …).
 */
export class CodecError extends ExpectedError {
  override name = 'CodecError';
  readonly path: string;
  readonly why: string;
  readonly api: Refusal | undefined;

  constructor(path: string, why: string, api?: Refusal) {
    super(`${path}: ${why}`);
    this.path = path;
    this.why = why;
    this.api = api;
  }
}

const SCRATCH_BYTES = 64 * 1024;

/** Appends to a growing buffer; `take` returns an exact copy and empties the writer. */
export class Writer {
  readonly scheme: ChainScheme;
  private buffer = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  private length = 0;

  constructor(scheme: ChainScheme) {
    this.scheme = scheme;
  }

  get position(): number {
    return this.length;
  }

  private room(count: number): number {
    const start = this.length;
    const end = start + count;
    if (end > this.buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(end, this.buffer.length * 2));
      this.buffer.copy(grown, 0, 0, start);
      this.buffer = grown;
    }
    this.length = end;
    return start;
  }

  u8(value: number): void {
    const at = this.room(1);
    this.buffer[at] = value;
  }
  u16(value: number): void {
    const at = this.room(2);
    this.buffer.writeUInt16BE(value, at);
  }
  u32(value: number): void {
    const at = this.room(4);
    this.buffer.writeUInt32BE(value, at);
  }
  i32(value: number): void {
    const at = this.room(4);
    this.buffer.writeInt32BE(value, at);
  }
  i64(value: bigint): void {
    const at = this.room(8);
    this.buffer.writeBigInt64BE(value, at);
  }
  /** A non-negative safe integer in eight bytes, without a conversion to bigint. */
  u53(value: number): void {
    const at = this.room(8);
    this.buffer.writeUInt32BE(Math.floor(value / 0x1_0000_0000), at);
    this.buffer.writeUInt32BE(value >>> 0, at + 4);
  }
  bytes(value: Uint8Array): void {
    const at = this.room(value.length);
    this.buffer.set(value, at);
  }
  /** Overwrites four bytes written before, for a length that was not known then. */
  patchI32(at: number, value: number): void {
    this.buffer.writeInt32BE(value, at);
  }

  /** Empties the writer; needed before it is used again after an error. */
  reset(): void {
    this.length = 0;
  }

  /** A copy of the bytes written; the writer is empty afterwards. */
  take(): Uint8Array {
    const out = new Uint8Array(this.length);
    out.set(this.buffer.subarray(0, this.length));
    this.length = 0;
    return out;
  }
}

/**
 * The same memory as a plain Uint8Array, whose `slice` copies. The `slice` of a Buffer, which files
 * and sockets give, does not copy: its result would change with the original.
 */
const plain = (bytes: Uint8Array): Uint8Array =>
  bytes.constructor === Uint8Array
    ? bytes
    : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Many values have empty parts, and each view is an object of a hundred bytes. */
const EMPTY = new Uint8Array(0);

/** Reads bytes without copying them. All methods throw CodecError at the end of input. */
export class Reader {
  readonly scheme: ChainScheme;
  readonly input: Uint8Array;
  /** Made on first use: many values consist of bytes and short integers only. */
  private view: DataView | undefined;
  private readonly end: number;
  position: number;

  constructor(input: Uint8Array, scheme: ChainScheme, start = 0, end = input.length) {
    this.input = plain(input);
    this.scheme = scheme;
    this.position = start;
    this.end = end;
  }

  get remaining(): number {
    return this.end - this.position;
  }

  private advance(count: number): number {
    // A length from outside is checked where it is read, against its own limit.
    assert(count >= 0, 'a reader moves forward');
    const at = this.position;
    if (count > this.end - at) throw new CodecError('bytes', 'unexpected end of data');
    this.position = at + count;
    return at;
  }

  private numbers(): DataView {
    const { input } = this;
    this.view ??= new DataView(input.buffer, input.byteOffset, input.byteLength);
    return this.view;
  }

  u8(): number {
    return this.input[this.advance(1)]!;
  }
  u16(): number {
    const at = this.advance(2);
    return (this.input[at]! << 8) | this.input[at + 1]!;
  }
  u32(): number {
    return this.i32() >>> 0;
  }
  i32(): number {
    const { input } = this;
    const at = this.advance(4);
    return (input[at]! << 24) | (input[at + 1]! << 16) | (input[at + 2]! << 8) | input[at + 3]!;
  }
  i64(): bigint {
    return this.numbers().getBigInt64(this.advance(8));
  }
  /** A non-negative integer below 2^53 in eight bytes. */
  u53(): number {
    const high = this.u32();
    if (high > 0x1f_ffff) throw new CodecError('bytes', 'integer out of range');
    return high * 0x1_0000_0000 + this.u32();
  }
  /** A view of the next `count` bytes. */
  bytes(count: number): Uint8Array {
    if (count === 0) return EMPTY;
    const at = this.advance(count);
    return this.input.subarray(at, at + count);
  }
  /** Bytes from `start` up to the present position, as a view; the input itself where it is all. */
  since(start: number): Uint8Array {
    const { input, position } = this;
    return start === 0 && position === input.length ? input : input.subarray(start, position);
  }
  /** Throws unless everything has been read: trailing bytes are an error. */
  finish(): void {
    if (this.position !== this.end) throw new CodecError('bytes', 'trailing bytes');
  }
}
