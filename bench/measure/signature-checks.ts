/**
 * `node bench/measure/signature-checks.ts`: processor time of a signature check, by libsodium alone, and
 * with tables of the keys (crypto/curve25519/verification.ts), one by one and 64 together. Keys that
 * are converted already sign 200 bytes each.
 */
import type { SignatureCheck } from '../../src/base/ports/verifier.ts';
import { createCurve25519 } from '../../src/crypto/curve25519/curve25519-family.ts';
import type { CryptoFamily } from '../../src/crypto/family.ts';
import { seededRandom } from '../../test/crypto/random.ts';

const CHECKS = 1024;
const TOGETHER = 64;
const WARM_UP_ROUNDS = 30;
const ROUNDS = 5;

const family = createCurve25519();
const random = seededRandom('signature checks');

/** µs of one check. */
function costOf(run: () => void): number {
  run();
  const { user, system } = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round++) run();
  const after = process.cpuUsage();
  return (after.user + after.system - user - system) / (ROUNDS * CHECKS);
}

function checksOf(keys: number): readonly SignatureCheck[] {
  const pairs = Array.from({ length: keys }, () => family.generateKeyPair(random));
  return Array.from({ length: CHECKS }, (_, i) => {
    const { publicKey, privateKey } = pairs[i % keys]!;
    const message = random.bytes(200);
    return { publicKey, message, signature: family.sign(privateKey, message, random) };
  });
}

const oneByOne =
  ({ verify }: Pick<CryptoFamily, 'verify'>, checks: readonly SignatureCheck[]) =>
  (): void => {
    for (const { publicKey, message, signature } of checks) verify(publicKey, message, signature);
  };

/** A cache of one key has no tables. */
const libsodium = (): number => costOf(oneByOne(createCurve25519({ cachedKeys: 1 }), checksOf(1)));

function byTables(keys: number): { readonly alone: number; readonly together: number } {
  const checks = checksOf(keys);
  const together = (): void => {
    for (let i = 0; i < CHECKS; i += TOGETHER) family.verifyAll(checks.slice(i, i + TOGETHER));
  };
  for (let round = 0; round < WARM_UP_ROUNDS; round++) together();
  return { alone: costOf(oneByOne(family, checks)), together: costOf(together) };
}

const plain = libsodium();
const show = (us: number): string => `${us.toFixed(1)} µs (${(us / plain).toFixed(2)})`;
console.log(`libsodium: ${show(plain)}`);
for (const keys of [1, 64, 512]) {
  const { alone, together } = byTables(keys);
  console.log(`${keys} keys: alone ${show(alone)}, together ${show(together)}`);
}
