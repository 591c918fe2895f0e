// What the explorer says of a search that finds very much: its number is not counted to the end.
import t from 'tap';
import { migrate } from '../../../src/data-service/schema/migrate.ts';
import { madeChain } from '../../data-service/made-chain.ts';
import { madeNode } from '../../data-service/made-node.ts';
import { makeRows, TXS_PER_BLOCK } from '../../data-service/made-rows.ts';
import { served } from '../../data-service/served.ts';
import { memoryDatabase } from '../../data-service/stores.ts';
import { openPage, withoutBrowser } from './browser.ts';

const TXS = 30_000;

t.test(
  'a search that finds more than is counted',
  { skip: withoutBrowser, timeout: 120_000 },
  async (t) => {
    const db = await memoryDatabase();
    await migrate(db, { indexText: true });
    await makeRows(db, TXS);
    const node = await madeNode(
      t,
      () => madeChain({ seed: 'counts', txsPerBlock: 1, accounts: 2 }),
      {
        instead: (path) =>
          path === '/blocks/height'
            ? { status: 200, type: 'application/json', body: `{"height":${TXS / TXS_PER_BLOCK}}` }
            : undefined,
      },
    );
    const { url, get } = await served(t, node.url, async () => db);
    const { text } = await get('/transactions/count?type=102');
    const page = await openPage(t, `${url}/explorer#/search?type=4`);
    const says = (words: string): Promise<void> =>
      page.until(`document.querySelector('main [role=status]')?.innerText === '${words}'`);
    await says('more than 10,000 transactions');
    await page.evaluate(`location.hash = '#/search?type=102'`);
    await says(`${Number(JSON.parse(text).count).toLocaleString('en')} transactions`);
  },
);

t.test('the widest number beside a chart is seen whole', { skip: withoutBrowser }, async (t) => {
  const db = await memoryDatabase();
  await migrate(db, { indexText: true });
  const node = await madeNode(t, () => madeChain({ seed: 'charts', txsPerBlock: 1, accounts: 2 }));
  const { url } = await served(t, node.url, async () => db);
  const page = await openPage(t, `${url}/explorer`);
  const left = await page.evaluate<number>(`(async () => {
    const { bars } = await import('/explorer/data-svg.js');
    const chart = bars('Transactions', [{ label: 'a', value: 283_500, title: '' }]);
    document.querySelector('main').append(chart);
    const words = [...chart.querySelectorAll('text')].find((one) => one.textContent === '283.5K');
    return words.getBBox().x;
  })()`);
  t.ok(left >= 0, `it begins at ${left}`);
});
