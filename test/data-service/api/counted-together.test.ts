/**
 * Counts by filters that are frequent one by one and rare together, on both stores: no statement
 * reads more rows of one index than a count may look at.
 */
import t, { type Test } from 'tap';
import type { Database } from '../../../src/base/ports/database.ts';
import { LOOKED_UP_MAX } from '../../../src/data-service/api/filter-sources.ts';
import { BUCKET_BITS } from '../../../src/data-service/schema/tables.ts';
import { MEETING, makeSeldomMeeting, PER_BLOCK } from '../seldom-meeting.ts';
import { onBothStores } from '../stores.ts';
import { counting, keepsRows, longestScan } from './counting.ts';

/** Of two kinds, each more than a count may look at. */
const TXS = 2 * (LOOKED_UP_MAX + 10);
async function check(t: Test, open: () => Promise<Database>): Promise<void> {
  const db = await open();
  await makeSeldomMeeting(db, TXS);
  const { count, plans } = await counting(t, db);
  const counted = async (filters: string): Promise<unknown> => {
    const found = await count(filters);
    for (const plan of await plans()) {
      // The rows of one bucket of a text come together.
      const most = LOOKED_UP_MAX + 1 + (filters.includes('search') ? 2 ** BUCKET_BITS : 0);
      const read = longestScan(plan);
      t.ok(read <= most, `${filters}: ${read} rows are read`);
    }
    return found;
  };

  const tooFar = {
    validationErrors: {
      countTo: `must be smaller, since more than ${LOOKED_UP_MAX} transactions would have to be looked at`,
    },
  };
  const ofOne = ['sender=3MFirst', 'type=4', 'type=4,6'];
  const ofOther = ['recipient=3MSecond', 'assetId=coin', 'contractId=contract', 'search=audit'];
  for (const one of ofOne) {
    for (const other of ofOther) {
      const filters = `${one}&${other}`;
      if (/^type=[\d,]+&assetId/.test(filters)) {
        t.equal(await counted(filters), String(MEETING), 'one index has both');
        continue;
      }
      t.match(await counted(filters), tooFar, filters);
      const nearby = Math.ceil(MEETING / PER_BLOCK) + 1;
      t.equal(
        await counted(`${filters}&heightTo=${nearby}`),
        String(MEETING),
        `${filters}, divided`,
      );
    }
  }

  /** Two of five thousand, one of each kind. */
  const rare = String((2 * (TXS - (TXS % 5000))) / 5000 / 2);
  for (const other of [...ofOne.slice(1), ...ofOther]) {
    const found = Number(await counted(`sender=3MRare&${other}`));
    t.ok(found >= Number(rare) && found <= Number(rare) + MEETING, `${other}: ${found}`);
    const first = await counted(`sender=3MRare&${other}&countTo=5`);
    t.equal(first, '6', 'no further');
  }
  t.equal(
    await counted('recipient=3MSecond&assetId=coin&countTo=1000'),
    '1001',
    'so many meet soon',
  );
  t.match(await counted('recipient=3MSecond&assetId=coin'), {
    validationErrors: { countTo: /at most 50000/ },
  });

  // A transaction has one type, so nothing is compared.
  for (const [filters, all] of [
    ['type=4,5', TXS],
    ['type=4,5&assetId=coin', TXS / 2 + Math.floor(MEETING / 2) + 1],
    ['type=4&assetId=coin&amountFrom=1', MEETING],
  ] as const) {
    const within = `${filters}&heightFrom=1`;
    t.equal(await count(within), String(all), within);
    t.notOk((await plans()).some(keepsRows), `${within}: rows are kept`);
    const dated = `${filters}&dateFrom=2026-01-01&dateTo=2026-01-02`;
    const days = await count(dated);
    t.equal(await count(`${dated}&countTo=${days}`), days, 'it may be as large as it is');
  }
}

t.setTimeout(300_000);
await onBothStores(t, 'frequent filters that seldom meet', check);
