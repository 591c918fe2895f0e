/**
 * Transactions of two kinds, as many of each, that meet in the oldest ones alone: filters for both
 * kinds are frequent one by one and rare together.
 */
import type { Database } from '../../src/base/ports/database.ts';
import { INDEXES, TEXT_INDEXES } from '../../src/data-service/schema/tables.ts';

export const PER_BLOCK = 100;
const BLOCK_MS = 600_000;
const GENESIS_TIME = Date.UTC(2026, 0, 1);
/** The oldest ones are of both kinds. */
export const MEETING = 3;
const ONE = `(n % 2 = 1 OR n <= ${MEETING})`;
const OTHER = `(n % 2 = 0 OR n <= ${MEETING})`;

const all = { ...INDEXES, ...TEXT_INDEXES };

/** Into an empty store with its schema. */
export async function makeSeldomMeeting(db: Database, txs: number): Promise<void> {
  const numbers = `generate_series(1, ${txs}) n`;
  const fill = [
    `INSERT INTO txs SELECT n, 'id' || n, CASE WHEN ${ONE} THEN 4 ELSE 5 END, 2,
       (n - 1) / ${PER_BLOCK} + 1, ${GENESIS_TIME} + ((n - 1) / ${PER_BLOCK} + 1) * ${BLOCK_MS},
       '3MSender', 'key', NULL, 1, NULL, CASE WHEN ${OTHER} THEN 'coin' END, n,
       CASE WHEN ${OTHER} THEN 'audit ' || n % 10 END,
       CASE WHEN ${OTHER} THEN '{"contractId": "contract"}'::jsonb ELSE '{}' END
     FROM ${numbers}`,
    `INSERT INTO tx_addresses SELECT '3MFirst', n, 1 FROM ${numbers} WHERE ${ONE}
     UNION ALL SELECT '3MSecond', n, 2 FROM ${numbers} WHERE ${OTHER}
     UNION ALL SELECT '3MRare', n, 1 FROM ${numbers} WHERE n % 5000 < 2`,
    `INSERT INTO blocks SELECT height, 'b' || height, 'b' || (height - 1), 3, min(ts), 'miner', 0, NULL,
       '{}', '{}', 9000, 1, count(*), min(seq) FROM txs GROUP BY height`,
    'INSERT INTO type_counts SELECT type, count(*) FROM txs GROUP BY type',
  ];
  const without = Object.keys(all).map((name) => `DROP INDEX ${name}`);
  const made = Object.values(all).map((definition) => `CREATE ${definition}`);
  await db.exec([...without, ...fill, ...made].join(';'));
  await db.exec('VACUUM ANALYZE');
}
