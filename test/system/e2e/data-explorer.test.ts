/**
 * `platform-node dev` with its data service, as a person sees it: search, filters, charts and lists
 * in a real browser.
 */
import t from 'tap';
import { goTo, openPage, type Page, withoutBrowser } from './browser.ts';
import { startDevNode } from './dev-node.ts';
import { keepPicture } from './pictures.ts';

const keep = (page: Page, name: string) => keepPicture(page, `data-${name}`);

t.test('search in the explorer', { skip: withoutBrowser, timeout: 240_000 }, async (t) => {
  const node = await startDevNode(t, { data: true });
  const { rest } = node;
  const [owner, other] = node.accounts.map(({ address }) => address);
  async function send(fields: object): Promise<string> {
    const signed = await rest.sign({ sender: owner, fee: 1_000_000_000, version: 2, ...fields });
    await rest.broadcast(signed);
    await rest.mined(signed['id']);
    return String(signed['id']);
  }
  const asset = await send({
    type: 3,
    name: 'GoldBar',
    description: '<b>bars</b> of gold',
    quantity: 1_000_000,
    decimals: 2,
    reissuable: true,
  });
  const transfer = await send({ type: 4, recipient: other, amount: 4711, assetId: asset });
  await send({ type: 10, alias: 'the.owner' });
  const data = [{ key: 'invoice 7', type: 'string', value: 'paid' }];
  await send({ type: 12, version: 1, author: owner, data });
  const source = `match tx { case t: TransferTransaction => t.amount < 5
    case _ => sigVerify(tx.bodyBytes, tx.proofs[0], tx.senderPublicKey) }`;
  const compiled = await fetch(`${rest.url}/utils/script/compile`, {
    method: 'POST',
    body: source,
  });
  const { script } = (await compiled.json()) as { script: string };
  await send({ type: 13, version: 1, sender: other, script, name: 'guard', description: '' });
  if (!t.ok(node.data, 'the ready line names the data service')) return;
  const explorer = `${node.data}/explorer`;
  const lists = async (id: string): Promise<boolean> =>
    (await fetch(`${node.data}/transactions/id/${id}`)).status === 200;
  for (let waited = 0; !(await lists(transfer)) && waited < 300; waited++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const page = await openPage(t, `${explorer}#/search`);
  const first = `document.querySelector('main tbody')?.innerText ?? ''`;

  await t.test('a word leads to its transactions, from the keyboard', async (t) => {
    await page.press('/');
    await page.type('gold');
    await page.press('Enter');
    await page.until(`location.hash === '#/search?search=gold'`);
    await page.until(`(${first}).includes('GoldBar')`);
    t.equal(
      await page.evaluate('document.querySelectorAll("main b").length'),
      0,
      'text stays text',
    );
    await page.until(`document.querySelector('main [role=status]')?.innerText === '1 transaction'`);
    await keep(page, 'search');
    await goTo(page, '#/search?search=invoice');
    t.match(await page.evaluate(first), /Data/);
    await goTo(page, '#/search?search=4711&scope=in_sums');
    t.match(await page.evaluate(first), transfer.slice(0, 8));
  });

  await t.test('the keyboard reaches everything, and shows where it is', async (t) => {
    const focused = `(() => {
      const at = document.activeElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(at);
      const { top, left } = at.getBoundingClientRect();
      const isSeen = outlineStyle !== 'none' && outlineWidth !== '0px' && top >= 0 && left >= 0;
      return { name: at.labels?.[0]?.innerText || at.ariaLabel || at.innerText, isSeen };
    })()`;
    const tab = async () => {
      await page.press('Tab');
      const at = await page.evaluate<{ name: string; isSeen: boolean }>(focused);
      t.ok(at.isSeen, `the focus on '${at.name}' is seen`);
      return at.name;
    };
    await page.goto(explorer);
    t.equal(await tab(), 'To the content');
    await keep(page, 'skip-link');
    const header = ['Explorer', 'Blocks', 'Pool', 'Contracts', 'Network', 'Search', 'Users'];
    const rest = ['Assets', 'Charts', 'API', 'Search', 'Search'];
    for (const name of [...header, ...rest]) t.equal(await tab(), name);
    await page.goto(`${explorer}?from-the-start`);
    await tab();
    await page.press('Enter');
    await page.until(`document.activeElement.id === 'main'`);
    t.match(await tab(), /^\d+$/, 'past the links of the head, to the height');

    await goTo(page, '#/search');
    const names = new Set<string>();
    for (let i = 0; i < 20 && !names.has('Clear'); i++) names.add(await tab());
    const fields = ['Text', 'Where', 'Type', 'Asset', 'Amount from', 'Amount to', 'From day'];
    const more = ['To day', 'Sender', 'Participant', 'Order', 'Search', 'Clear'];
    t.strictSame([...names], [...fields, ...more], 'after the heading, field by field');
  });

  await t.test('filters are the address of the page', async (t) => {
    await goTo(page, '#/search?type=10');
    t.equal(await page.evaluate(`document.getElementById('filter-type').value`), '10');
    t.match(await page.evaluate(first), 'the.owner');
    await page.evaluate(`
      document.getElementById('filter-type').value = '3';
      document.querySelector('form.filters').requestSubmit()`);
    await page.until(`location.hash === '#/search?type=3'`);
    await page.until(`(${first}).includes('GoldBar')`);
    await goTo(page, '#/search?amountFrom=5&dateFrom=2026-01-01');
    const problems = await page.evaluate<string[]>(
      `[...document.querySelectorAll('[role=alert]')].map((one) => one.textContent)`,
    );
    t.strictSame(problems, ["requires exactly one 'type' and 'assetId'", "requires 'dateTo'"]);
    await keep(page, 'wrong-filters');
  });

  await t.test('downloads', async (t) => {
    await goTo(page, '#/search?type=4');
    await page.evaluate(`
      globalThis.saved = [];
      const make = URL.createObjectURL;
      URL.createObjectURL = (blob) => (blob.text().then((text) => saved.push(text)), make(blob))`);
    for (const [i, kind] of ['CSV', 'NDJSON'].entries()) {
      await page.evaluate(`[...document.querySelectorAll('.tools button')]
        .find((one) => one.textContent === '${kind}').click()`);
      await page.until(`saved.length === ${i + 1}`);
    }
    const [csv, ndjson] = await page.evaluate<[string, string]>('saved');
    t.match(csv, new RegExp(`^index,id,.*\\r\\n\\d+,${transfer},4,`));
    t.match(JSON.parse(ndjson), { id: transfer, amount: 4711 });
  });

  await t.test('users, assets, holders, charts, and the pages of the node', async (t) => {
    const shown: readonly [hash: string, text: RegExp][] = [
      ['#/users', /the\.owner/],
      ['#/users?search=the.ow', /permissioner/],
      ['#/assets', /GoldBar/],
      ['#/assets?search=of%20gold', /GoldBar/],
      [`#/holders/${asset}`, /Largest holders/],
      ['#/holders/NATIVE', /Largest holders/],
      ['#/charts', /Transactions[\s\S]*Types of transactions[\s\S]*Blocks of each miner/],
      ['#/', /Newest blocks/],
      ['#/blocks', /Blocks/],
      ['#/block/2', /Block 2/],
      [`#/tx/${transfer}`, /47\.11/],
      [`#/address/${owner}`, /the\.owner/],
      [`#/address/${other}`, /Script[\s\S]*TransferTransaction[\s\S]*Complexity/],
      [`#/asset/${asset}`, /GoldBar/],
      ['#/pool', /pool/i],
      ['#/contracts', /Contracts/],
      ['#/network', /Participants/],
    ];
    for (const [hash, text] of shown) {
      await goTo(page, hash);
      t.match(await page.text(), text, hash);
      t.notMatch(await page.text(), /The request failed|Not found/, hash);
      await keep(page, hash.replace(/[^a-z]+/gi, '-').slice(0, 20) || 'overview');
    }
    t.ok(await page.evaluate(`location.hash = '#/charts', true`));
  });

  await t.test('on a phone, in light and dark', async (t) => {
    for (const dark of [false, true]) {
      const phone = await openPage(t, `${explorer}#/search`, { width: 360, dark });
      for (const hash of ['#/search?type=4', '#/charts', '#/users', '#/assets']) {
        await goTo(phone, hash);
        const hidden =
          'document.documentElement.scrollWidth - document.documentElement.clientWidth';
        t.equal(await phone.evaluate(hidden), 0, `${hash} has nothing to scroll sideways`);
        await keep(phone, `phone-${dark ? 'dark' : 'light'}-${hash.slice(2, 8)}`);
      }
      t.strictSame(phone.problems, []);
    }
  });
  t.strictSame(page.problems, [], 'no exception, and nothing blocked');
});
