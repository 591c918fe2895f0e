// Keys of key files: two libraries derive the same ones.
import { scryptSync } from 'node:crypto';
import t from 'tap';
import { equal } from '../../src/base/bytes.ts';
import { deriveKey, type ScryptCost } from '../../src/crypto/keystore-cipher.ts';

const salt = (bytes: number): Uint8Array => Uint8Array.from({ length: bytes }, (_, i) => i * 7);

const cost = (N: number, r = 8, p = 1): ScryptCost => ({ N, r, p });

// libsodium derives those from N = 1024 on with r = 8 and p = 1, OpenSSL the others.
const costs = [
  ...[2, 4, 9, 10, 11, 12, 14, 17].map((log) => cost(2 ** log)),
  ...[cost(2 ** 12, 4), cost(2 ** 12, 16), cost(2 ** 12, 8, 2), cost(2 ** 10, 1, 16)],
];

for (const one of costs) {
  t.test(`N = ${one.N}, r = ${one.r}, p = ${one.p}`, async (t) => {
    for (const [password, salted] of [
      ['wallet password', salt(32)],
      ['', salt(32)],
      ['\u00e9', salt(16)],
      ['x'.repeat(1000), salt(32)],
    ] as const) {
      const expected = scryptSync(password, salted, 32, { ...one, maxmem: 2 ** 28 });
      t.ok(
        equal(await deriveKey(password, salted, one), expected),
        `${password.length} characters`,
      );
    }
  });
}

t.test('composed and decomposed characters are one password', async (t) => {
  const both = ['\u00e9', 'e\u0301'].map((text) => deriveKey(text, salt(32), cost(2 ** 12)));
  const [composed, decomposed] = await Promise.all(both);
  t.strictSame(decomposed, composed);
});
