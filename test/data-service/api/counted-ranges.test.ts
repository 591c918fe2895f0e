/**
 * Counts within heights and dates by an index that is not in the order of the chain, on both stores:
 * the entries of all the chain are more than may be read, those of the range are few.
 */
import t, { type Test } from 'tap';
import type { Database } from '../../../src/base/ports/database.ts';
import { LOOKED_UP_MAX } from '../../../src/data-service/api/filter-sources.ts';
import { INDEXES, TEXT_INDEXES } from '../../../src/data-service/schema/tables.ts';
import { onBothStores } from '../stores.ts';
import { counting, longestScan } from './counting.ts';

const TXS = LOOKED_UP_MAX + 10_000;
const PER_BLOCK = 100;
const BLOCK_MS = 600_000;
const GENESIS_TIME = Date.UTC(2026, 0, 1);
const OF_A_DAY = (PER_BLOCK * 24 * 3_600_000) / BLOCK_MS;
/** So many addresses, aliases and proofs have the same beginning. */
const EACH = 30;
const NUMBERS = `generate_series(1, ${TXS}) n`;

const FILL = [
  `INSERT INTO txs SELECT n, 'beginning' || n, 4, 2, (n - 1) / ${PER_BLOCK} + 1,
     ${GENESIS_TIME} + ((n - 1) / ${PER_BLOCK} + 1) * ${BLOCK_MS},
     '3MSender', 'key', 'signature' || n, 1, NULL, 'coin', n, NULL, '{}' FROM ${NUMBERS}`,
  `INSERT INTO tx_addresses SELECT '3MBeginning' || n % ${EACH}, n, 1 FROM ${NUMBERS}`,
  `INSERT INTO tx_aliases SELECT 'alias' || n % ${EACH}, n FROM ${NUMBERS}`,
  `INSERT INTO tx_proofs SELECT 'signature' || n % ${EACH}, n FROM ${NUMBERS}`,
  `INSERT INTO users SELECT '3MBeginning' || n, n, 1, ${GENESIS_TIME}
   FROM generate_series(0, ${EACH - 1}) n`,
  `INSERT INTO aliases SELECT 'alias' || n, '3MOwner', 1 FROM generate_series(0, ${EACH - 1}) n`,
  `INSERT INTO blocks SELECT height, 'b' || height, 'b' || (height - 1), 3, min(ts), 'miner', 0, NULL,
     '{}', '{}', 9000, 1, count(*), min(seq) FROM txs GROUP BY height`,
  `INSERT INTO type_counts VALUES (4, ${TXS})`,
];

const all = { ...INDEXES, ...TEXT_INDEXES };

async function check(t: Test, open: () => Promise<Database>): Promise<void> {
  const db = await open();
  const without = Object.keys(all).map((name) => `DROP INDEX ${name}`);
  const made = Object.values(all).map((definition) => `CREATE ${definition}`);
  await db.exec([...without, ...FILL, ...made].join(';'));
  await db.exec('VACUUM ANALYZE');
  const { count, plans } = await counting(t, db);
  const counted = async (filters: string): Promise<unknown> => {
    const found = await count(filters);
    for (const plan of await plans()) {
      const read = longestScan(plan);
      t.ok(read <= LOOKED_UP_MAX + 1, `${filters}: ${read} rows are read`);
    }
    return found;
  };

  const amounts = 'type=4&assetId=coin&amountFrom';
  t.equal(await count(`${amounts}=1`), String(TXS), 'an index has all');
  const middle = TXS / 2;
  const block = middle / PER_BLOCK;
  t.equal(
    await counted(`${amounts}=${middle}&heightFrom=${block}&heightTo=${block + 1}`),
    String(PER_BLOCK + 1),
    'only some of the range are counted',
  );
  const filters = [
    `${amounts}=1`,
    ...[
      'in_tx_ids&search=beginning',
      'in_signatures&search=signature',
      'in_addresses&search=3MBeginning',
      'in_aliases&search=alias',
    ].map((search) => `scope=${search}`),
  ];
  for (const one of filters) {
    t.equal(await counted(`${one}&heightFrom=10&heightTo=10`), String(PER_BLOCK), one);
    const day = await counted(`${one}&dateFrom=2026-01-02&dateTo=2026-01-02`);
    t.equal(day, String(OF_A_DAY), `${one}, of a day`);
    const soon = await counted(`${one}&dateFrom=2026-01-02&dateTo=2026-01-02&countTo=10`);
    t.equal(soon, '11', `${one}, no further`);
    const both = await counted(`${one}&sender=3MBeginning1&heightTo=${EACH}`);
    t.equal(both, String(PER_BLOCK), `${one}, with a sender`);
  }
  const many = await count(`${filters[1]}&sender=3MBeginning1`);
  t.match(many, { validationErrors: { countTo: /would have to be looked at/ } }, 'all the chain');
}

t.setTimeout(300_000);
await onBothStores(t, 'counts within a range', check);
