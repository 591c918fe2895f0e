import t from 'tap';
import { latin1 } from '../../src/base/bytes.ts';
import { entryOf, type PoolEntry } from '../../src/mempool/entry.ts';
import { Entries } from '../../src/mempool/pool-entries.ts';
import { Senders } from '../../src/mempool/senders.ts';
import { NOTHING_SPENT } from '../../src/mempool/spending.ts';
import { ONE_GOOD } from '../../src/tx/proof-verdicts.ts';
import { payment, quiet, users } from '../chain/chain-harness.ts';

const [alice, bob] = users as [(typeof users)[0], (typeof users)[0]];
const BYTES = 256 * 1024;
const DECODED = 8;

t.test('a limited number of entries stays decoded, and none that has left', async (t) => {
  const funds = { availableBalance: () => 0n, assetBalance: () => 0n };
  const limits = { bytesMax: 1e9, senderEntriesMax: 100, nativeToken: 'WEST' };
  const entries = new Entries(new Senders(limits, funds), quiet);
  let count = 0n;
  const put = (): PoolEntry => {
    const tx = { ...payment(alice, bob, ++count, 1), bytes: new Uint8Array(BYTES) };
    const entry = entryOf(tx, latin1(tx.sender), ONE_GOOD, NOTHING_SPENT, false);
    entries.put(entry);
    return entry;
  };
  const all = Array.from({ length: DECODED + 2 }, put);
  const decoded = () => all.map(({ tx }) => tx !== undefined);
  t.same(decoded(), [...Array(DECODED).fill(true), false, false]);
  for (const entry of [all[9]!, all[3]!, all[0]!]) entries.remove(entry);
  t.notOk(all[3]!.tx);
  all.push(put(), put(), put());
  t.same(decoded().slice(-3), [true, true, false], 'their places are free again');
});
