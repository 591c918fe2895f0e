// A thread of connections has a processor of its own; what it starts may use all of them.
import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import t from 'tap';

const processors = availableParallelism();

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['-pc', String(process.pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A quota leaves fewer than the mask allows. */
const isBound = (): boolean =>
  execFileSync('nproc', { encoding: 'utf8' }).trim() !== String(processors);

const skip = process.platform !== 'linux' || processors < 2 || !hasTaskset() || isBound();

interface Seen {
  readonly own: string;
  readonly inherited: string;
  readonly later: string;
}

function seenBy(place: { readonly index: number; readonly threads: number }): Promise<Seen> {
  const worker = new Worker(new URL('fixtures/processors-worker.ts', import.meta.url), {
    workerData: place,
    // As the threads of the node.
    env: {},
  });
  return new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
}

t.test('as many threads as processors', { skip }, async (t) => {
  const all = await seenBy({ index: 0, threads: 1 });
  const places = Array.from({ length: processors }, (_, index) => index);
  const seen = await Promise.all(places.map((index) => seenBy({ index, threads: processors })));
  t.equal(new Set(seen.map(({ own }) => own)).size, processors, 'each has its own');
  for (const { own, inherited, later } of seen) {
    t.match(own, /^\d+$/);
    t.equal(inherited, own, 'a thread that it starts begins there');
    t.equal(later, all.own, 'and may use all');
  }
});

t.test('one thread, or more than processors', { skip }, async (t) => {
  const alone = await seenBy({ index: 0, threads: 1 });
  t.notMatch(alone.own, /^\d+$/, 'the kernel places it');
  t.equal((await seenBy({ index: 0, threads: processors + 1 })).own, alone.own);
});
