/**
 * Texts that no index knows, on both stores with more rows than a page compares: pages end early,
 * and together they are the whole list.
 */
import t, { type Test } from 'tap';
import type { Database } from '../../../src/base/ports/database.ts';
import { COMPARED_MAX } from '../../../src/data-service/api/transaction-query.ts';
import { makeRows } from '../made-rows.ts';
import { type Served, served } from '../served.ts';
import { onBothStores } from '../stores.ts';
import { eventClient } from '../stream/event-client.ts';

const TXS = 70_000;
const ASSETS = 20_001;
const [OLD, NEW] = [5, TXS - 1];
const ROCKETS = encodeURIComponent('🚀🚀🚀');

/** The ordinals that X-Next-Index names, and the ids of all pages. */
async function walked({ get }: Served, path: string) {
  const ids: string[] = [];
  const nexts: number[] = [];
  for (let index = ''; ; index = `&index=${nexts.at(-1)}`) {
    const { status, json, headers } = await get(path + index);
    if (status !== 200) throw new Error(`${path}: ${status}`);
    ids.push(...(json as { id: string }[]).map(({ id }) => id));
    const next = headers.get('x-next-index');
    if (next === null) return { ids, nexts };
    nexts.push(Number(next));
  }
}

async function check(t: Test, open: () => Promise<Database>): Promise<void> {
  const db = await open();
  await makeRows(db, TXS);
  await db.query(`UPDATE txs SET message = 'to 🚀🚀🚀' WHERE seq IN ($1, $2)`, [OLD, NEW]);
  const idOf = async (seq: number): Promise<string> => {
    const [found] = await db.query<{ id: string }>('SELECT id FROM txs WHERE seq = $1', [seq]);
    return found!.id;
  };
  const [old, recent] = [await idOf(OLD), await idOf(NEW)];
  // The test has opened it, and closes it.
  const reading = { ...db, reading: db, close: async () => undefined };
  const service = await served(t, 'http://127.0.0.1:9', async () => reading, { crawl: undefined });
  while ((await service.get('/blocks')).status !== 200) await new Promise(setImmediate);

  const path = `/transactions?search=${ROCKETS}`;
  t.strictSame(await walked(service, path), { ids: [recent, old], nexts: [TXS - COMPARED_MAX] });
  t.strictSame(await walked(service, `${path}&sort=asc&scope=in_description`), {
    ids: [old, recent],
    nexts: [COMPARED_MAX + 1],
  });
  t.strictSame(await walked(service, `${path}&limit=1`), {
    ids: [recent, old],
    nexts: [TXS - COMPARED_MAX],
  });
  const entries = await walked(service, `/transactions?search=${encodeURIComponent('- -')}`);
  t.strictSame(entries, { ids: [], nexts: [TXS - COMPARED_MAX] }, 'in entries, too');

  const count = `/transactions/count?search=${ROCKETS}`;
  const refused = { status: 400, json: { validationErrors: { search: /three letters/ } } };
  t.match(await service.get(count), refused);
  t.match(await service.get(`${count}&heightTo=3000`), { status: 200, json: { count: '1' } });

  const stream = `${service.url}/transactions/stream?search=${ROCKETS}`;
  const client = await eventClient(t, stream, '0');
  await client.until((events) => events.length === 2);
  t.strictSame(
    client.events.map(({ data }) => data['id']),
    [old, recent],
    'the stream goes from window to window',
  );

  // Of other transactions than those that issue an asset already.
  await db.query(
    `INSERT INTO assets SELECT 'more' || seq, seq, '', CASE seq WHEN $1 THEN '🚀' ELSE 'x' END, '',
       1, 1, 0, false, false FROM (SELECT seq FROM txs WHERE type <> 3 ORDER BY seq LIMIT $2) t`,
    [1, ASSETS],
  );
  const [issued] = await db.query<{ n: number }>('SELECT count(*)::int AS n FROM assets');
  await db.query('UPDATE type_counts SET n = $1 WHERE type = 3', [issued!.n]);
  const search = encodeURIComponent('🚀');
  const assets = await walked(service, `/assets?search=${search}`);
  t.strictSame(assets.ids, [await idOf(1)]);
  t.equal(assets.nexts.length, 1);
  t.match(await service.get(`/assets/count?search=${search}`), refused);
  const nobody = await service.get(`/users?search=---`);
  t.equal(nobody.status, 200);
  t.strictSame(nobody.json, []);
}

t.setTimeout(240_000);
await onBothStores(t, 'texts that no index knows', check);
