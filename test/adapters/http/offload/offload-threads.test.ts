/** How bodies are divided among the threads that read them. */
import { availableParallelism } from 'node:os';
import t from 'tap';
import type { OffloadResult } from '../../../../src/adapters/http/offload/offload-messages.ts';
import { OffloadThreads } from '../../../../src/adapters/http/offload/offload-threads.ts';
import type { Scope } from '../../../system/e2e/process.ts';
import { eventually } from '../raw-socket.ts';

const THREADS = Math.min(2, availableParallelism());

function startedThreads(t: Scope): OffloadThreads {
  const threads = new OffloadThreads({
    workerUrl: new URL('offload-worker.ts', import.meta.url),
    workerData: undefined,
    threadsMax: THREADS,
    onDeath: () => undefined,
  });
  t.teardown(() => threads.end());
  return threads;
}

function started(t: Scope) {
  const threads = startedThreads(t);
  /** How many bodies came to one thread together, in the order of their arrival. */
  return async (count: number, body = 'batch'): Promise<number[]> => {
    const bodies = Array.from({ length: count }, () => threads.run(Buffer.from(body)));
    const sizes = new Map<string, number>();
    for (const result of await Promise.all(bodies)) {
      const batch = textOf(result);
      sizes.set(batch, (sizes.get(batch) ?? 0) + 1);
    }
    return [...sizes.values()];
  };
}

const textOf = (result: OffloadResult): string => ('reply' in result ? `${result.reply.body}` : '');

t.test('each idle thread gets its share, and what waits travels together', async (t) => {
  const batchesOf = started(t);
  const shares = Array.from({ length: THREADS }, () => 8);
  t.ok(
    await eventually(async () => `${await batchesOf(8 * THREADS + 100)}`.startsWith(`${shares}`)),
  );
  t.strictSame(await batchesOf(3), [3]);
  t.strictSame(await batchesOf(8 * THREADS), shares);
  t.strictSame(await batchesOf(8 * THREADS + 100), [...shares, 64, 36]);
});

t.test('long bodies make smaller batches', async (t) => {
  const batchesOf = started(t);
  const long = 'batch'.padEnd(10_000);
  await batchesOf(1);
  for (const size of await batchesOf(100, long)) t.ok(size <= 3, `${size} of 10,000 bytes`);
  t.strictSame(await batchesOf(2, 'batch'.padEnd(100_000)), [1, 1], 'longer than a batch');
});

t.test('other work comes between the results of a batch', async (t) => {
  const threads = startedThreads(t);
  await threads.run(Buffer.from('batch'));
  let turn = 0;
  const next = (): void => {
    turn++;
    counting = setImmediate(next);
  };
  let counting = setImmediate(next);
  const turns = new Map<string, number[]>();
  const bodies = Array.from({ length: 72 }, async () => {
    const batch = textOf(await threads.run(Buffer.from('batch')));
    turns.set(batch, [...(turns.get(batch) ?? []), turn]);
  });
  await Promise.all(bodies);
  clearImmediate(counting);
  const largest = [...turns.values()].sort((a, b) => b.length - a.length)[0]!;
  t.equal(largest.length, 64);
  t.ok(new Set(largest).size >= 8, `${largest}`);
});
