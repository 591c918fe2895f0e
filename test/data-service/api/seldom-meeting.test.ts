/**
 * Lists by filters that are frequent one by one and rare together, on both stores: no statement reads
 * more rows of one index than a page may look at, and the pages together are the whole list.
 */
import t, { type Test } from 'tap';
import type { Database } from '../../../src/base/ports/database.ts';
import { LOOKED_AT_MAX } from '../../../src/data-service/api/transaction-query.ts';
import { MEETING, makeSeldomMeeting } from '../seldom-meeting.ts';
import { onBothStores } from '../stores.ts';
import { eventClient } from '../stream/event-client.ts';
import { longestScan, recorded } from './counting.ts';

/** Of each kind more than a page looks at. */
const OF_KIND = LOOKED_AT_MAX + 10;
const TXS = 2 * OF_KIND;
const TYPES = 'type=3,4,6,10,11,12,102,103,104';

const ofOne = ['sender=3MFirst', 'type=4', TYPES];
const ofOther = ['recipient=3MSecond', 'assetId=coin', 'contractId=contract'];
const pairs = [
  ...ofOne.flatMap((one) => ofOther.map((other) => `${one}&${other}`)),
  'sender=3MFirst&type=5',
  'recipient=3MSecond&type=4&assetId=coin',
  `sender=3MFirst&${TYPES}&contractId=contract`,
  'type=4&assetId=coin&amountFrom=1&contractId=contract&sender=3MFirst',
];

async function check(t: Test, open: () => Promise<Database>): Promise<void> {
  const db = await open();
  await makeSeldomMeeting(db, TXS);
  const { service, said, plans } = await recorded(t, db, (sql) => /txs|tx_addresses/.test(sql));

  async function page(path: string) {
    said.length = 0;
    const { status, text, json, headers } = await service.get(path);
    t.equal(status, 200, `${path}: ${text.slice(0, 200)}`);
    // Of an expression no index alone is read: few pages of the table are sooner read in their order.
    const most = path.includes('contractId') ? OF_KIND + MEETING : LOOKED_AT_MAX + 1;
    for (const plan of await plans()) {
      const read = longestScan(plan);
      t.ok(read <= most, `${path}: ${read} rows are read`);
    }
    return {
      ids: (json as { id: string }[]).map(({ id }) => id),
      next: headers.get('x-next-index'),
    };
  }

  const meeting = Array.from({ length: MEETING }, (_, i) => `id${i + 1}`);
  for (const pair of pairs) {
    const isOfOne = pair.endsWith('type=5');
    for (const sort of ['desc', 'asc']) {
      const all: string[] = [];
      let index = '';
      let pages = 1;
      for (; ; pages++) {
        const { ids, next } = await page(`/transactions?${pair}&limit=2&sort=${sort}${index}`);
        all.push(...ids);
        if (next === null) break;
        t.ok(pages < 9, `${pair} ${sort}: it comes to an end`);
        index = `&index=${next}`;
      }
      const wanted = isOfOne ? [] : sort === 'asc' ? meeting : meeting.toReversed();
      t.strictSame(all, wanted, `${pair} ${sort}`);
      // One index has types of an asset together.
      const isRare = pair.includes('type') && pair.includes('assetId');
      const ofAll = isOfOne ? 1 : 2;
      t.ok(isRare || pages > ofAll, `${pair} ${sort}: not all is looked at for a page`);
    }
  }

  // Where they often meet, a page is full, and its rows are looked up one by one.
  for (const often of ['sender=3MFirst&type=4', `${TYPES}&sender=3MFirst`]) {
    const { ids } = await page(`/transactions?${often}`);
    t.equal(ids.length, 500, often);
    t.ok(
      (await plans()).every((plan) => longestScan(plan) <= 5000),
      often,
    );
  }
  // Of filters that one index has together, the page alone is read.
  for (const one of ['type=5&assetId=coin', 'contractId=contract', `${TYPES}&assetId=coin`]) {
    await page(`/transactions?${one}&limit=20`);
    t.ok(
      (await plans()).every((plan) => longestScan(plan) <= 100),
      one,
    );
  }
  // A filter with few rows is read, and not the frequent one beside it.
  const { ids } = await page('/transactions?sender=3MRare&assetId=coin');
  t.ok(ids.length > 0 && (await plans()).every((plan) => longestScan(plan) <= 4097));

  const filter = 'type=4,6&contractId=contract';
  const stream = `${service.url}/transactions/stream?${filter}`;
  const client = await eventClient(t, stream, '0');
  await client.until((events) => events.length === MEETING);
  // Behind the rows that match nothing.
  while (!client.lastId().startsWith(`${TXS}-`)) await new Promise((r) => setTimeout(r, 20));
  t.strictSame(
    client.events.map(({ data }) => data['id']),
    meeting,
  );
}

t.setTimeout(240_000);
await onBothStores(t, 'lists of filters that seldom meet', check);
