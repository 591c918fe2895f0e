// Reasons are kept for long, and a contract words them.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { fromLatin1 } from '../../../src/base/bytes.ts';
import { apiError } from '../../../src/base/errors.ts';
import { Evictions, REFUSALS_MAX } from '../../../src/mempool/admission/evictions.ts';
import type { PoolEntry } from '../../../src/mempool/entries/entry.ts';
import type { Entries } from '../../../src/mempool/entries/pool-entries.ts';
import type { ReorgCandidates } from '../../../src/mempool/reorg/reorg-candidates.ts';
import { quiet } from '../../chain/chain-harness.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

t.test('of a long reason a part is kept, and no memory of the rest', async (t) => {
  const entries = { remove: () => undefined } as unknown as Entries;
  const candidates = { retain: () => false } as unknown as ReorgCandidates;
  const evictions = new Evictions(entries, candidates, quiet);
  const keyOf = (i: number): string => String(i).padStart(32, '0');
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 40; i++) {
    const message = Buffer.alloc(2 ** 22, `reason ${i} `).toString('latin1');
    evictions.drop({ key: keyOf(i) } as PoolEntry, apiError('Invalid', message));
  }
  collectGarbage();
  const grown = process.memoryUsage().heapUsed - before;
  t.ok(grown < 2 ** 25, `${grown} bytes for 40 reasons of 4 MiB`);
  const reason = evictions.reasonOf(fromLatin1(keyOf(39)));
  t.equal(reason?.length, 1_000);
  t.match(reason, /^reason 39 reason 39 /);
});

t.test('an entry in doubt leaves once it was dropped on several heads', async (t) => {
  const removed: PoolEntry[] = [];
  const entries = { remove: (entry: PoolEntry) => void removed.push(entry) } as unknown as Entries;
  const candidates = { retain: () => true } as unknown as ReorgCandidates;
  const evictions = new Evictions(entries, candidates, quiet);
  const key = 'k'.repeat(32);
  const entry = { key } as PoolEntry;
  for (let head = 1; head < REFUSALS_MAX; head++) {
    for (let i = 0; i < REFUSALS_MAX; i++) evictions.drop(entry, apiError('Invalid', 'refused'));
    t.same(removed, [], `${head} heads, on each several times`);
    evictions.nextHead();
  }
  evictions.drop({ key: 'o'.repeat(32) } as PoolEntry, apiError('Invalid', 'refused'));
  t.same(removed, [], 'each entry has its own count');
  evictions.drop(entry, apiError('Invalid', 'refused'));
  t.strictSame(removed, [entry]);
  t.equal(evictions.reasonOf(fromLatin1(key)), 'refused');
});
