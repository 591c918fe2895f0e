/**
 * Mines what it has acknowledged, empties the journal, and rolls back. It kills itself at a place in
 * between, or is killed. It prints the ids that it has acknowledged.
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { openJournal } from '../../src/adapters/journal.ts';
import { openLmdbStore } from '../../src/adapters/lmdb/store.ts';
import { systemClock } from '../../src/adapters/system.ts';
import { encodeHex } from '../../src/base/hex.ts';
import type { Journal } from '../../src/base/ports/journal.ts';
import type { Store } from '../../src/base/ports/store.ts';
import { tables } from '../../src/ledger/tables.ts';
import { mine, newChain, users } from '../chain/chain-harness.ts';
import { bulky } from './bulky-transactions.ts';
import { createTestPool, hearBlocks } from './pool-harness.ts';

const BLOCKS = 4;
const EACH = 6;
const [folder, place] = process.argv.slice(2) as [string, string];

let isRollingBack = false;
function dieAt(here: string): void {
  if (isRollingBack && here === place) process.kill(process.pid, 'SIGKILL');
}

const disk = openJournal({ path: join(folder, 'journal') });
const journal: Journal = {
  recovered: disk.recovered,
  append: (record) =>
    disk.append(record).then(() => {
      dieAt('first portion');
    }),
  rewrite: (records) => disk.rewrite(records),
  close: () => disk.close(),
};
const lmdb = await openLmdbStore({ folder: join(folder, 'chain'), tables });
const store: Store = {
  ...lmdb,
  async write(writes, landed) {
    dieAt('before the commit');
    await lmdb.write(writes, landed);
    dieAt('after the commit');
  },
};
const at = await newChain(store);
const clock = { ...systemClock(), now: () => at.clock.time };
const pool = createTestPool(at, { journal, clock }, { bytesMax: 100_000_000 });
hearBlocks(at, () => pool);
for (let block = 0; block < BLOCKS; block++) {
  const txs = Array.from({ length: EACH }, () => bulky(users[0], at.clock.time));
  for (const tx of txs) writeSync(1, `${encodeHex((await pool.submit(tx)).id)}\n`);
  await mine(at, txs);
}
// As after a while: what is mined is no longer in the journal.
await journal.rewrite([]);
writeSync(1, 'mined\n');
isRollingBack = true;
// In one step, or, where the kill comes from outside, in several.
const step = place === 'at random' ? 1 : BLOCKS;
for (let height = BLOCKS + 1 - step; height >= 1; height -= step) {
  await at.blockchain.rollback(height);
}
writeSync(1, 'rolled back\n');
setInterval(() => undefined, 1_000);
