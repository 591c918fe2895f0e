/** Where a page goes on whose rows were few when it was planned. */
import t from 'tap';
import type { heavyRows } from '../../../src/data-service/api/reading.ts';
import type { DataServices } from '../../../src/data-service/api/services.ts';
import type { TransactionFilter } from '../../../src/data-service/api/transaction-filter.ts';
import { planPage, restOf } from '../../../src/data-service/api/transaction-query.ts';

const services = {} as DataServices;
const answering = (row: object) => (async () => [row]) as unknown as typeof heavyRows;

t.test('a transaction that comes meanwhile moves no place in the list', async (t) => {
  const filter = { type: [4], assetId: 'coin', amountFrom: 1n, sort: 'desc', limit: 2 };
  const asked = { ...filter, sender: '3MFirst' } as unknown as TransactionFilter;
  // Of the amounts there are no more than few: they are in the order of their index.
  const ends = { d0: '900', d1: '900', d2: '900', d3: null };
  const query = await planPage(asked, 100_000, services, answering(ends));
  t.match(query.sources, [{ order: 's.amount' }]);
  t.equal(await restOf(query, services, answering({ rest: '99990' })), undefined);
});
