// Transactions inside other answers.

import t from 'tap';
import { httpListener } from '../../src/adapters/http/listener.ts';
import { base58 } from '../../src/base/base58.ts';
import { wholeNode } from '../node/in-process.ts';
import { restOf } from '../system/e2e/rest.ts';

t.test('confirmed transactions inside other answers have their height', async (t) => {
  const whole = await wholeNode(t, { http: httpListener });
  const rest = restOf(`http://127.0.0.1:${whole.node.rest!.port}`, whole.apiKey);
  const [owner, other] = whole.accounts;
  const asset = { name: 'asset', description: '', quantity: 5, decimals: 0, reissuable: false };
  const issue = await whole.send(owner, { type: 3, version: 2, script: null, ...asset });
  const lease = await whole.send(owner, { type: 8, version: 2, recipient: other.text, amount: 5 });
  await whole.mine();
  const leaseId = base58.encode(lease.id);
  const cancel = await whole.send(owner, { type: 9, version: 2, leaseId });
  await whole.mine();
  t.match((await rest.get(`/assets/balance/${owner.text}`)).body, {
    balances: [{ issueTransaction: { height: whole.heightOf(issue) } }],
  });
  t.match((await rest.get(`/transactions/info/${base58.encode(cancel.id)}`)).body, {
    height: whole.heightOf(cancel),
    lease: { id: leaseId, height: whole.heightOf(lease) },
  });
});
