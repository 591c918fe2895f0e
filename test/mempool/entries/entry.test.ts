import t from 'tap';
import { PoolEntry } from '../../../src/mempool/entries/entry.ts';
import { Senders } from '../../../src/mempool/entries/senders.ts';
import { NOTHING_SPENT } from '../../../src/mempool/entries/spending.ts';
import { unchecked } from '../../../src/tx/proof-verdicts.ts';
import type { Tx, TxType } from '../../../src/tx/transaction.ts';
import { transfer } from '../../../src/tx/types/004-transfer.ts';

const entry = (bytes: Uint8Array, sender: string): PoolEntry =>
  new PoolEntry(
    { def: transfer as unknown as TxType, timestamp: 1, bytes } as Tx,
    { key: 'id', sender, bytesHash: undefined },
    unchecked({ bytes }),
    NOTHING_SPENT,
    false,
  );

t.test('an entry gives its part of the memory, and knows its own bytes', async (t) => {
  const memory = Uint8Array.of(9, 1, 2, 3, 1, 2, 3);
  const own = entry(memory.subarray(1, 4), 'a');
  t.strictSame(own.bytes, Uint8Array.of(1, 2, 3));
  t.equal(own.size, 3);
  t.ok(own.holds(own.bytes));
  t.notOk(own.holds(memory.subarray(4)), 'equal bytes in another place');
  t.notOk(own.holds(own.bytes.slice()), 'a copy');
});

t.test('the limits count each entry of a sender until it leaves', async (t) => {
  const limits = { bytesMax: 60, senderEntriesMax: 2, nativeToken: 'W' };
  const senders = new Senders(limits, { availableBalance: () => 0n, assetBalance: () => 0n });
  const entries = ['a', 'a', 'b'].map((sender) => entry(new Uint8Array(3), sender));
  for (const one of entries) senders.add(one);
  t.equal(senders.bytes, 9);
  t.throws(() => senders.requireRoom(1, 'a'));
  senders.remove(entries[0]!);
  senders.requireRoom(1, 'a');
  for (const one of entries.slice(1)) senders.remove(one);
  t.equal(senders.bytes, 0);
});
