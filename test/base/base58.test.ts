import independent from 'bs58';
import fc from 'fast-check';
import t from 'tap';
import { Base58Error, base58 } from '../../src/base/base58.ts';
import { equal } from '../../src/base/bytes.ts';

/** Bytes with runs of zeros and ones, where carries and leading digits go wrong. */
const bytes = (maxLength: number) =>
  fc
    .array(fc.oneof({ weight: 3, arbitrary: fc.nat(255) }, fc.constantFrom(0, 255)), { maxLength })
    .chain((body) => fc.nat(8).map((zeros) => Uint8Array.from([...Array(zeros).fill(0), ...body])));

t.test('agrees with an independent implementation', async () => {
  const agree = (value: Uint8Array) => {
    const text = base58.encode(value);
    return text === independent.encode(value) && equal(base58.decode(text), value);
  };
  fc.assert(fc.property(bytes(90), agree), { numRuns: 2000 });
  fc.assert(fc.property(bytes(700), agree), { numRuns: 100 });
});

t.test('extreme values of every size around the change of method', async (t) => {
  for (let size = 0; size < 300; size++) {
    for (const fill of [0, 1, 255]) {
      const value = new Uint8Array(size).fill(fill);
      const text = base58.encode(value);
      if (text !== independent.encode(value)) t.fail(`encode ${size} x ${fill}`);
      if (!equal(base58.decode(text), value)) t.fail(`decode ${size} x ${fill}`);
    }
  }
});

t.test('results are memory of their own', async (t) => {
  const first = base58.decode('2VfUX');
  base58.decode('zzzzz');
  t.equal(base58.encode(first), '2VfUX');
  t.equal(first.constructor, Uint8Array);
  t.equal(first.byteLength, first.buffer.byteLength);
});

t.test('refuses foreign characters wherever they stand', async (t) => {
  for (const bad of ['0', 'O', 'I', 'l', ' ', '+', '\n', 'é', '€', '\ud83d\ude00', '\0', '\x7f']) {
    for (const text of [
      bad,
      `${bad}abc`,
      `abc${bad}`,
      `abcdefg${bad}hij`,
      `${'a'.repeat(300)}${bad}`,
    ]) {
      t.throws(() => base58.decode(text), Base58Error, JSON.stringify(text));
    }
  }
  t.throws(() => base58.decode('ab0'), { message: "Wrong char '0' in Base58 string" });
});

t.test('refuses long texts before it works on them', async (t) => {
  t.throws(() => base58.decode('z'.repeat(1025)), Base58Error);
  t.throws(() => base58.decode('z'.repeat(37), 36), {
    message: 'Base58 string is too long: max=36, actual: 37',
  });
  t.equal(base58.decode('z'.repeat(2000), 2000).length, 1465);
});
