// The explorer's pages of contracts in a real browser, on a node in this process whose chain has a
// contract with calls and failures.
import t, { type Test } from 'tap';
import { httpListener } from '../../../src/adapters/http/listener.ts';
import { base58 } from '../../../src/base/base58.ts';
import { readPages } from '../../../src/cli/page-files.ts';
import { createApi } from '../../../src/rest/api.ts';
import { txToJson } from '../../../src/tx/json/encode.ts';
import { ROUND_MS, type TxFields, wholeNode } from '../../node/in-process.ts';
import { openPage, type Page, withoutBrowser } from './browser.ts';
import { keepPicture } from './pictures.ts';

const IMAGE = { image: 'registry.example/sum:1', imageHash: 'ab'.repeat(32) };
const MARKUP = '<img src=x onerror="document.title = 1">';
const CALLS = 30;

/** A contract that was called, updated, called in vain, and whose next call waits. */
async function chain(t: Test) {
  const whole = await wholeNode(t, { set: ['miner.enable=no'], genesisTime: Date.now() - 600_000 });
  const [owner] = whole.accounts;
  const { node, clock } = whole;
  async function execute(results: object[], ...list: readonly TxFields[]): Promise<string[]> {
    const txs = list.map((fields) => whole.make(owner, fields));
    await clock.advance(ROUND_MS);
    await whole.produceBlock(
      ...txs.map((tx) =>
        whole.make(owner, { type: 105, tx: txToJson(tx, whole.scheme), results, fee: 0 }),
      ),
    );
    return txs.map(({ id }) => base58.encode(id));
  }
  const entry = (key: string, value: string) => ({ key, type: 'string', value });
  const creation = { type: 103, ...IMAGE, contractName: 'sum of all', params: [entry('a', 'b')] };
  const [contractId] = (await execute([entry('sum', '0')], creation)) as [string];
  const call = (version: number, text: string): TxFields => ({
    ...{ type: 104, version: 2, contractId, contractVersion: version },
    params: [entry('add', text)],
  });
  const calls = Array.from({ length: CALLS }, (_, i) => call(1, `number ${i}`));
  const [first] = (await execute([entry('sum', '435'), entry('note', MARKUP)], ...calls)) as [
    string,
  ];
  await execute([], { type: 107, contractId, ...IMAGE, image: 'registry.example/sum:2' });
  const failed = whole.make(owner, call(2, 'too much'));
  const waiting = await whole.send(owner, call(2, 'in time'));
  const about = { txId: failed.id, contractId: base58.decode(contractId)! };
  node.statuses.report({ ...about, status: 'Error', code: 3, message: `no funds ${MARKUP}` });
  await clock.advance(10);
  const server = await httpListener.listen(createApi(node.services, readPages()), {
    host: '127.0.0.1',
    port: 0,
    cors: false,
  });
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${server.port}/explorer`;
  return {
    url,
    contractId,
    first,
    failed: base58.encode(failed.id),
    waiting: base58.encode(waiting.id),
  };
}

t.test('contracts in the explorer', { skip: withoutBrowser, timeout: 240_000 }, async (t) => {
  const { url, contractId, first, failed, waiting } = await chain(t);
  const page = await openPage(t, url);
  const go = (hash: string) => goTo(page, hash);

  await t.test('the list leads to a contract, from the keyboard', async (t) => {
    await go('#/contracts');
    const text = await page.text();
    for (const part of ['1 contract on this chain', 'registry.example/sum:2', 'active']) {
      t.match(text, part);
    }
    t.equal(
      await page.evaluate(`document.querySelector('nav [aria-current]').textContent`),
      'Contracts',
    );
    await page.evaluate(`document.querySelector('tbody a').focus()`);
    await page.press('Enter');
    await page.until(`location.hash === '#/contract/${contractId}'`);
    await page.until(`document.activeElement.tagName === 'H1'`);
  });

  await t.test('image, versions, state, calls, failures and what waits', async (t) => {
    await go(`#/contract/${contractId}`);
    t.match(await page.evaluate('document.title'), 'Contract sum of all');
    const text = await page.text();
    for (const part of [
      'registry.example/sum:2',
      'registry.example/sum:1',
      IMAGE.imageHash,
      'Contract update',
      'New contract',
      '435',
      MARKUP,
      `add = number ${CALLS - 1}`,
      'sum = 435',
      'no funds',
      'add = in time',
    ]) {
      t.match(text, part, part);
    }
    await keepPicture(page, 'contract');
    t.notMatch(text, 'add = number 0\n', 'the list begins with the newest');
    await page.evaluate(`[...document.querySelectorAll('main button')].at(-1).click()`);
    await page.until(`document.querySelector('main').innerText.includes('add = number 0')`);
  });

  await t.test('transactions lead to their contract and their outcome', async (t) => {
    await go(`#/tx/${first}`);
    await page.until(`document.querySelector('h1').textContent === 'Contract result'`);
    const executed = await page.text();
    t.match(executed, /Contract call[\s\S]*number 0[\s\S]*/);
    const links = `[...document.querySelectorAll('main a')].map((a) => a.getAttribute('href'))`;
    t.ok((await page.evaluate<string[]>(links)).includes(`#/contract/${contractId}`));

    await go(`#/tx/${failed}`);
    t.match(await page.text(), /Outcome[\s\S]*Error[\s\S]*3[\s\S]*no funds <img/);
    await go(`#/tx/${waiting}`);
    t.match(await page.text(), /Contract call[\s\S]*in the pool[\s\S]*in time/);
    await go('#/block/3');
    t.match(await page.text(), `Contract call ${contractId.slice(0, 8)}…`);
    await go(`#/contract/${first}`);
    t.match(await page.text(), 'There is no contract');

    await go('#/');
    await page.press('/');
    await page.type(contractId);
    await page.press('Enter');
    await page.until(`location.hash === '#/contract/${contractId}'`);
  });

  await t.test('they fit on a phone, in light and in dark', async (t) => {
    for (const dark of [false, true]) {
      const phone = await openPage(t, url, { width: 360, dark });
      for (const hash of ['#/contracts', `#/contract/${contractId}`, `#/tx/${failed}`]) {
        await goTo(phone, hash);
        const hidden =
          'document.documentElement.scrollWidth - document.documentElement.clientWidth';
        t.equal(await phone.evaluate(hidden), 0, `${hash} has nothing to scroll sideways`);
        await keepPicture(phone, `phone-${dark ? 'dark' : 'light'}-${hash.slice(2).split('/')[0]}`);
      }
      t.strictSame(phone.problems, []);
    }
  });
  t.strictSame(page.problems, [], 'no exception, and nothing blocked');
});

/** The page is marked as busy first, since it hears of the new place a moment later. */
async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate(
    `document.getElementById('main').setAttribute('aria-busy', 'true');
    location.hash = ${JSON.stringify(hash)}; dispatchEvent(new HashChangeEvent('hashchange'))`,
  );
  await page.until(`document.querySelector('main[aria-busy]') === null`);
}
