// Details of balances, of one address and of many.
import t from 'tap';
import { parse } from '../../../src/base/json/json.ts';
import { exchangeJson } from '../fixtures/exchange-json.ts';
import { memoryNode } from '../fixtures/memory-node.ts';

const { url, get, accounts, serve, node } = await memoryNode(t);
const [first, second] = accounts;
const { settings } = node.services;

t.test('GET balance/details', async (t) => {
  const path = `/addresses/balance/details/${first.text}`;
  const one = (await get(path)).body as unknown as { address: string }[];
  t.equal(one[0]?.address, first.text);
  const body = JSON.stringify({ addresses: [second.text, 'bad'] });
  const json = { 'Content-Type': 'application/json' };
  const many = await exchangeJson('GET', url + path, json, body);
  const list = parse(many.text) as { address: string; error?: number }[];
  t.strictSame(
    list.map((item) => item.address),
    [second.text, 'bad'],
  );
  t.equal(list[1]?.error, 102);
  t.equal((await exchangeJson('GET', url + path, json, '{')).body['error'], 1);

  const sdk = await serve({ settings: { ...settings, sdkCompatible: true } });
  t.equal((await exchangeJson('GET', sdk + path)).body['address'], first.text, 'bare');
});
