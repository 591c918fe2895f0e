// Reasons are kept for long, and a contract words them.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { fromLatin1 } from '../../src/base/bytes.ts';
import { apiError } from '../../src/base/errors.ts';
import { Departures } from '../../src/mempool/departures.ts';
import type { PoolEntry } from '../../src/mempool/entry.ts';
import type { Entries } from '../../src/mempool/pool-entries.ts';
import type { Unsettled } from '../../src/mempool/unsettled.ts';
import { quiet } from '../chain/chain-harness.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

t.test('of a long reason a part is kept, and no memory of the rest', async (t) => {
  const entries = { remove: () => undefined } as unknown as Entries;
  const unsettled = { retain: () => false } as unknown as Unsettled;
  const departures = new Departures(entries, unsettled, quiet);
  const keyOf = (i: number): string => String(i).padStart(32, '0');
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 40; i++) {
    const message = Buffer.alloc(2 ** 22, `reason ${i} `).toString('latin1');
    departures.drop({ key: keyOf(i) } as PoolEntry, apiError('Invalid', message));
  }
  collectGarbage();
  const grown = process.memoryUsage().heapUsed - before;
  t.ok(grown < 2 ** 25, `${grown} bytes for 40 reasons of 4 MiB`);
  const reason = departures.reasonOf(fromLatin1(keyOf(39)));
  t.equal(reason?.length, 1_000);
  t.match(reason, /^reason 39 reason 39 /);
});
