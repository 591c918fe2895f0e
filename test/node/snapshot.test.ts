// Long answers read one state of the chain, row by row, while the store changes.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openLmdbStore } from '../../src/adapters/lmdb/store.ts';
import { ApiError } from '../../src/base/errors.ts';
import { accountOf } from '../../src/ledger/accounts.ts';
import { dataEntries } from '../../src/ledger/data.ts';
import { snapshotOf } from '../../src/node/snapshot.ts';
import { entriesPage } from '../../src/rest/data-entries.ts';
import { wholeNode } from './in-process.ts';

const key = (i: number) => Uint8Array.of(i >> 8, i & 255);

t.test('a walk over a snapshot may pause while the store is written', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'snapshot-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const store = await openLmdbStore({ folder, tables: [{ id: 1, name: 'rows' }] });
  t.teardown(() => store.close());
  const rows = (value: number) =>
    Array.from({ length: 500 }, (_, i) => ({ table: 1, key: key(i), value: Uint8Array.of(value) }));
  await store.write(rows(1));
  const frozen = store.snapshot();
  const seen: number[] = [];
  for (const [at, value] of frozen.range(1, key(0), key(65_535), 1000)) {
    seen.push(value[0]!, (at[0]! << 8) | at[1]!);
    if (at[1]! % 50 === 0) {
      await store.write(rows(2));
      t.equal(store.get(1, key(3))?.[0], 2);
      t.equal([...store.range(1, key(0), key(10), 5)].length, 5, 'other walks go on meanwhile');
    }
  }
  frozen.release();
  t.strictSame(seen, Array.from({ length: 500 }, (_, i) => [1, i]).flat());
});

t.test('a snapshot shows its state and reads no more rows than it may', async (t) => {
  const { node, accounts, store, send, mine } = await wholeNode(t);
  const [owner, one] = accounts;
  const data = Array.from({ length: 50 }, (_, i) => ({ key: `k${i}`, type: 'integer', value: i }));
  await send(owner, { type: 12, data });
  await mine();
  const { view, height, release } = snapshotOf(node.blockchain, store, 60);
  const at = height();
  const before = accountOf(view, one.address).balance;
  await send(owner, { type: 4, version: 2, recipient: one.text, amount: 5, attachment: '' });
  await mine();
  t.equal(height(), at);
  t.equal(accountOf(view, one.address).balance, before);
  t.equal(accountOf(node.services.view, one.address).balance, before + 5n);

  const all = { offset: 0, limit: Infinity };
  const rows = () => dataEntries(view, owner.address, 100);
  t.equal([...entriesPage(rows(), all)].length, 50);
  const past = { offset: 40, limit: 5 };
  t.throws(() => [...entriesPage(rows(), past)], ApiError, 'skipped rows count');
  release();
});
