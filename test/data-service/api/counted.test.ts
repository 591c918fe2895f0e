/**
 * What a count may cost, on both stores: rows that are looked up are counted up to a limit, dates
 * cost no look at the transactions between them, and the places of a text are read bucket by bucket.
 */
import t, { type Test } from 'tap';
import type { Database } from '../../../src/base/ports/database.ts';
import { LOOKED_UP_MAX } from '../../../src/data-service/api/filter-sources.ts';
import { TEXT_INDEXES } from '../../../src/data-service/schema/tables.ts';
import { onBothStores } from '../stores.ts';
import { counting, readBy } from './counting.ts';

const TXS = LOOKED_UP_MAX + 2;
const PER_BLOCK = 100;
const BLOCK_MS = 600_000;
const GENESIS_TIME = Date.UTC(2026, 0, 1);
/** The newest ones. */
const WITH_TEXT = 20_000;
/** Two hours at each side of each end of the dates. */
const NEAR_DATES = ((8 * 3_600_000) / BLOCK_MS + 2) * PER_BLOCK;

const MESSAGES = 'txs_message_parts';

/** One sender has sent all. */
const FILL = [
  `INSERT INTO txs SELECT n, 'id' || n, 4, 2, (n - 1) / ${PER_BLOCK} + 1,
     ${GENESIS_TIME} + ((n - 1) / ${PER_BLOCK} + 1) * ${BLOCK_MS}, '3MSender', 'key', NULL, 1, NULL,
     'NATIVE', n, CASE WHEN n > ${TXS - WITH_TEXT} THEN 'invoice ' || n % 10 END, '{}'
   FROM generate_series(1, ${TXS}) n`,
  `INSERT INTO tx_addresses SELECT '3MSender', seq, 1 FROM txs`,
  `INSERT INTO users VALUES ('3MSender', 1, 1, ${GENESIS_TIME})`,
  `INSERT INTO blocks SELECT height, 'b' || height, 'b' || (height - 1), 3, min(ts), 'miner', 0, NULL,
     '{}', '{}', 9000, 1, count(*), min(seq) FROM txs GROUP BY height`,
  `INSERT INTO type_counts VALUES (4, ${TXS})`,
  `CREATE ${TEXT_INDEXES[MESSAGES]}`,
];

async function check(t: Test, open: () => Promise<Database>): Promise<void> {
  const db = await open();
  await db.exec([`DROP INDEX ${MESSAGES}`, ...FILL].join(';'));
  await db.exec('VACUUM ANALYZE');
  const { count, plans } = await counting(t, db);

  const lookedUp = 'sender=3MSender&type=4';
  const refused = {
    validationErrors: {
      countTo: `must be at most ${LOOKED_UP_MAX}, since there are more transactions`,
    },
  };
  t.match(await count(lookedUp), refused, 'not all are looked up');
  t.match(await count(`${lookedUp}&countTo=1000000`), refused);
  t.equal(await count(`${lookedUp}&countTo=${LOOKED_UP_MAX}`), String(LOOKED_UP_MAX + 1));
  t.equal(await count(`${lookedUp}&countTo=10`), '11');
  t.equal(await count(`${lookedUp}&heightTo=400`), String(400 * PER_BLOCK));
  t.equal(await count('sender=3MSender'), String(TXS), 'an index has all');

  for (const filter of ['sender=3MSender', 'search=3MSender&scope=in_addresses']) {
    // Two days.
    t.equal(
      await count(`${filter}&dateFrom=2026-01-02&dateTo=2026-01-03`),
      String(2 * 24 * 6 * PER_BLOCK),
      filter,
    );
    const read = readBy((await plans()).at(-1)!, 'txs');
    t.ok(read <= NEAR_DATES, `${read} transactions are looked at`);
    t.equal(await count(`${filter}&dateFrom=2026-01-02&dateTo=2026-01-03&countTo=10`), '11');
  }

  t.equal(await count('search=invoice&scope=in_description'), String(WITH_TEXT));
  t.equal(await count('search=invoice&scope=in_description&countTo=100'), '101');
  const read = readBy((await plans()).at(-1)!);
  t.ok(read < WITH_TEXT, `${read} rows are read`);
}

t.setTimeout(240_000);
await onBothStores(t, 'what a count costs', check);
