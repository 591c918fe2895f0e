// Clients whose JSON parser rounds long integers get amounts as texts.
import t from 'tap';
import { httpListener } from '../../src/adapters/http/listener.ts';
import { isObject, parse, stringify } from '../../src/base/json/json.ts';
import { Answer, JSON_TYPE } from '../../src/rest-framework/answer.ts';
import { listOf, streamed } from '../../src/rest-framework/json-chunks.ts';
import {
  asksForQuotes,
  quotedLater,
  quotedReply,
} from '../../src/rest-framework/quoted-amounts.ts';
import { txToJson } from '../../src/tx/json/encode.ts';
import { withHttpThreads } from '../http-threads.ts';
import { populated } from '../node/populated.ts';
import { everyRoute } from '../rest/fixtures/every-route.ts';
import { targetOf } from '../rest/fixtures/interface.ts';
import { call } from '../rest-cases/runner.ts';

const TYPE = 'application/json;large-significand-format=string';

t.test('how clients ask for it', async (t) => {
  const asking = [
    TYPE,
    'application/json; large-significand-format=string',
    'text/html, application/json;large-significand-format=string;q=0.9, */*',
    'application/json;large-significand-format="string"',
  ];
  for (const accept of asking) t.ok(asksForQuotes(accept), accept);
  for (const accept of ['', 'application/json', 'application/json;large-significand-format=number'])
    t.notOk(asksForQuotes(accept), accept);
});

t.test('amounts, and nothing else', async (t) => {
  const quoted = (json: string) => quotedReply(new Answer(200, JSON_TYPE, json)).body;
  t.equal(
    quoted('{"amount":9007199254740993,"fee":-1}'),
    '{"amount":"9007199254740993","fee":"-1"}',
  );
  const same = [
    '{"timestamp":1,"height":2,"decimals":8,"version":2,"complexity":3}',
    '{"value":true,"price":null,"amount":"5","balance":1.5}',
    stringify({ a: '{"amount":5}', b: ',"fee":1', 'x{"amount': 5, '\\,"fee': 7 }),
    stringify(['{', 'amount', ',', 'fee']),
  ];
  for (const json of same) t.equal(quoted(json), json);
  const page = new Answer(200, 'text/plain', '{"amount":5}');
  t.equal(quotedReply(page), page);
});

t.test('chunks', async (t) => {
  const { make } = quotedLater(
    streamed(() => listOf([{ amount: 1 }, undefined, { fee: 2 }], (a) => a)),
  );
  t.strictSame([...make(undefined)], ['[{"amount":"1"}', undefined, ',{"fee":"2"}', ']']);
});

t.test('every answer of a node', async (t) => {
  const of = await populated(t, { http: httpListener, around: withHttpThreads });
  const url = `http://127.0.0.1:${of.node.rest!.port}`;
  const texts = new Set<string>();
  for (const [name, calls] of Object.entries(await everyRoute(of))) {
    const [method, pattern] = name.split(' ') as [string, string];
    if (method !== 'GET' || pattern === '/events') continue;
    for (const { path = {}, query = '' } of calls) {
      const target = url + targetOf(pattern, path) + query;
      const key = pattern.startsWith('/privacy') ? of.privacyApiKey : of.apiKey;
      const plain = await call('GET', target, { 'X-API-Key': key }, undefined);
      const answer = await call('GET', target, { 'X-API-Key': key, Accept: TYPE }, undefined);
      t.equal(answer.headers['content-type'], TYPE, target);
      compare(parse(plain.text), parse(answer.text), name);
    }
  }
  function compare(plain: unknown, quoted: unknown, at: string): void {
    if (Array.isArray(plain)) {
      for (const [i, item] of plain.entries()) compare(item, (quoted as unknown[])[i], at);
    } else if (isObject(plain)) {
      for (const [key, value] of Object.entries(plain))
        compare(value, (quoted as Record<string, unknown>)[key], key);
    } else if (typeof quoted === 'string' && typeof plain !== 'string') {
      t.equal(quoted, String(plain), at);
      texts.add(at.length > 30 ? 'of an address' : at);
    }
    // Others change with time or are the same.
    else t.equal(typeof quoted, typeof plain, at);
  }
  t.strictSame([...texts].sort(), [
    'amount',
    'available',
    'balance',
    'buyMatcherFee',
    'effective',
    'fee',
    'generating',
    'matcherFee',
    'minSponsoredAssetFee',
    'of an address',
    'price',
    'quantity',
    'regular',
    'sellMatcherFee',
    'sponsorBalance',
    'totalAmount',
    'value',
  ]);

  const [owner, one] = of.accounts;
  const broadcast = async (tx: unknown) => {
    const headers = { Accept: TYPE, 'Content-Type': TYPE };
    const answer = await call('POST', `${url}/transactions/broadcast`, headers, stringify(tx));
    return { status: answer.status, json: JSON.parse(answer.text) };
  };
  const good = txToJson(of.transfer(owner, one, 77), of.scheme);
  t.match(await broadcast(good), { status: 200, json: { amount: '77', fee: '1000000' } });
  const most = txToJson(of.transfer(one, owner, 9_000_000_000_000_000), of.scheme);
  t.match(await broadcast(most), { status: 200, json: { amount: '9000000000000000' } });
  const dear = txToJson(of.transfer(one, owner, 8_000_000_000_000_000), of.scheme);
  const tx = { amount: '8000000000000000', fee: '1000000' };
  t.match(await broadcast(dear), { status: 400, json: { error: 112, tx } });
});
