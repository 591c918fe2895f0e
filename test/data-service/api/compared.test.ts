/**
 * Texts that no index knows, on both stores with more rows than a page compares: pages end early,
 * and together they are the whole list.
 */
import t, { type Test } from 'tap';
import type { Database } from '../../../src/base/ports/database.ts';
import { COMPARED_MAX } from '../../../src/data-service/api/transaction-query.ts';
import { TEXT_INDEXES } from '../../../src/data-service/schema/tables.ts';
import { type Served, served } from '../served.ts';
import { onBothStores } from '../stores.ts';
import { eventClient } from '../stream/event-client.ts';

const TXS = COMPARED_MAX + 1000;
const PER_BLOCK = 20;
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

/** Two of them have the text. Each third issues an asset, so there are more than a page compares. */
async function makePlainRows(db: Database): Promise<void> {
  const numbers = `generate_series(1, ${TXS}) n`;
  const texts = Object.entries(TEXT_INDEXES);
  const fill = [
    `INSERT INTO txs SELECT n, 'id' || n, CASE WHEN n % 3 = 1 THEN 3 WHEN n % 10 = 0 THEN 12 ELSE 4 END, 2,
       (n - 1) / ${PER_BLOCK} + 1, n, '3MSender', 'key', NULL, 1, NULL, NULL, NULL,
       CASE WHEN n IN (${OLD}, ${NEW}) THEN 'to 🚀🚀🚀' ELSE 'rent' END, '{}' FROM ${numbers}`,
    `INSERT INTO data_entries SELECT n, 0, '3MSender', 'key', 'string', 'value'
     FROM ${numbers} WHERE n % 10 = 0`,
    `INSERT INTO assets SELECT 'id' || n, n, '3MSender', CASE n WHEN 1 THEN '🚀' ELSE 'x' END, '',
       1, 1, 0, false, false FROM ${numbers} WHERE n % 3 = 1`,
    `INSERT INTO blocks SELECT height, 'b' || height, 'b' || (height - 1), 3, min(ts), 'miner', 0, NULL,
       '{}', '{}', 9000, 1, count(*), min(seq) FROM txs GROUP BY height`,
    `INSERT INTO users VALUES ('3MSender', 1, 1, 1)`,
    'INSERT INTO type_counts SELECT type, count(*) FROM txs GROUP BY type',
  ];
  const without = texts.map(([name]) => `DROP INDEX ${name}`);
  const made = texts.map(([, definition]) => `CREATE ${definition}`);
  await db.exec([...without, ...fill, ...made].join(';'));
  await db.exec('VACUUM ANALYZE');
}

async function check(t: Test, open: () => Promise<Database>): Promise<void> {
  const db = await open();
  await makePlainRows(db);
  const idOf = async (seq: number): Promise<string> => {
    const [found] = await db.query<{ id: string }>('SELECT id FROM txs WHERE seq = $1', [seq]);
    return found!.id;
  };
  const [old, recent] = [await idOf(OLD), await idOf(NEW)];
  // The test has opened it, and closes it.
  const reading = { ...db, reading: db, close: async () => undefined };
  const service = await served(t, 'http://127.0.0.1:9', async () => reading, { crawl: undefined });
  await service.opened();

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
