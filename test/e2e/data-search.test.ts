/** The explorer of the data service, in a real browser, over more rows than one page compares. */
import t from 'tap';
import { migrate } from '../../src/data-service/schema/migrate.ts';
import { makeRows } from '../data-service/made-rows.ts';
import { served } from '../data-service/served.ts';
import { memoryDatabase } from '../data-service/stores.ts';
import { leftOut } from '../left-out.ts';
import { chromium, openPage } from './browser.ts';

const skip = chromium === undefined && leftOut('this machine has no Chromium');
const TXS = 70_000;
const ASSETS = 20_001;
const ROCKETS = encodeURIComponent('🚀🚀🚀');

t.test('a text that no index knows', { skip, timeout: 240_000 }, async (t) => {
  const db = await memoryDatabase();
  t.teardown(() => db.close());
  await migrate(db, { indexText: true });
  await makeRows(db, TXS);
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
