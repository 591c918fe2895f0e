// What the explorer shows of final blocks, in a real browser, on a node of `dev`.
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { openPage, withoutBrowser } from './browser.ts';
import { startDevNode } from './dev-node.ts';

t.test('final blocks', { skip: withoutBrowser, timeout: 240_000 }, async (t) => {
  const { rest, accounts } = await startDevNode(t);
  const finalHeight = async () =>
    ((await rest.get('/finality')).body as { finalHeight: number }).finalHeight;
  while ((await finalHeight()) < 9) await sleep(200);
  const page = await openPage(t, `${rest.url}/explorer`);
  const go = async (hash: string): Promise<string> => {
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await page.until(`document.querySelector('main[aria-busy]') === null`);
    return page.text();
  };
  await page.until(`document.querySelector('main').innerText.includes('Final block')`);
  const overview = await page.text();
  for (const part of ['below the last', 'Voters', accounts[0]!.address]) t.match(overview, part);
  const block = await go('#/block/8');
  t.match(block, /Final\s+final/);
  const blocks = await go('#/blocks');
  t.match(blocks, /Final/);
  t.ok(
    (await page.evaluate<number>(`document.querySelectorAll('tbody .badge').length`)) >= 8,
    'each final block has its mark',
  );
  t.strictSame(page.problems, []);
});
