import { join } from 'node:path';
import t from 'tap';
import { verifyPoolLimits } from '../../../src/adapters/verify/signature-limits.ts';
import {
  VerifyPool,
  VerifyPoolClosedError,
  VerifyThreadError,
} from '../../../src/adapters/verify/signature-pool.ts';
import { VerifyQueueFullError } from '../../../src/adapters/verify/signature-queue.ts';
import { createVerifyThreads } from '../../../src/adapters/verify/signature-threads.ts';
import { utf8 } from '../../../src/base/bytes.ts';
import type { SignatureCheck } from '../../../src/base/ports/verifier.ts';
import { createCurve25519 } from '../../../src/crypto/curve25519/curve25519-family.ts';
import { seededRandom } from '../../crypto/random.ts';
import { inlineVerifier } from '../../simulated/inline-verifier.ts';

const family = createCurve25519();
const random = seededRandom('pool');
const signers = Array.from({ length: 20 }, () => family.generateKeyPair(random));

/** Every third one is wrong: another key, a changed message, a short signature. */
const checks: readonly SignatureCheck[] = Array.from({ length: 300 }, (_, i) => {
  const { privateKey, publicKey } = signers[i % signers.length]!;
  const message = random.bytes((i * 7) % 500);
  const signature = family.sign(privateKey, message, random);
  if (i % 9 === 0) return { publicKey: signers[(i + 1) % 20]!.publicKey, message, signature };
  if (i % 9 === 3) return { publicKey, message: Uint8Array.of(...message, 1), signature };
  if (i % 9 === 6) return { publicKey, message, signature: signature.subarray(0, 63) };
  return { publicKey, message, signature };
});
const expected = checks.map((_, i) => i % 3 !== 0);

const good = checks[1]!;
const saying = (order: string): SignatureCheck => ({ ...good, message: utf8(order) });
const sizes = { family: 'curve25519', publicKeySize: 32, signatureSize: 64 };
const mortal = { ...sizes, threads: 1, workerUrl: new URL('./mortal-worker.ts', import.meta.url) };

t.test('inline and in threads: the same answers', async (t) => {
  const pool = createVerifyThreads(family, { threads: 2 });
  t.teardown(() => pool.close());
  for (const verifier of [inlineVerifier(family), pool]) {
    t.strictSame(await verifier.verify(checks), expected);
    t.strictSame(await Promise.all(checks.map((check) => one(verifier, check))), expected);
    t.strictSame(await verifier.verify([]), []);
    t.strictSame(await verifier.verify([{ ...good, publicKey: new Uint8Array(3) }]), [false]);
  }
  t.equal(pool.pending, 0);
});

t.test('many callers at once, single checks among large batches', async (t) => {
  const pool = createVerifyThreads(family, { threads: 2 });
  t.teardown(() => pool.close());
  const many = Array.from({ length: 6 }, (_, i) => checks.slice(i * 10));
  const [batches, singles] = await Promise.all([
    Promise.all(many.map((items) => pool.verify(items))),
    Promise.all(checks.map((check) => one(pool, check))),
  ]);
  t.strictSame(
    batches,
    many.map((_, i) => expected.slice(i * 10)),
  );
  t.strictSame(singles, expected);
  t.equal(pool.pending, 0);
});

t.test('verdicts on single checks come a few in a turn', async (t) => {
  const pool = createVerifyThreads(family, { threads: 1 });
  t.teardown(() => pool.close());
  let inTurn = 0;
  let most = 0;
  const verdicts = await Promise.all(
    checks.map(async (check) => {
      const verdict = await one(pool, check);
      if (++inTurn === 1) {
        setImmediate(() => {
          inTurn = 0;
        });
      }
      most = Math.max(most, inTurn);
      return verdict;
    }),
  );
  t.strictSame(verdicts, expected);
  // Those of wrong size have their verdict at once, the others wait for the thread.
  const atOnce = checks.filter(({ signature }) => signature.length !== 64).length;
  const { batchSingles, batchesPerThread } = verifyPoolLimits;
  t.ok(most <= Math.max(atOnce, batchSingles * batchesPerThread), `${most} in a turn`);
});

