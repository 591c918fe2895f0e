/**
 * GET /events of a node with objects of every kind: each filter tells what the lists of the node say,
 * a client goes on where it was, and who may not listen is refused.
 */
import t, { type Test } from 'tap';
import { httpListener, native } from '../../src/adapters/http/listener.ts';
import { base58 } from '../../src/base/base58.ts';
import { createHttpThreads } from '../../src/cli/workers/http-threads.ts';
import { eventClient, type StreamEvent } from '../data-service/stream/event-client.ts';
import { http, isNodeListener } from '../http-listener.ts';
import { withHttpThreads } from '../http-threads.ts';
import { ROUND_MS } from './in-process.ts';
import { populated } from './populated.ts';

type Json = Record<string, unknown>;

async function served(t: Test, set: readonly string[] = []) {
  const of = await populated(t, {
    http: isNodeListener ? http : httpListener,
    around: withHttpThreads,
    set,
  });
  return { of, url: `http://127.0.0.1:${of.node.rest!.port}` };
}

async function history(
  url: string,
  query: string,
  headers: Json = {},
): Promise<readonly StreamEvent[]> {
  const answer = await fetch(`${url}/events?follow=false&from=1&${query}`, {
    headers: headers as Record<string, string>,
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(text);
  const events = text.split('\n\n').flatMap((part) => {
    const data = /^data: (.*)$/m.exec(part)?.[1];
    const type = /^event: (\w+)$/m.exec(part)?.[1] ?? '';
    return data === undefined ? [] : [{ type, data: JSON.parse(data) as Json }];
  });
  const { type, data } = events.pop()!;
  if (type !== 'end' || data['reason'] !== 'end') throw new Error(text.slice(-500));
  return events;
}

const of = (events: readonly StreamEvent[], kind: string): Json[] =>
  events.filter(({ type }) => type === kind).map(({ data }) => data);
const idsOf = (txs: readonly Json[]): unknown[] => txs.map(({ id }) => id);

t.test('each filter', async (t) => {
  const { of: node, url } = await served(t);
  const get = async (path: string): Promise<Json & Json[]> =>
    (await fetch(url + path)).json() as never;
  const { height } = await get('/blocks/height');
  const blocks = (await get(`/blocks/seq/1/${height}`)) as readonly Json[];
  const all: readonly Json[] = blocks.flatMap(({ transactions, height }) =>
    (transactions as Json[]).map((tx) => ({ ...tx, height })),
  );
  const whole = await history(url, '');
  t.strictSame(of(whole, 'transaction'), all, 'as in the blocks');
  t.strictSame(
    of(whole, 'block'),
    blocks.map(({ transactions: _transactions, final: _final, ...header }) => header),
    'as their headers; what is final has events of its own',
  );
  t.same(whole.map(({ type }) => type).slice(-1), ['block'], 'a block comes after what is in it');
  const [results] = of(whole, 'contractResult');
  t.match(results, {
    txType: 103,
    contractId: node.ids.contract,
    results: [{ key: 'sum', value: 5 }],
  });

  t.strictSame(of(await history(url, 'kinds=block'), 'transaction'), []);
  const only = async (query: string) =>
    of(await history(url, `kinds=transaction&${query}`), 'transaction');
  const expected = (fits: (tx: Json) => boolean) => idsOf(all.filter(fits));
  t.strictSame(
    idsOf(await only('type=4,12')),
    expected(({ type }) => type === 4 || type === 12),
  );
  t.strictSame(
    idsOf(await only('type=104')),
    expected(({ tx }) => (tx as Json | undefined)?.['type'] === 104),
  );
  const { text: one } = node.accounts[1];
  const ofOne = (await get(`/transactions/address/${one}/limit/100`))[0] as unknown as Json[];
  t.strictSame(idsOf(await only(`address=${one}`)), idsOf(ofOne.toReversed()));
  t.ok(ofOne.length > 3);
  const { asset, contract } = node.ids;
  const moved = all.filter(
    (tx) => JSON.stringify(tx).includes(asset) && tx['feeAssetId'] !== asset,
  );
  t.strictSame(idsOf(await only(`asset=${asset}`)), idsOf(moved));
  t.strictSame(
    (await only(`contract=${contract}`)).map(({ type }) => type),
    [105, 105, 106],
  );
  const called = await history(url, `kinds=contractResult&contract=${contract}`);
  t.strictSame(
    called.map(({ data }) => data['txId']),
    [contract, node.ids.call],
  );
  t.strictSame(
    idsOf(await only(`address=${one}&type=4`)),
    idsOf(ofOne.toReversed().filter(({ type }) => type === 4)),
    'filters narrow each other',
  );
  t.strictSame(await only(`contract=${asset}`), []);
});

t.test('confidential data, with their key alone', async (t) => {
  const { of: node, url } = await served(t);
  const without = await fetch(`${url}/events?kinds=policyData&follow=false`);
  t.equal(without.status, 403);
  const headers = { 'x-api-key': node.privacyApiKey };
  const items = await history(url, 'kinds=policyData', headers);
  t.match(items, [{ type: 'policyData', data: { policyId: node.ids.policy } }]);
  t.equal(items.length, 1);
  const behind = (arrival: number) =>
    history(url, `kinds=policyData&lastEventId=0.b.${arrival}.`, headers);
  t.strictSame(await behind(1), []);
  t.strictSame(await behind(2), items, 'what this node has not counted is of another node');
  const ids = async (query: string) =>
    (await (await fetch(`${url}/events?follow=false&${query}`, { headers })).text()).match(
      /^id: .*$/gm,
    );
  t.match(await ids('kinds=policyData'), [/^id: \d+\.b\.1\./]);
  const others = [...((await ids('')) ?? []), ...((await ids('lastEventId=0.b.1.')) ?? [])];
  t.ok(others.length > 1);
  t.ok(
    others.every((id) => /^id: \d+\.(b|\d+)\.0\./.test(id)),
    'other ids do not count them',
  );
});

t.test('confidential data, whose key is taken back', async (t) => {
  const { of: node, url } = await served(t);
  const headers = { 'x-api-key': node.privacyApiKey };
  // Where the time jumps, a client that has not taken what is on its way looks slow.
  await node.clock.advance(ROUND_MS);
  const kinds = 'kinds=policyData,block';
  const secret = await eventClient(t, `${url}/events?${kinds}`, '0.b.0.', headers);
  const open = await eventClient(t, `${url}/events?kinds=block`, '', headers);
  const told = await history(url, kinds, headers);
  await secret.until((events) => events.length === told.length);
  const nobody = { apiKeyHash: undefined, privacyApiKeyHash: undefined, apiKeys: [] };
  node.node.services.keys.replace(nobody);
  await node.produceBlock();
  await secret.until((events) => events.some(({ type }) => type === 'end'));
  const since = secret.events.slice(told.length);
  t.match(since, [{ type: 'end', data: { reason: 'key' } }], 'nothing more');
  await open.until((events) => events.some(({ type }) => type === 'block'));
});

t.test('a client goes on behind its last event, over a restart of the node', async (t) => {
  const { of: node, url } = await served(t);
  const [owner, one] = node.accounts;
  const sent = node.transfer(owner, one, 1);
  await node.node.pool.submit(sent);
  // Where the time jumps, a client that has not taken what is on its way looks slow.
  await node.clock.advance(ROUND_MS);
  const first = await eventClient(t, `${url}/events?kinds=transaction,block`);
  await node.produceBlock();
  await first.until((events) => events.some(({ type }) => type === 'block'));
  const id = base58.encode(sent.id);
  t.ok(idsOf(of(first.events, 'transaction')).includes(id), 'what comes is told');
  await first.close();
  await node.clock.advance(ROUND_MS);
  await node.produceBlock();
  await node.node.blockchain.rollback(node.node.blockchain.tip().height - 2);
  const again = await node.restart();
  const other = `http://127.0.0.1:${again.node.rest!.port}`;
  await again.clock.advance(ROUND_MS);
  const next = await eventClient(t, `${other}/events?kinds=transaction,block`, first.lastId());
  t.strictSame(next.events, [], 'it waits for the block');
  await again.produceBlock();
  await next.until((events) => events.some(({ type }) => type === 'rollback'));
  t.match(next.events[0], { type: 'rollback' });
  t.ok(Number(next.events[0]!.data['height']) <= again.node.blockchain.tip().height);
  const answer = await fetch(`${other}/events?lastEventId=1.b.0.AAAAAAAAAAAAAAAA`);
  t.match(await answer.text(), /"reason":"place"/, 'another chain: it begins anew');
});

t.test('refusals', async (t) => {
  const { url } = await served(t, ['rest-api.max-event-streams-per-client=2']);
  for (const query of ['kinds=none', 'type=x', 'address=x', 'asset=0', 'from=0', 'lastEventId=x']) {
    t.equal((await fetch(`${url}/events?${query}`)).status, 400, query);
  }
  const mark = 'A'.repeat(16);
  for (const id of [`9999999999.b.0.${mark}`, `4294967296.b.0.${mark}`, '1.4294967297.0.']) {
    t.equal((await fetch(`${url}/events?lastEventId=${id}`)).status, 400, id);
    const headers = { 'last-event-id': id };
    t.equal((await fetch(`${url}/events`, { headers })).status, 400, `${id} as a header`);
  }
  const many = Array.from({ length: 101 }, () => '4').join(',');
  t.equal((await fetch(`${url}/events?type=${many}`)).status, 400);
  const open = [await eventClient(t, `${url}/events`), await eventClient(t, `${url}/events`)];
  t.equal((await fetch(`${url}/events`)).status, 503);
  await open[0]!.close();
  let status = 503;
  while (status === 503) ({ status } = await eventClient(t, `${url}/events`));
  t.equal(status, 200, 'a place came back');
});

const skip = native === undefined && 'without the addon of uWebSockets.js there are no threads';
t.test('through the threads that hold connections', { skip }, async (t) => {
  const of = await populated(t, {
    http: httpListener,
    around: (ports) => ({ ...ports, restHttp: createHttpThreads(2, ports.requestStop) }),
  });
  const url = `http://127.0.0.1:${of.node.rest!.port}`;
  t.ok((await history(url, '')).length > 20);
  await of.clock.advance(ROUND_MS);
  const clients = await Promise.all(
    Array.from({ length: 8 }, () => eventClient(t, `${url}/events?kinds=block`)),
  );
  await of.produceBlock();
  for (const client of clients) await client.until((events) => events.length === 1);
  await Promise.all(clients.map(({ close }) => close()));
  const last = await eventClient(t, `${url}/events?kinds=block`);
  await of.stop();
  await last.ended;
  t.match(last.events, [{ type: 'end', data: { reason: 'stopping' } }]);
});
