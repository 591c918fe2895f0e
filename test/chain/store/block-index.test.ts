// The rows of a block's transactions, as columns.
import { createHash } from 'node:crypto';
import t from 'tap';
import { type RowColumn, rowsOf } from '../../../src/base/row-columns.ts';
import { ID_PREFIX_BYTES, indexColumns } from '../../../src/chain/store/block-index.ts';
import { inOneGo } from '../../../src/concurrency/steps.ts';
import { transactionIds, transactions } from '../../../src/ledger/tables.ts';
import { withMembers } from '../../../src/tx/members.ts';
import type { Tx } from '../../../src/tx/transaction.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** One in seven has members. */
const transactionOf = (n: number, members = n % 7 === 6 ? 3 : 0): Tx => {
  const id = new Uint8Array(createHash('sha256').update(String(n)).digest());
  const inside = Array.from({ length: members }, (_, i) => transactionOf(1e6 + 3 * n + i, 0));
  const def = { members: () => inside };
  return { def, id, bytes: Uint8Array.of(n, n >>> 8, n >>> 16) } as unknown as Tx;
};

function blocksOf(...counts: number[]): { height: number; txs: Tx[] }[] {
  let next = 0;
  return counts.map((count, i) => ({
    height: 70_000 + i,
    txs: Array.from({ length: count }, () => transactionOf(next++)),
  }));
}

const pairs = (columns: readonly RowColumn[], table: number): [string, string][] =>
  columns
    .filter((column) => column.table === table)
    .flatMap((column) => [...rowsOf(column)])
    .map(({ key, value }) => [hex(key), hex(value!)]);

for (const counts of [[0], [1], [2, 0, 300], [40_000, 5, 30_000]]) {
  t.test(`blocks of ${counts.join(', ')} transactions`, (t) => {
    const blocks = blocksOf(...counts);
    const columns = inOneGo(indexColumns(blocks));
    const places = blocks.flatMap(({ height, txs }) =>
      txs.map((tx, index) => ({
        place: hex(transactions.key.encode([height, index])),
        ids: [...withMembers([tx])].map(({ id }) => hex(id.subarray(0, ID_PREFIX_BYTES))),
        bytes: hex(tx.bytes),
      })),
    );
    t.strictSame(
      pairs(columns, transactions.id),
      places.map(({ place, bytes }) => [place, bytes]),
    );
    t.strictSame(
      pairs(columns, transactionIds.id).sort(),
      places.flatMap(({ place, ids }) => ids.map((id) => [id, place])).sort(),
    );
    for (const column of columns.slice(1)) {
      const starts = [...rowsOf(column)].map(({ key }) => hex(key.subarray(0, 4)));
      t.strictSame(starts, starts.toSorted(), 'in the order of the store');
    }
    t.end();
  });
}