t.test('messages longer than a batch', async (t) => {
  const pool = createVerifyThreads(family, { threads: 2 });
  t.teardown(() => pool.close());
  const { privateKey, publicKey } = signers[0]!;
  const long = [65_000, 66_000, 500_000, 3_000_000].map((size) => {
    const message = new Uint8Array(size).fill(7);
    return { publicKey, message, signature: family.sign(privateKey, message, random) };
  });
  t.strictSame(await pool.verify([...long, good]), [true, true, true, true, true]);
  t.strictSame(await Promise.all(long.map((check) => one(pool, check))), [true, true, true, true]);
});

t.test('refuses what is too much, and recovers', async (t) => {
  const pool = new VerifyPool({ ...mortal, checksMax: 10 });
  t.teardown(() => pool.close());
  const many = await pool.verify(Array(11).fill(good));
  t.strictSame(many, Array(11).fill(true), 'of one block, where nothing else waits');
  const first = pool.verify(Array(10).fill(good));
  await t.rejects(one(pool, good), VerifyQueueFullError);
  t.equal(pool.pending, 10);
  t.strictSame(await first, Array(10).fill(true));
  t.equal(await one(pool, good), true);
  t.equal(pool.pending, 0);
});

t.test('closing ends what waits and what is under way', async (t) => {
  const pool = createVerifyThreads(family, { threads: 1 });
  const under = [pool.verify(checks), one(pool, good)];
  const failures = Promise.allSettled(under);
  await pool.close();
  for (const result of await failures) {
    t.equal(result.status, 'rejected');
    t.ok(result.status === 'rejected' && result.reason instanceof VerifyPoolClosedError);
  }
  await t.rejects(one(pool, good), VerifyPoolClosedError);
  await t.rejects(pool.verify(checks), VerifyPoolClosedError);
  await pool.close();
});

t.test('closing while batches are in the threads', async (t) => {
  const pool = createVerifyThreads(family, { threads: 2 });
  t.equal(await one(pool, good), true);
  const under = pool.verify(checks).then(
    () => 'verdicts',
    (error: Error) => error.name,
  );
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  await pool.close();
  t.equal(await under, 'VerifyPoolClosedError');
});

t.test('a thread that dies takes no verdict with it', async (t) => {
  for (const threads of [1, 2]) {
    const pool = new VerifyPool({ ...mortal, threads });
    t.teardown(() => pool.close());
    const folder = t.testdir();
    const items = Array.from({ length: 200 }, (_, i) =>
      i % 50 === 20 ? saying(`once ${join(folder, `${threads}-${i}`)}`) : good,
    );
    t.strictSame(await pool.verify(items), Array(200).fill(true));
    t.equal(pool.pending, 0);
  }
});

t.test('a check that kills every thread fails alone', async (t) => {
  for (const order of ['exit', 'throw']) {
    const deaths: unknown[] = [];
    const log = {
      ...silent,
      error: (event: string, fields?: object) => deaths.push([event, fields]),
    };
    const pool = new VerifyPool({ ...mortal, log });
    t.teardown(() => pool.close());
    const others = Array.from({ length: 20 }, () => one(pool, good));
    const bad = one(pool, saying(order));
    const more = Array.from({ length: 20 }, () => one(pool, good));
    await t.rejects(bad, VerifyThreadError);
    t.ok((await Promise.all([...others, ...more])).every((valid) => valid));
    t.equal(deaths.length, verifyPoolLimits.attempts);
    t.equal(pool.pending, 0);
    t.equal(await one(pool, good), true);
  }
});

t.test('threads that cannot even start: an error, not an endless loop', async (t) => {
  const pool = new VerifyPool({ ...mortal, workerUrl: new URL('./absent.ts', import.meta.url) });
  t.teardown(() => pool.close());
  const results = await Promise.allSettled(Array.from({ length: 100 }, () => one(pool, good)));
  t.ok(results.every((result) => result.status === 'rejected'));
  t.equal(pool.pending, 0);
});

const silent = { debug() {}, info() {}, warn() {}, error() {} };

function one(
  verifier: { verifyOne: ReturnType<typeof inlineVerifier>['verifyOne'] },
  { publicKey, message, signature }: SignatureCheck,
): Promise<boolean> {
  return verifier.verifyOne(publicKey, message, signature);
}
