/**
 * The REST interface on several threads: broadcasts, which a thread and the main thread share, keep
 * their rules. The conformance cases run with TEST_HTTP_THREADS (rest-cases.test.ts).
 */
import t, { type Test } from 'tap';
import { request } from 'undici';
import { httpListener, native } from '../../src/adapters/http/listener.ts';
import { processReadings } from '../../src/adapters/process-readings.ts';
import { servePrometheus } from '../../src/adapters/prometheus.ts';
import { base58 } from '../../src/base/base58.ts';
import type { JsonObject } from '../../src/base/json/json.ts';
import { createHttpThreads } from '../../src/cli/workers/http-threads.ts';
import type { NodePorts } from '../../src/node/node-ports.ts';
import { signedBytes } from '../../src/tx/assemble.ts';
import { txToJson } from '../../src/tx/json/encode.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { wholeNode } from './in-process.ts';

const skip = native === undefined && 'without the addon of uWebSockets.js there are no threads';

async function served(t: Test, telemetry?: NodePorts['telemetry']) {
  const whole = await wholeNode(t, {
    http: httpListener,
    around: (ports) => ({
      ...ports,
      telemetry,
      restHttp: createHttpThreads(2, ports.requestStop),
    }),
  });
  const url = `http://127.0.0.1:${whole.node.rest!.port}/transactions/broadcast`;
  const post = async (body: string) => {
    const answer = await request(url, { method: 'POST', body });
    const text = await answer.body.text();
    return { status: answer.statusCode, text, json: JSON.parse(text) as Record<string, unknown> };
  };
  const jsonOf = (tx: Tx): JsonObject => txToJson(tx, whole.scheme);
  return { whole, post, jsonOf };
}

t.test('a broadcast keeps its rules', { skip }, async (t) => {
  const { whole, post, jsonOf } = await served(t);
  const { node, accounts, records } = whole;
  const [owner, other] = accounts;
  const tx = whole.transfer(owner, other, 5);
  const text = JSON.stringify(jsonOf(tx));
  const first = await post(text);
  t.equal(first.status, 200, first.text);
  t.strictSame(first.json, JSON.parse(text));
  t.strictSame(node.pool.entry(tx.id)?.bytes, tx.bytes);
  t.strictSame(records.list.at(-1), tx.bytes, 'it is on disk');
  t.equal((await post(text)).text, first.text, 'sent again, answered again');

  const signature = whole.family.sign(
    owner.privateKey,
    signedBytes(tx),
    whole.node.services.random,
  );
  const copy = { ...jsonOf(tx), proofs: [base58.encode(signature)] };
  t.equal((await post(JSON.stringify(copy))).text, first.text, 'the first proofs stay');

  const wrong = { ...jsonOf(whole.transfer(owner, other, 6)), proofs: [base58.encode(signature)] };
  const refused = await post(JSON.stringify(wrong));
  t.equal(refused.status, 400);
  t.match(refused.json, { error: 112, tx: { amount: 6 } });
  const poor = await post(JSON.stringify(jsonOf(whole.transfer(other, owner, 10n ** 17n))));
  t.match([poor.status, poor.json], [400, { error: 112, tx: { type: 4 } }]);
  t.match((await post('{"type":4')).json, { error: 1 });
  t.match((await post('{"type":4}')).json, { error: 1, validationErrors: {} });
  t.match((await post('{"type":77,"version":1}')).status, 400);
  t.equal(node.pool.size(), 1);
});

t.test('many at once are each answered with their own transaction', { skip }, async (t) => {
  const { whole, post, jsonOf } = await served(t);
  const [owner, other] = whole.accounts;
  const sent = Array.from({ length: 100 }, (_, i) => whole.transfer(owner, other, i + 1));
  const answers = await Promise.all(sent.map((tx) => post(JSON.stringify(jsonOf(tx)))));
  t.strictSame(
    answers.map(({ json }) => json['id']),
    sent.map(({ id }) => base58.encode(id)),
  );
  t.equal(whole.node.pool.size(), 100);
});

t.test('metrics show how late the timers of each thread are', { skip }, async (t) => {
  const { port, metrics, close } = await servePrometheus({ host: '127.0.0.1', port: 0 });
  t.teardown(close);
  await served(t, { metrics, process: processReadings() });
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  for (const labels of ['thread="1",quantile="0.99"', 'thread="2",quantile="1"']) {
    t.match(text, new RegExp(`^node_http_thread_delay_seconds{${labels}} [0-9.e-]+$`, 'm'));
  }
  t.notMatch(text, 'thread="3"');
});

t.test('the script of an account judges, whatever the thread has found', { skip }, async (t) => {
  const { whole, post, jsonOf } = await served(t);
  const from = whole.accounts[1];
  const about = { name: 'open', description: '', script: 'base64:AQa3b8tH' };
  await whole.send(from, { type: 13, version: 1, fee: 50_000_000, ...about });
  await whole.mine();
  const unsigned = whole.transfer(from, whole.accounts[0], 1, { fee: 1_400_000 });
  const answer = await post(JSON.stringify({ ...jsonOf(unsigned), proofs: [] }));
  t.equal(answer.status, 200, answer.text);
  t.strictSame(answer.json['proofs'], []);
});

t.test('a thread tells a program of this machine from a page', { skip }, async (t) => {
  const { whole } = await served(t);
  const url = `http://127.0.0.1:${whole.node.rest!.port}/utils/reload-wallet`;
  const ask = async (headers: Record<string, string>): Promise<number> => {
    const answer = await request(url, { method: 'POST', headers });
    await answer.body.dump();
    return answer.statusCode;
  };
  t.equal(await ask({}), 200);
  t.equal(await ask({ origin: 'http://127.0.0.1' }), 403);
  t.equal(await ask({ host: 'evil.example' }), 403);
});
