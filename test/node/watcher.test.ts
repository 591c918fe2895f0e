import t from 'tap';
import { httpListener } from '../../src/adapters/http/listener.ts';
import { txToJson } from '../../src/tx/json/encode.ts';
import { restOf } from '../system/e2e/rest.ts';
import { wholeNode } from './in-process.ts';

t.test('scenario 107: a watcher takes and signs no transactions of clients', async (t) => {
  const whole = await wholeNode(t, { set: ['network.mode=watcher'], http: httpListener });
  const { node, accounts, transfer, clock, apiKey, scheme } = whole;
  const [owner, other] = accounts;
  const { post } = restOf(`http://127.0.0.1:${node.rest!.port}`, apiKey);
  const json = txToJson(transfer(owner, other, 1), scheme);
  for (const path of ['sign', 'broadcast', 'signAndBroadcast']) {
    t.match(
      await post(`/transactions/${path}`, json),
      {
        status: 400,
        body: {
          error: 199,
          message: 'Sending transactions, since it is a watcher, is not available on this node',
        },
      },
      path,
    );
  }
  t.equal(node.pool.size(), 0);
  await clock.advance(60_000);
  t.equal(node.blockchain.tip().height, 1, 'and it makes no block');
});
