// What a request to sign may leave out, and how the pool is listed.

import t from 'tap';
import { httpListener } from '../../../src/adapters/http/listener.ts';
import { txToJson } from '../../../src/tx/json/encode.ts';
import { ROUND_MS, type TxFields, wholeNode } from '../../node/in-process.ts';
import { restOf } from '../../system/e2e/rest.ts';

t.test('a call without a contract version gets the present one when signed', async (t) => {
  const whole = await wholeNode(t, { http: httpListener, set: ['miner.enable=no'] });
  const [owner] = whole.accounts;
  async function execute(fields: TxFields): Promise<string> {
    const image = { image: 'sum:1', imageHash: 'ab'.repeat(32) };
    const tx = txToJson(whole.make(owner, { ...image, ...fields }), whole.scheme);
    await whole.clock.advance(ROUND_MS);
    await whole.produceBlock(whole.make(owner, { type: 105, tx, results: [], fee: 0 }));
    return String(tx['id']);
  }
  const contractId = await execute({ type: 103, contractName: 'sum', params: [] });
  await execute({ type: 107, contractId });
  await execute({ type: 107, contractId });
  const rest = restOf(`http://127.0.0.1:${whole.node.rest!.port}`, whole.apiKey);
  const sign = (more: object) =>
    rest.post('/transactions/sign', {
      type: 104,
      version: 2,
      sender: owner.text,
      contractId,
      params: [],
      ...more,
    });
  t.match((await sign({})).body, { contractVersion: 3 });
  t.match((await sign({ contractVersion: 2 })).body, { contractVersion: 2 });
});

t.test('the pool is listed in turns', async (t) => {
  let looks = 0;
  let turns = 0;
  const whole = await wholeNode(t, {
    http: httpListener,
    set: ['miner.enable=no'],
    // Every look at this clock finds that a millisecond has passed.
    around: (ports) => ({
      ...ports,
      clock: {
        ...ports.clock,
        monotonic: () => ++looks,
        async turn() {
          turns++;
          await ports.clock.turn();
        },
      },
    }),
  });
  const rest = restOf(`http://127.0.0.1:${whole.node.rest!.port}`, whole.apiKey);
  const [owner] = whole.accounts;
  // Each of these characters has six in JSON.
  const value = '\u0001'.repeat(32_000);
  const data = ['a', 'b', 'c', 'd'].map((key) => ({ key, type: 'string', value }));
  await whole.send(owner, { type: 12, version: 1, data, fee: 200_000_000 });
  turns = 0;
  const list = await rest.get('/transactions/unconfirmed');
  t.match(list, { status: 200, body: [{ data }] });
  t.ok(turns > 0, 'other work runs between its parts');
});

t.test('how many transactions of an address a client may ask for', async (t) => {
  const whole = await wholeNode(t, { http: httpListener, set: ['miner.enable=no'] });
  const rest = restOf(`http://127.0.0.1:${whole.node.rest!.port}`, whole.apiKey);
  const [owner] = whole.accounts;
  const listed = (limit: string) => rest.get(`/transactions/address/${owner.text}/limit/${limit}`);
  t.match(await listed('0'), { status: 200, body: [[]] });
  for (const many of ['10001', '999999999', '1000000000', '2147483647'])
    t.match(await listed(many), { status: 400, body: { error: 10 } }, many);
  for (const wrong of ['2147483648', '-1', 'x', '1.0'])
    t.match(await listed(wrong), { status: 400, body: { error: 199, message: 'invalid.limit' } });
});
