/** Pages of the stream are bounded by bytes: large transactions come a few at a time. */
import type { Test } from 'tap';
import t from 'tap';
import type { Database } from '../../../src/base/ports/database.ts';
import { LazyAbort } from '../../../src/concurrency/lazy-abort.ts';
import type { DataServices } from '../../../src/data-service/api/services.ts';
import { streamReader } from '../../../src/data-service/stream/stream-reader.ts';
import type { StreamFilter } from '../../../src/data-service/stream/stream-service.ts';
import { fakeClock } from '../../node/fake-clock.ts';
import { onBothStores } from '../stores.ts';

const ROWS = 12;
const BODY_BYTES = 200_000;
const PAGE_BYTES = 512 * 1024;

/** Transactions from the first to the last, whose bodies are long. */
async function fill(db: Database): Promise<void> {
  await db.query(
    `INSERT INTO txs (seq, id, type, version, height, ts, fee, body)
     SELECT n, 'transaction' || n, 998, 1, 1, 1, 0, jsonb_build_object('text', repeat('x', $2))
     FROM generate_series(1, $1::int) n`,
    [ROWS, BODY_BYTES],
  );
}

await onBothStores(t, 'large transactions', async (t: Test, open) => {
  const db = await open();
  await fill(db);
  const meter = { query: () => () => {}, timedOut: () => {} };
  const services = { db: () => db, meter, clock: fakeClock(0) } as unknown as DataServices;
  const texts: string[] = [];
  const take = (text: string): void => void texts.push(text);
  const filter = { extended: true } as StreamFilter;
  const request = { filter, filterText: '', client: '', lastId: '' };
  const reader = streamReader(request, { seq: 0, removedAt: 0, mark: '' }, take, services);
  const last = { seq: ROWS, removedAt: 0, mark: '', isReplica: false, finalHeight: 0 };
  const turn = new LazyAbort();
  while ((await reader.advance({ last, pages: new Map() }, turn)) === 'more');
  const ids = texts.flatMap((text) => [...text.matchAll(/^id: (\d+)-/gm)].map(([, seq]) => seq));
  t.strictSame(
    ids,
    Array.from({ length: ROWS }, (_, i) => String(i + 1)),
    'each of them once',
  );
  const longest = Math.max(...texts.map(({ length }) => length));
  t.ok(longest < PAGE_BYTES + BODY_BYTES, `${longest} characters at once`);
});
