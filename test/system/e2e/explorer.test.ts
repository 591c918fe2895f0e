// The explorer in a real browser, on a real node: its pages, its keys and its messages.
import t, { type Test } from 'tap';
import { goTo, openPage, type PageOptions, withoutBrowser } from './browser.ts';
import { startDevNode } from './dev-node.ts';
import { keepPicture } from './pictures.ts';

const MOST = 9_223_372_036_854_775_807n;
/** With the fee on top it must not exceed 64 bits. */
const SENT = MOST - 2_000_000_000n;
const MARKUP = '<script>document.title = "broken"</script>';

t.test('the explorer', { skip: withoutBrowser, timeout: 240_000 }, async (t) => {
  const node = await startDevNode(t);
  const { rest } = node;
  const [owner, other] = node.accounts.map(({ address }) => address);
  async function send(fields: object) {
    const signed = await rest.sign({ sender: owner, fee: 1_000_000_000, version: 2, ...fields });
    await rest.broadcast(signed);
    return await rest.mined(signed['id']);
  }
  const gold = await send({
    type: 3,
    name: 'GoldBar',
    description: MARKUP,
    quantity: MOST,
    decimals: 8,
    reissuable: true,
  });
  const assetId = String(gold['id']);
  const transfer = await send({ type: 4, recipient: other, amount: SENT, assetId });
  await send({ type: 10, alias: 'the.owner' });
  const data = [{ key: 'most', type: 'integer', value: MOST }];
  await send({ type: 12, version: 1, author: owner, data });

  const page = await openPage(t, `${rest.url}/explorer`);
  const go = (hash: string) => goTo(page, hash);

  await t.test('the overview follows the chain', async (t) => {
    t.match(await page.evaluate('document.title'), 'Overview · platform-node');
    const text = await page.text();
    for (const part of ['Height', 'In the pool', 'PoA', 'Newest blocks', 'Queue of miners']) {
      t.match(text, part);
    }
    await keepPicture(page, 'overview');
    t.match(text, owner, 'the miner is in the queue');
    const newest = `Number(document.querySelector('tbody a').textContent)`;
    const before = await page.evaluate<number>(newest);
    await page.until(`${newest} >= ${before + 2}`);
    const heights = await page.evaluate<string[]>(
      `[...document.querySelectorAll('tbody tr td:first-child')].map((cell) => cell.textContent)`,
    );
    const top = Number(heights[0]);
    t.strictSame(
      heights,
      heights.map((_, i) => String(top - i)),
      'without a gap and without one twice',
    );
  });

  await t.test('no digit of an amount is lost', async (t) => {
    await go(`#/asset/${assetId}`);
    const asset = await page.text();
    t.match(asset, '92,233,720,368.54775807');
    await keepPicture(page, 'asset');
    t.match(asset, MARKUP, 'what the chain says stays text');
    await page.evaluate(`document.querySelector('main button').click()`);
    await page.until(`document.body.innerText.includes('92,233,720,348.54775807')`);
    t.match(await page.evaluate('document.title'), 'Asset GoldBar');

    await go(`#/tx/${String(transfer['id'])}`);
    await page.until(`document.querySelector('main').innerText.includes('348.54775807 GoldBar')`);
    await page.evaluate(`document.querySelector('details').open = true`);
    await page.until(`document.querySelector('pre').textContent.includes('${SENT}')`);

    await go(`#/address/${owner}`);
    const address = await page.text();
    for (const part of ['permissioner', 'the.owner', String(MOST), 'GoldBar']) {
      t.match(address, part);
    }
  });

  await t.test('blocks, pool and network', async (t) => {
    await go(`#/block/${String(gold['height'])}`);
    t.match(await page.text(), `${assetId.slice(0, 8)}…`);
    await go('#/block/1');
    t.match(await page.text(), /Block 1\n[\s\S]*Genesis/);
    await go('#/blocks');
    t.match(await page.evaluate('document.title'), 'Blocks');
    await go('#/pool');
    t.match(await page.text(), /The pool is empty|wait for a block/);
    await go('#/network');
    t.match(await page.text(), /Participants[\s\S]*contract_developer[\s\S]*Features[\s\S]*Fees/);
  });

  await t.test('search leads everywhere, from the keyboard', async (t) => {
    const block = (await rest.get('/blocks/at/2')).body as { signature: string };
    const targets: readonly [text: string, hash: string][] = [
      ['2', '#/block/2'],
      [block.signature, `#/block/${block.signature}`],
      [String(transfer['id']), `#/tx/${String(transfer['id'])}`],
      [assetId, `#/asset/${assetId}`],
      [String(other), `#/address/${String(other)}`],
      ['the.owner', `#/address/${owner}`],
      ['alias:T:the.owner', `#/address/${owner}`],
    ];
    for (const [text, hash] of targets) {
      await go('#/');
      await page.press('/');
      await page.type(text);
      await page.press('Enter');
      await page.until(`location.hash === ${JSON.stringify(hash)}`);
      await page.until(`document.querySelector('main[aria-busy]') === null`);
      t.notMatch(await page.text(), /Not found|did not work/, text);
      t.equal(await page.evaluate('document.activeElement.tagName'), 'H1', 'the page has focus');
    }
    await page.press('/');
    await page.type('nobody has this name');
    await page.press('Enter');
    await page.until(`document.querySelector('[role=alert]') !== null`);
    t.match(await page.text(), 'Nothing is called “nobody has this name”.');
  });

  await t.test('it fits on a phone, in light and in dark', async (t) => {
    const seen = new Set<string>();
    for (const dark of [false, true]) {
      const options: PageOptions = { width: 360, dark };
      const phone = await openPage(t, `${rest.url}/explorer`, options);
      for (const hash of ['#/', `#/address/${owner}`, `#/tx/${assetId}`, '#/network', '#/blocks']) {
        await goTo(phone, hash);
        const hidden =
          'document.documentElement.scrollWidth - document.documentElement.clientWidth';
        t.equal(await phone.evaluate(hidden), 0, `${hash} has nothing to scroll sideways`);
      }
      seen.add(await phone.evaluate('getComputedStyle(document.body).backgroundColor'));
      t.strictSame(phone.problems, []);
    }
    t.equal(seen.size, 2, 'two colours of paper');
  });

  await t.test('a node that is gone is told of', async (t) => {
    t.strictSame(page.problems, [], 'until here no exception, and nothing blocked');
    await node.stop();
    await page.until(`document.getElementById('live').className === 'off'`);
    await page.evaluate(`location.hash = '#/network'`);
    await page.until(`document.querySelector('[role=alert]') !== null`);
    t.match(await page.text(), /The node does not answer[\s\S]*Try again/);
  });
});

t.test('a page of an unknown name', { skip: withoutBrowser, timeout: 120_000 }, async (t: Test) => {
  const { rest } = await startDevNode(t);
  const page = await openPage(t, `${rest.url}/explorer/#/nonsense`);
  t.match(await page.text(), 'There is no such page.');
  t.match(await page.evaluate('location.pathname'), '/explorer');
});
