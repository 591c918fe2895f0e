// What a request to sign may leave out.

import t from 'tap';
import { hyperExpress } from '../../../src/adapters/http/hyper-express.ts';
import { txToJson } from '../../../src/tx/json/encode.ts';
import { restOf } from '../../e2e/rest.ts';
import { ROUND_MS, type TxFields, wholeNode } from '../../node/in-process.ts';

t.test('a call without a contract version gets the present one when signed', async (t) => {
  const whole = await wholeNode(t, { http: hyperExpress, set: ['miner.enable=no'] });
  const [owner] = whole.accounts;
  async function execute(fields: TxFields): Promise<string> {
    const image = { image: 'sum:1', imageHash: 'ab'.repeat(32) };
    const tx = txToJson(whole.make(owner, { ...image, ...fields }), whole.scheme);
    await whole.clock.advance(ROUND_MS);
    await whole.forge(whole.make(owner, { type: 105, tx, results: [], fee: 0 }));
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
