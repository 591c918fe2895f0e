/** A filter that is compared row by row: each turn of a reader looks at so many rows, and none is left out. */
import type { Test } from 'tap';
import t from 'tap';
import { systemClock } from '../../../src/adapters/system.ts';
import { LazyAbort } from '../../../src/concurrency/lazy-abort.ts';
import type { DataServices } from '../../../src/data-service/api/services.ts';
import { COMPARED_MAX } from '../../../src/data-service/api/transaction-query.ts';
import { streamReader } from '../../../src/data-service/stream/stream-reader.ts';
import type { StreamFilter } from '../../../src/data-service/stream/stream-service.ts';
import { onBothStores } from '../stores.ts';

/** The text stands before and behind the end of the rows of one turn, and in the last row. */
const WITH_TEXT = [COMPARED_MAX, COMPARED_MAX + 1, COMPARED_MAX + 100];

await onBothStores(t, 'more rows than one turn compares', async (t: Test, open) => {
  const db = await open();
  await db.query(
    `INSERT INTO txs (seq, id, type, version, height, ts, fee, message, body)
     SELECT n, 'transaction' || n, 998, 1, 1, 1, 0, CASE WHEN n = ANY($2::int[]) THEN 'a 🚀🚀🚀' END, '{}'
     FROM generate_series(1, $1::int) n`,
    [WITH_TEXT.at(-1)!, WITH_TEXT],
  );
  const meter = { query: () => () => {}, timedOut: () => {} };
  const clock = systemClock(undefined);
  const services = { db: () => db, meter, clock } as unknown as DataServices;
  const texts: string[] = [];
  const take = (text: string): void => void texts.push(text);
  const filter = { search: '🚀🚀🚀', scope: ['in_description'] } as unknown as StreamFilter;
  const request = { filter, filterText: '', client: '', lastId: '' };
  const reader = streamReader(request, { seq: 0, removedAt: 0, mark: '' }, take, services);
  const last = { seq: WITH_TEXT.at(-1)!, removedAt: 0, mark: '', isReplica: false, finalHeight: 0 };
  const turn = new LazyAbort();
  let turns = 1;
  while ((await reader.advance({ last, pages: new Map() }, turn)) === 'more') turns++;
  const seqs = texts.flatMap((text) => [...text.matchAll(/^id: (\d+)-/gm)].map(([, seq]) => seq));
  t.strictSame(seqs.map(Number), WITH_TEXT);
  t.equal(turns, 2);
});
