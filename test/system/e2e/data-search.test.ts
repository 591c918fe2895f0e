/** The explorer of the data service, in a real browser, over more rows than one page compares. */
import t from 'tap';
import type { Database } from '../../../src/base/ports/database.ts';
import { migrate } from '../../../src/data-service/schema/migrate.ts';
import { KNOWN, makeRows } from '../../data-service/made-rows.ts';
import { served } from '../../data-service/served.ts';
import { memoryDatabase } from '../../data-service/stores.ts';
import { openPage, withoutBrowser } from './browser.ts';

const TXS = 70_000;
const ASSETS = 20_001;
const ROCKETS = encodeURIComponent('🚀🚀🚀');

t.setTimeout(480_000);

/** Made once: the rows take longer than what is asked of them. */
const db = await memoryDatabase();
t.teardown(() => db.close());
if (!withoutBrowser) {
  await migrate(db, { indexText: true });
  await makeRows(db, TXS);
}

t.test('a text that no index knows', { skip: withoutBrowser, timeout: 240_000 }, async (t) => {
  await db.query(
    `UPDATE txs SET message = 'to 🚀🚀🚀' WHERE seq = (SELECT min(seq) FROM txs WHERE type = 4)`,
  );
  await db.query(
    `INSERT INTO assets SELECT 'more' || seq, seq, '', CASE seq WHEN 1 THEN '🚀🚀🚀' ELSE 'x' END, '',
       1, 1, 0, false, false FROM (SELECT seq FROM txs WHERE type <> 3 ORDER BY seq LIMIT $1) t`,
    [ASSETS],
  );
  const reading = { ...db, reading: db, close: async () => undefined };
  const service = await served(t, 'http://127.0.0.1:9', async () => reading, { crawl: undefined });
  while ((await service.get('/blocks')).status !== 200) await new Promise(setImmediate);

  for (const list of ['search', 'assets']) {
    const page = await openPage(t, `${service.url}/explorer#/${list}?search=${ROCKETS}`);
    const next = `document.querySelector('main a[rel=next]')`;
    await page.until(`${next} !== null`);
    t.match(await page.text(), /Nothing is found so far/, list);
    t.equal(await page.evaluate(`${next}.innerText`), 'Look further');
    await page.evaluate(`${next}.click()`);
    await page.until(`document.querySelectorAll('main tbody tr').length === 1`);
    t.equal(await page.evaluate(next), null, 'it ends there');
    await page.goto(
      `${service.url}/explorer?${list}#/${list}?search=${encodeURIComponent('🛸🛸🛸')}&sort=asc`,
    );
    await page.until(`${next} !== null`);
    await page.evaluate(`${next}.click()`);
    await page.until(`document.querySelector('main .note')?.innerText === 'Nothing is found.'`);
    t.strictSame(page.problems, []);
  }
});

t.test(
  'a count that goes no further than a reader looks',
  { skip: withoutBrowser, timeout: 240_000 },
  async (t) => {
    // Made rows lack some fields that the explorer shows.
    await db.query(
      `UPDATE txs SET message = CASE type WHEN 4 THEN message END, body = body || '{"amount": 1}'`,
    );
    const counts: string[] = [];
    const recording: Database = {
      ...db,
      query(sql, values, signal) {
        if (sql.includes('count(*)')) counts.push(sql);
        return db.query(sql, values, signal);
      },
    };
    const reading = { ...recording, reading: recording, close: async () => undefined };
    const service = await served(t, 'http://127.0.0.1:9', async () => reading, {
      crawl: undefined,
    });
    while ((await service.get('/blocks')).status !== 200) await new Promise(setImmediate);
    const page = await openPage(
      t,
      `${service.url}/explorer#/search?search=${KNOWN.frequentText}&scope=in_description`,
    );
    const count = `document.querySelector('main [role=status]')?.innerText`;
    await page.until(`![undefined, 'counting…'].includes(${count})`);
    // A page waits for its count a few seconds, which may be too short here.
    t.match(await page.evaluate(count), /^(more than 10,000 transactions|too many to count)$/);
    t.match(counts.at(-1), /LIMIT 10001\b/);
  },
);
