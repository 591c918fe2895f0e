// The budgets of scripts as a stranger meets them: over REST, on a node of a new network.
import t from 'tap';
import { httpListener } from '../../src/adapters/http/listener.ts';
import { base58 } from '../../src/base/base58.ts';
import { SCRIPT_RUNS_MAX } from '../../src/block/block.ts';
import { RUN_UNITS_MAX } from '../../src/script/evaluation/meter.ts';
import { txToJson } from '../../src/tx/json/encode.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { taking } from '../generators/dear-runs.ts';
import { compiled } from '../generators/scripts.ts';
import type { Scope } from '../system/e2e/process.ts';
import { restOf } from '../system/e2e/rest.ts';
import { type Account, type WholeNode, wholeNode } from './in-process.ts';
import { orderJson, PRICE, signedOrder } from './orders.ts';

async function served(t: Scope) {
  const whole = await wholeNode(t, { http: httpListener });
  const rest = restOf(`http://127.0.0.1:${whole.node.rest!.port}`, whole.apiKey);
  const broadcast = (tx: Tx) => rest.post('/transactions/broadcast', txToJson(tx, whole.scheme));
  return { whole, rest, broadcast };
}

const guard = (whole: WholeNode, of: Account, script: Uint8Array): Tx =>
  whole.make(of, {
    ...{ type: 13, name: 'guard', description: '' },
    script: `base64:${Buffer.from(script).toString('base64')}`,
  });

t.test('the feature of new networks', async (t) => {
  const { rest } = await served(t);
  const { body } = await rest.get('/activation/status');
  const { features } = body as { features: { id: number }[] };
  t.match(
    features.find(({ id }) => id === 1000),
    { description: 'Metering of scripts', blockchainStatus: 'ACTIVATED', activationHeight: 0 },
  );
});

t.test('a script that takes too much, and one that nobody pays for', async (t) => {
  const { whole, broadcast } = await served(t);
  const [, one, other] = whole.accounts;
  t.match(await broadcast(guard(whole, one, taking(RUN_UNITS_MAX * 1.1))), { status: 200 });
  await whole.mine();
  const fee = 1_400_000;
  t.match(await broadcast(whole.transfer(one, other, 1, { fee })), {
    status: 400,
    body: {
      error: 306,
      message: `Error while executing account-script: The script needs more than ${RUN_UNITS_MAX} units`,
    },
  });
  const all = whole.balance(one);
  t.match(await broadcast(whole.transfer(one, other, all, { fee })), {
    status: 400,
    body: { error: 112, message: /unavailable funds/ },
  });
});

t.test('scripts of orders fill a block', async (t) => {
  const { whole, broadcast } = await served(t);
  const [owner, seller, buyer, dex] = whole.accounts;
  const gold = { name: 'Gold', description: '', quantity: 1000, decimals: 0, reissuable: false };
  const { id } = await whole.send(owner, { type: 3, version: 2, ...gold, script: null });
  await whole.send(owner, { type: 102, target: dex.text, opType: 'add', role: 'dex' });
  await whole.mine();
  const asset = base58.encode(id);
  await whole.send(owner, {
    ...{
      type: 4,
      version: 2,
      assetId: asset,
      recipient: seller.text,
      amount: 1000,
      attachment: '',
    },
  });
  for (const one of [seller, buyer]) await broadcast(guard(whole, one, compiled('true')));
  await whole.mine();
  const most = SCRIPT_RUNS_MAX / 2;
  const rest = { amount: 1000 };
  const [buy, sell] = [
    signedOrder(whole, buyer, 'buy', { asset, dex, rest }),
    signedOrder(whole, seller, 'sell', { asset, dex, rest }),
  ];
  for (let i = 0; i < most + 5; i++) {
    const trade = whole.make(dex, {
      ...{ type: 7, version: 2, order1: orderJson(buy), order2: orderJson(sell), price: PRICE },
      ...{ amount: 1, buyMatcherFee: 1, sellMatcherFee: 1, timestamp: whole.clock.now() + i },
    });
    t.match(await broadcast(trade), { status: 200 });
  }
  t.equal((await whole.mine()).length, most);
  t.equal((await whole.mine()).length, 5, 'the others wait for the next block');
});
