import t from 'tap';
import { verifyPoolLimits } from '../../../src/adapters/verify/signature-limits.ts';
import {
  checkOf,
  type Job,
  type QueuedSignature,
  SignatureQueue,
  VerifyQueueFullError,
} from '../../../src/adapters/verify/signature-queue.ts';
import type { SignatureCheck } from '../../../src/base/ports/verifier.ts';

const sizes = { publicKeySize: 32, signatureSize: 64 };

function check(name: string, messageBytes = 10): SignatureCheck {
  const message = new Uint8Array(messageBytes).fill(name.charCodeAt(0));
  return { publicKey: new Uint8Array(32), message, signature: new Uint8Array(64) };
}

function job(name: string, count: number, messageBytes = 10): Job & { failure: string } {
  return {
    items: Array.from({ length: count }, () => check(name, messageBytes)),
    settle: () => {},
    failure: '',
    fail(error) {
      this.failure = error.message;
    },
  };
}

/** One letter for each check of the batch. */
const names = (batch: readonly QueuedSignature[]): string =>
  batch.map((entry) => String.fromCharCode(checkOf(entry).message[0]!)).join('');

t.test('single checks and those of blocks share a batch', async (t) => {
  const queue = new SignatureQueue(sizes, 1000);
  for (let i = 0; i < 6; i++) queue.addSingle(job('s', 1));
  queue.addAll(job('a', 3));
  queue.addAll(job('b', 9));
  t.equal(names(queue.nextBatch(8)), 'ssssaaab');
  t.equal(names(queue.nextBatch(8)), 'ssbbbbbb', 'who has less leaves the rest to the others');
  t.equal(names(queue.nextBatch(8)), 'bb');
  t.equal(names(queue.nextBatch(8)), '');
  t.strictSame([queue.waiting, queue.pending], [0, 18]);
});

t.test('few single checks in a batch, even where nothing else waits', async (t) => {
  const queue = new SignatureQueue(sizes, 1000);
  for (let i = 0; i < 64; i++) queue.addSingle(job('s', 1));
  t.equal(queue.nextBatch(64).length, verifyPoolLimits.batchSingles);
});

t.test('a long message travels alone', async (t) => {
  const queue = new SignatureQueue(sizes, 1000);
  const long = 2 * verifyPoolLimits.batchBytes;
  queue.addSingle(job('s', 1));
  queue.addSingle(job('l', 1, long));
  queue.addAll(job('a', 1));
  queue.addAll(job('m', 1, long));
  const batches = Array.from({ length: 4 }, () => names(queue.nextBatch(64)));
  t.strictSame(batches, ['s', 'l', 'a', 'm']);
});

t.test('checks whose thread died come first, one at a time', async (t) => {
  const queue = new SignatureQueue(sizes, 1000);
  queue.addAll(job('a', 2));
  const lost = queue.nextBatch(64);
  queue.addSingle(job('s', 1));
  for (const entry of lost) entry.attempts += 1;
  queue.putBack(lost);
  const batches = Array.from({ length: 3 }, () => names(queue.nextBatch(64)));
  t.strictSame(batches, ['a', 'a', 's']);
});

t.test('bounded until there is a verdict', async (t) => {
  const queue = new SignatureQueue(sizes, 3);
  queue.addAll(job('a', 2));
  t.throws(() => queue.addAll(job('b', 2)), VerifyQueueFullError);
  queue.addSingle(job('s', 1));
  const batch = queue.nextBatch(64);
  t.throws(() => queue.addSingle(job('t', 1)), VerifyQueueFullError, 'in the hands of a thread');
  queue.release(batch[0]!);
  queue.addSingle(job('t', 1));
  t.strictSame([queue.pending, queue.waiting], [3, 1]);
});

t.test('what waits can fail; what a thread has is left alone', async (t) => {
  const queue = new SignatureQueue(sizes, 1000);
  const [single, half, whole] = [job('s', 1), job('a', 4), job('b', 2)];
  queue.addAll(half);
  t.equal(names(queue.nextBatch(3)), 'aaa');
  queue.addAll(whole);
  queue.addSingle(single);
  queue.failWaiting(new Error('over'));
  t.strictSame([single.failure, half.failure, whole.failure], ['over', 'over', 'over']);
  t.strictSame([queue.pending, queue.waiting], [3, 0]);
  t.equal(names(queue.nextBatch(64)), '');
});
