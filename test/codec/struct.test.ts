/** Codecs made of codecs: paths of errors, canonical flags, limits, and no reading beyond them. */
import t from 'tap';
import { apiError } from '../../src/base/errors.ts';
import { type Codec, CodecError, Reader, Writer } from '../../src/codec/codec.ts';
import { check, i64, text16, u8 } from '../../src/codec/primitives.ts';
import { malformed, refusalOf, refusalOfAll } from '../../src/codec/refusal.ts';
import { list16, list32, option, since, struct, withDefault } from '../../src/codec/struct.ts';
import { scheme } from '../generators/network.ts';

const small = check(u8, (value) => (value > 9 ? apiError('Invalid', `${value} > 9`) : undefined));
const item = struct({ name: text16(), amount: option(small) });
const items = list16(item, 3);

function attempt(codec: Codec<unknown>, json: unknown): CodecError | undefined {
  try {
    codec.fromJson(json, 'obj', scheme);
    return undefined;
  } catch (cause) {
    return cause as CodecError;
  }
}

function thrown(action: () => unknown): CodecError {
  try {
    action();
  } catch (cause) {
    if (cause instanceof CodecError) return cause;
    throw cause;
  }
  throw new Error('nothing was thrown');
}

const read = <T>(codec: Codec<T>, ...bytes: number[]): T =>
  codec.read(new Reader(Uint8Array.from(bytes), scheme));

t.test('errors name their place', (t) => {
  const path = (json: unknown): string | undefined => attempt(items as Codec<unknown>, json)?.path;
  t.equal(path([{ name: 'a' }, { name: 5 }]), 'obj[1].name');
  t.equal(path([{ name: 'a', amount: 10 }]), 'obj[0].amount');
  t.equal(path([7]), 'obj[0]');
  t.equal(path({}), 'obj');
  t.equal(path([{ name: 'a', amount: null }]), undefined);
  t.equal(attempt(items as Codec<unknown>, [1, 2, 3, 4])?.api?.code, 10);
  t.end();
});

t.test('one rule for bytes and JSON', (t) => {
  t.equal(thrown(() => read(small, 10)).api?.code, 199);
  t.equal(read(small, 9), 9);
  t.equal(attempt(small as Codec<unknown>, 10)?.api?.code, 199);
  t.end();
});

t.test('flags and counts', (t) => {
  t.equal(read(option(u8), 0), undefined);
  t.equal(read(option(u8), 1, 7), 7);
  t.throws(() => read(option(u8), 2, 7), CodecError);
  t.throws(() => read(list32(u8, 5), 255, 255, 255, 255), CodecError);
  t.throws(() => read(list32(u8, 2 ** 31 - 1), 127, 255, 255, 255, 1), CodecError);
  t.throws(() => read(items, 0, 4), CodecError);
  t.end();
});

t.test('what may be left out', (t) => {
  t.equal(withDefault(u8, 3).fromJson(undefined, 'obj', scheme), 3);
  t.equal(withDefault(u8, 3).fromJson(4, 'obj', scheme), 4);
  t.equal(since(u8, 1).absent, 1);
  t.ok('absent' in since(u8));
  t.same(item.schema['required'], ['name']);
  t.end();
});

t.test('a reader ends where it was told to', (t) => {
  const bytes = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
  const src = new Reader(bytes, scheme, 2, 6);
  t.equal(src.remaining, 4);
  t.equal(thrown(() => src.i64()).why, 'unexpected end of data');
  t.equal(src.position, 2, 'a failed read moves nothing');
  t.same(src.bytes(3), Uint8Array.of(3, 4, 5));
  t.equal(thrown(() => src.finish()).why, 'trailing bytes');
  t.equal(src.u8(), 6);
  src.finish();
  t.throws(() => src.u8(), CodecError);
  t.end();
});

t.test('a writer grows and is used again', (t) => {
  const out = new Writer(scheme);
  const long = new Uint8Array(200_000).fill(7);
  out.bytes(long);
  out.u8(1);
  t.equal(out.take().length, 200_001);
  t.equal(out.position, 0);
  out.i32(0);
  i64.write(out, 1n);
  out.patchI32(0, 8);
  t.same(out.take(), Uint8Array.of(0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1));
  out.u8(1);
  out.reset();
  t.equal(out.take().length, 0);
  t.end();
});

t.test('refusals', (t) => {
  const shape = new CodecError('obj.a', 'error.path.missing');
  const rule = new CodecError('obj.b', 'x', apiError('InvalidName'));
  t.equal(refusalOf(rule).code, 116);
  t.equal(refusalOf(shape).code, 1);
  t.equal(refusalOfAll([rule, shape]).code, 1, 'shapes come first');
  t.equal(refusalOfAll([rule]).code, 116);
  t.same(malformed([shape]).body, {
    error: 1,
    message: 'failed to parse json message',
    cause: null,
    validationErrors: { 'obj.a': [{ msg: ['error.path.missing'], args: [] }] },
  });
  t.end();
});
