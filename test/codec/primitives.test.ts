/** Numbers and texts: exact in both directions, and refused with the reasons that clients know. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { AssertionError } from '../../src/base/assert.ts';
import { I64_MAX, I64_MIN } from '../../src/base/int.ts';
import { parse, stringify } from '../../src/base/json/json.ts';
import { type Codec, CodecError, Reader, Writer } from '../../src/codec/codec.ts';
import {
  bool,
  bytes,
  bytes16,
  i32,
  i64,
  L2_MAX,
  millis,
  text16,
  text32,
  u8,
  u16,
  u32,
} from '../../src/codec/primitives.ts';
import { base58, base64, hex } from '../../src/codec/text.ts';
import { prefixEnd } from '../../src/ledger/key-codecs.ts';
import { scheme } from '../generators/network.ts';

function encode<T>(codec: Codec<T>, value: T): Uint8Array {
  const out = new Writer(scheme);
  codec.write(out, value);
  return out.take();
}

function decode<T>(codec: Codec<T>, bytes: Uint8Array): T {
  const src = new Reader(bytes, scheme);
  const value = codec.read(src);
  src.finish();
  return value;
}

const throughJson = <T>(codec: Codec<T>, value: T): T =>
  codec.fromJson(parse(stringify(codec.toJson(value, scheme))), 'obj', scheme);

function why(attempt: () => unknown): string {
  try {
    attempt();
  } catch (cause) {
    if (cause instanceof CodecError) return cause.why;
    throw cause;
  }
  return 'no error';
}

/** Byte strings are the same whichever class they come as. */
const plain = (value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;

function bothWays<T>(codec: Codec<T>, values: fc.Arbitrary<T>): void {
  const same = (a: T, b: T): boolean => isDeepStrictEqual(plain(a), plain(b));
  fc.assert(
    fc.property(
      values,
      (value) =>
        same(decode(codec, encode(codec, value)), value) && same(throughJson(codec, value), value),
    ),
  );
}

t.test('integers', (t) => {
  bothWays(u8, fc.integer({ min: 0, max: 255 }));
  bothWays(u16, fc.integer({ min: 0, max: 65535 }));
  bothWays(i32, fc.integer());
  bothWays(u32, fc.integer({ min: 0, max: 2 ** 32 - 1 }));
  bothWays(i64, fc.bigInt(I64_MIN, I64_MAX));
  bothWays(millis, fc.maxSafeNat());
  t.same(encode(i64, -2n), Uint8Array.of(255, 255, 255, 255, 255, 255, 255, 254));
  t.same(encode(millis, 2 ** 32 + 1), Uint8Array.of(0, 0, 0, 1, 0, 0, 0, 1));
  t.end();
});

t.test('extremes of 64 bits survive the text of JSON', (t) => {
  for (const value of [I64_MIN, I64_MAX, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 0n]) {
    t.equal(stringify(i64.toJson(value, scheme)), value.toString());
    t.equal(throughJson(i64, value), value);
    t.equal(i64.fromJson(value.toString(), 'obj', scheme), value, 'as a string');
  }
  t.end();
});

t.test('what is no number', (t) => {
  const wrong = (codec: Codec<unknown>, json: unknown): string =>
    why(() => codec.fromJson(json, 'obj', scheme));
  for (const codec of [u8, i32, i64, millis]) {
    t.equal(wrong(codec as Codec<unknown>, undefined), 'error.path.missing');
    t.equal(wrong(codec as Codec<unknown>, null), 'error.path.missing');
    t.equal(wrong(codec as Codec<unknown>, 'x'), 'error.expected.jsnumber');
    t.equal(wrong(codec as Codec<unknown>, true), 'error.expected.jsnumber');
  }
  t.equal(wrong(u8 as Codec<unknown>, 256), 'error.expected.byte');
  t.equal(wrong(i32 as Codec<unknown>, 2 ** 31), 'error.expected.int');
  t.equal(wrong(i64, 1.5), 'error.expected.long');
  t.equal(wrong(i64, 1e300), 'error.expected.long');
  t.equal(wrong(i64, 2 ** 53), 'error.expected.long', 'the neighbour may have been written');
  t.equal(wrong(i64, -(2 ** 53)), 'error.expected.long');
  t.equal(wrong(i64, Number.NaN), 'error.expected.long');
  t.equal(wrong(i64, I64_MAX + 1n), 'error.expected.long');
  t.equal(wrong(i64, `${I64_MAX + 1n}`), 'error.expected.long');
  t.equal(wrong(i64, '9'.repeat(30)), 'error.expected.jsnumber');
  t.equal(wrong(millis as Codec<unknown>, -1), 'error.expected.timestamp');
  t.equal(
    why(() => decode(millis, new Uint8Array(8).fill(255))),
    'integer out of range',
  );
  t.equal(wrong(bool as Codec<unknown>, 1), 'error.expected.jsboolean');
  t.equal(
    why(() => decode(bool, Uint8Array.of(2))),
    '2 is not a boolean',
  );
  t.end();
});

t.test('texts', (t) => {
  bothWays(text16(), fc.string({ unit: 'binary', maxLength: 100 }));
  bothWays(text32(1000), fc.string({ unit: 'binary', maxLength: 100 }));
  t.equal(decode(text16(), encode(text16(), '\ufeffx')), '\ufeffx', 'a byte order mark stays');
  const wrong = (json: unknown): string => why(() => text16(4).fromJson(json, 'obj', scheme));
  t.equal(wrong('яяя'), 'longer than 4 bytes');
  t.equal(wrong('яя'), 'no error');
  t.equal(wrong('\ud800'), 'text is not valid Unicode');
  t.equal(wrong(5), 'error.expected.jsstring');
  t.equal(
    why(() => decode(text16(), Uint8Array.of(0, 1, 255))),
    'malformed UTF-8',
  );
  t.equal(
    why(() => decode(text16(), Uint8Array.of(0, 2, 0xc0, 0x80))),
    'malformed UTF-8',
  );
  t.equal(
    why(() => decode(text16(), Uint8Array.of(0x80, 0))),
    `length 32768 is over ${L2_MAX}`,
  );
  t.equal(
    why(() => decode(text32(9), Uint8Array.of(255, 255, 255, 255))),
    'length -1 is over 9',
  );
  t.end();
});

t.test('byte strings', (t) => {
  const some = fc.uint8Array({ maxLength: 60 });
  for (const form of [base58, base64, hex]) bothWays(bytes16(60, form), some);
  bothWays(bytes(5, base58), fc.uint8Array({ minLength: 5, maxLength: 5 }));
  t.equal(base64.encode(new Uint8Array(0)), 'base64:');
  t.same(base64.decode('YWxpY2U=', 5), base64.decode('base64:YWxpY2U=', 5));
  const wrong = (form: typeof base58, text: string): string =>
    why(() => bytes16(4, form).fromJson(text, 'obj', scheme));
  t.equal(wrong(base58, '1'.repeat(5)), 'longer than 4 bytes');
  t.equal(wrong(base58, 'z'.repeat(100_000)), 'longer than 4 bytes', 'without decoding it');
  t.equal(wrong(base64, 'A'.repeat(9)), 'longer than 4 bytes');
  t.equal(wrong(base64, 'AAA*'), 'Unable to decode base64');
  t.equal(wrong(hex, 'abc'), 'Unable to decode hexadecimal');
  t.match(wrong(base58, '0'), /Base58/);
  t.end();
});

t.test('what is read from a Buffer can be copied, and no key changes what it is made of', (t) => {
  const buffer = Buffer.from([1, 2, 3, 4]);
  const view = new Reader(buffer, scheme).bytes(4);
  const copy = view.slice();
  copy[0] = 9;
  t.strictSame([...buffer], [1, 2, 3, 4], 'slice has copied');
  t.strictSame([...prefixEnd(buffer)], [1, 2, 3, 5]);
  t.strictSame([...buffer], [1, 2, 3, 4], 'prefixEnd has copied');
  t.end();
});

t.test('a reader never moves back', (t) => {
  const src = new Reader(Uint8Array.of(1, 2, 3, 4), scheme);
  src.bytes(3);
  for (const count of [-1, -4, Number.NaN]) t.throws(() => src.bytes(count), AssertionError);
  t.equal(src.position, 3, 'it stays where it was');
  t.equal(
    why(() => src.bytes(2)),
    'unexpected end of data',
    'which is what input may lead to',
  );
  t.strictSame([...src.bytes(0), ...src.bytes(1)], [4]);
  t.end();
});
