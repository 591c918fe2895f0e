import fc from 'fast-check';
import t from 'tap';
import {
  compare,
  concat,
  equal,
  fromLatin1,
  fromUtf8,
  latin1,
  utf8,
} from '../../src/base/bytes.ts';
import { decodeHex, encodeHex, HexError } from '../../src/base/hex.ts';

const bytes = fc.uint8Array({ maxLength: 200 });

t.test('equal and compare agree with Buffer', async () => {
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      return (
        equal(a, b) === (Buffer.compare(a, b) === 0) &&
        equal(a, a.slice()) &&
        Math.sign(compare(a, b)) === Buffer.compare(a, b)
      );
    }),
  );
});

t.test('equal sees every byte, short and long', async (t) => {
  for (const size of [1, 32, 96, 97, 300]) {
    for (let i = 0; i < size; i++) {
      const changed = new Uint8Array(size);
      changed[i] = 1;
      if (equal(changed, new Uint8Array(size))) t.fail(`byte ${i} of ${size}`);
    }
  }
});

t.test('concat copies', async (t) => {
  const a = Uint8Array.of(1, 2);
  const joined = concat(a, new Uint8Array(0), Uint8Array.of(3));
  a[0] = 9;
  t.strictSame([...joined], [1, 2, 3]);
  t.equal(joined.constructor, Uint8Array);
});

t.test('latin1 is a bijection, also for a part of a larger memory', async () => {
  fc.assert(
    fc.property(bytes, fc.nat(50), (all, start) => {
      const part = all.subarray(start);
      return equal(fromLatin1(latin1(part)), part) && latin1(part).length === part.length;
    }),
  );
});

t.test('utf8', async (t) => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => fromUtf8(utf8(text)) === text));
  t.equal(fromUtf8(Uint8Array.of(0xc3)), undefined, 'cut off');
  t.equal(fromUtf8(Uint8Array.of(0xed, 0xa0, 0x80)), undefined, 'a surrogate');
  t.equal(fromUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x41)), '\ufeffA', 'the mark stays');
  t.equal(fromUtf8(new Uint8Array(0)), '');
});

t.test('hex', async (t) => {
  fc.assert(fc.property(bytes, (all) => equal(decodeHex(encodeHex(all)), all)));
  t.strictSame(decodeHex('aBCd'), Uint8Array.of(0xab, 0xcd));
  for (const bad of ['a', '0x12', 'zz', '12 4']) t.throws(() => decodeHex(bad), HexError);
});
