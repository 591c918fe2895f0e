// The journal is rewritten once more bytes have left the pool than are still in it.
import t from 'tap';
import type { PoolEntry } from '../../../src/mempool/entries/entry.ts';
import type { Entries, PoolListener } from '../../../src/mempool/entries/pool-entries.ts';
import { watchJournalSize } from '../../../src/mempool/journal/journal-size.ts';
import { quiet } from '../../chain/chain-harness.ts';
import { memoryJournal } from '../pool-harness.ts';

const MIB = 1024 * 1024;
const BESIDE = { older: () => [], underWay: () => [], order: () => [] };

t.test('a rewrite that has failed is tried again, and one that was made is not', async (t) => {
  let listener: PoolListener = {};
  const entries = {
    bytes: 0,
    inOrder: () => [],
    listen(one: PoolListener) {
      listener = one;
      return () => true;
    },
  } as unknown as Entries;
  let rewrites = 0;
  let isBroken = true;
  const journal = {
    ...memoryJournal(),
    async rewrite() {
      rewrites += 1;
      if (isBroken) throw new Error('no space left on device');
    },
  };
  const size = watchJournalSize(journal, entries, BESIDE, quiet);
  listener.removed?.({ size: 9 * MIB } as PoolEntry);
  await size.trim();
  t.equal(rewrites, 1);
  isBroken = false;
  await size.trim();
  t.equal(rewrites, 2, 'the next block tries again');
  await size.trim();
  t.equal(rewrites, 2, 'nothing has left since');
});
