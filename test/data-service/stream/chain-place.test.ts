/** Places of readers in the stream (data-service.md#stream). */
import t from 'tap';
import { LazyAbort } from '../../../src/concurrency/lazy-abort.ts';
import type { DataServices } from '../../../src/data-service/api/services.ts';
import { markOf, placeText, readPlace } from '../../../src/data-service/stream/chain-place.ts';
import { streamReader } from '../../../src/data-service/stream/stream-reader.ts';
import type { StreamFilter } from '../../../src/data-service/stream/stream-service.ts';
import { migratedDatabase } from '../stores.ts';

t.test('an id that could not stand in a line has no mark', async (t) => {
  for (const id of ['"\nevent:x', 'ab cd', 'тест', 'a-b']) {
    const place = { seq: 5, removedAt: 0, mark: markOf(id) };
    t.strictSame(readPlace(placeText(place)), { ...place, mark: '' });
  }
  t.equal(markOf('5Hq2abcdefgh'), '5Hq2abcd');
});

t.test('a store with fewer rows, which goes on with others', async (t) => {
  const db = await migratedDatabase();
  t.teardown(() => db.close());
  await db.query(
    `INSERT INTO txs (seq, id, type, version, height, ts, fee, body)
     VALUES (10, 'FirstTransaction', 998, 1, 1, 1, 0, '{}')`,
  );
  const meter = { query: () => () => {}, timedOut: () => {} };
  const services = { db: () => db, meter } as unknown as DataServices;
  const from = { seq: 10, removedAt: 0, mark: markOf('FirstTransaction') };
  const request = { filter: {} as StreamFilter, filterText: '', client: '', lastId: '' };
  const reader = streamReader(request, from, () => {}, services);
  const last = (seq: number) => ({ seq, removedAt: 0, mark: '', isReplica: false, finalHeight: 0 });
  const turn = new LazyAbort();
  const advance = (seq: number) => reader.advance({ last: last(seq), pages: new Map() }, turn);
  t.equal(await advance(10), 'waits');
  t.equal(await advance(8), 'waits', 'the address leads to another store');
  await db.query(`UPDATE txs SET id = 'AnotherTransaction' WHERE seq = 10`);
  t.equal(await advance(10), 'lost');
});

t.test('a removal of blocks that a server has not heard of', async (t) => {
  const services = {} as unknown as DataServices;
  const from = { seq: 10, removedAt: 5, mark: '' };
  const request = { filter: {} as StreamFilter, filterText: '', client: '', lastId: '' };
  const reader = streamReader(request, from, () => {}, services);
  const advance = (isReplica: boolean) => {
    const last = { seq: 10, removedAt: 0, mark: '', isReplica, finalHeight: 0 };
    return reader.advance({ last, pages: new Map() }, new LazyAbort());
  };
  t.equal(await advance(true), 'waits', 'a replica will');
  t.equal(await advance(false), 'lost');
});
