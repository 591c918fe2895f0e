/**
 * Trades on a whole node: orders of both versions, made and signed by traders, sent by an exchange
 * (state.md#exchange). test/tx/rules/exchange.test.ts tests the rules alone.
 */

import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { assetBalance } from '../../src/ledger/assets.ts';
import type { Order } from '../../src/tx/fields/order.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { makeBlock } from '../chain/make-block.ts';
import { seededRandom } from '../crypto/random.ts';
import type { Scope } from '../system/e2e/process.ts';
import { type Account, type WholeNode, type WholeOptions, wholeNode } from './in-process.ts';
import { orderJson, PRICE, signedOrder } from './orders.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const FEE = 500_000;

interface Market {
  readonly whole: WholeNode;
  readonly asset: string;
  readonly owner: Account;
  readonly buyer: Account;
  readonly dex: Account;
}

/** The owner has a thousand units of an asset to sell; the third account is an exchange. */
async function market(t: Scope, options: WholeOptions = {}): Promise<Market> {
  const whole = await wholeNode(t, options);
  const [owner, buyer, dex] = whole.accounts;
  const gold = { name: 'Gold', description: '', quantity: 1000, decimals: 0, reissuable: false };
  const { id } = await whole.send(owner, { type: 3, version: 2, ...gold, script: null });
  await whole.send(owner, { type: 102, target: dex.text, opType: 'add', role: 'dex' });
  await whole.mine();
  return { whole, asset: base58.encode(id), owner, buyer, dex };
}

interface Pair {
  readonly buy: Order;
  readonly sell: Order;
}

const pair = (at: Market, buy = {}, sell = {}): Pair => ({
  buy: signedOrder(at.whole, at.buyer, 'buy', { ...at, rest: buy }),
  sell: signedOrder(at.whole, at.owner, 'sell', { ...at, rest: sell }),
});

function trade({ whole, dex }: Market, { buy, sell }: Pair, amount: number, rest = {}): Tx {
  return whole.make(dex, {
    type: 7,
    version: 2,
    order1: orderJson(buy),
    order2: orderJson(sell),
    price: PRICE,
    amount,
    buyMatcherFee: 100 * amount,
    sellMatcherFee: 100 * amount,
    ...rest,
  });
}

/** Structural rules speak when the transaction is made, the others when the pool is asked. */
async function refusalOf(at: Market, make: () => Tx): Promise<string> {
  try {
    return (await at.whole.refusal(make())).message;
  } catch (error) {
    return (error as Error).message;
  }
}

t.test('scenario 71: partial fills to the unit, then the texts, over blocks', async (t) => {
  const at = await market(t);
  const { whole, asset, buyer, dex } = at;
  const orders = pair(at);
  const before = whole.balance(buyer);
  const fees = whole.balance(dex);
  await whole.node.pool.submit(trade(at, orders, 4));
  await whole.mine();
  const held = () => assetBalance(whole.node.blockchain.view, buyer.address, base58.decode(asset));
  t.equal(held(), 4n);
  t.equal(whole.balance(buyer), before - 8n - 400n);
  t.equal(whole.balance(dex), fees + 800n - BigInt(FEE));
  t.match(
    await refusalOf(at, () => trade(at, orders, 7)),
    /Too much buy. Already filled volume for the order: 4$/,
  );
  t.match(
    await refusalOf(at, () => trade(at, orders, 6, { sellMatcherFee: 601 })),
    /Insufficient sell fee$/,
    'a fill takes its share of the fee and not a unit more',
  );
  const rest = trade(at, orders, 6);
  await whole.node.pool.submit(rest);
  await whole.mine();
  t.equal(held(), 10n);
  t.match(
    await refusalOf(at, () => trade(at, orders, 1)),
    /Too much buy. Already filled volume for the order: 10$/,
    'a full order is not replayed',
  );
  t.match(await refusalOf(at, () => rest), /is already in the state on a height of/);
  const again = { ...at, whole: await whole.restart() };
  t.match(
    await refusalOf(again, () => trade(again, orders, 1)),
    /Too much buy/,
    'nor after a stop',
  );
});

t.test('scenario 71: expired orders, prices outside, a reversed pair', async (t) => {
  const at = await market(t);
  const now = at.whole.clock.now();
  const bad = (reason: string) => `OrderValidationError(${reason})`;
  async function refused(reason: string, make: () => Tx): Promise<void> {
    t.equal((await refusalOf(at, make)).replace(/^.*Reason: /, ''), reason, reason);
  }

  for (const side of ['buy', 'sell'] as const) {
    const change = (rest: object) => (side === 'buy' ? pair(at, rest) : pair(at, {}, rest));
    await refused(bad('expiration should be > currentTime'), () =>
      trade(at, change({ timestamp: now - HOUR, expiration: now - 1 }), 1),
    );
    await refused(bad('expiration should be earlier than 30 days'), () =>
      trade(at, change({ expiration: now + 30 * DAY + 1 }), 1),
    );
  }
  await refused(bad('priceIsValid'), () => trade(at, pair(at, { price: PRICE - 1 }), 1));
  await refused(bad('priceIsValid'), () => trade(at, pair(at, {}, { price: PRICE + 1 }), 1));
  await refused(bad('priceIsValid'), () => trade(at, pair(at), 1, { price: PRICE + 1 }));
  const reversed = { assetPair: { amountAsset: null, priceAsset: at.asset } };
  await refused('Both orders should have same AssetPair', () =>
    trade(at, pair(at, {}, reversed), 1),
  );
  await refused(bad('Invalid AssetPair'), () => {
    const assetPair = { amountAsset: at.asset, priceAsset: at.asset };
    return trade(at, pair(at, { assetPair }, { assetPair }), 1);
  });
  await refused('buyOrder should has OrderType.BUY', () => {
    const { buy, sell } = pair(at);
    return trade(at, { buy: sell, sell: buy }, 1);
  });
  await at.whole.node.pool.submit(
    trade(
      at,
      pair(at, { expiration: now, timestamp: now - HOUR }, { expiration: now + 30 * DAY }),
      1,
    ),
  );
  t.equal((await at.whole.mine()).length, 1, 'both limits themselves are legal');
});

t.test('a trade stands on three signatures', async (t) => {
  const at = await market(t);
  const good = pair(at);
  const forged = (of: Order): Order => ({ ...of, proofs: [new Uint8Array(64).fill(1)] });
  for (const orders of [
    { ...good, buy: forged(good.buy) },
    { ...good, sell: forged(good.sell) },
  ]) {
    t.match(await refusalOf(at, () => trade(at, orders, 1)), /doesn't validate as signature/);
  }
  t.match(
    await refusalOf(at, () => trade(at, { ...good, buy: { ...good.buy, proofs: [] } }, 1)),
    /exactly 1 proof/,
  );
  await at.whole.node.pool.submit(trade(at, good, 1));
  t.equal((await at.whole.mine()).length, 1);
});

t.test('a block with a forged order is refused', async (t) => {
  const set = ['miner.enable=no'];
  const nodes = await Promise.all([wholeNode(t, { set }), wholeNode(t, { set })]);
  const [maker, judge] = nodes;
  const [owner, buyer, dex] = maker.accounts;
  async function block(): Promise<void> {
    for (const { clock } of nodes) await clock.advance(10_000);
    await judge.node.blockchain.append(await maker.produceBlock());
  }
  const gold = { name: 'Gold', description: '', quantity: 1000, decimals: 0, reissuable: false };
  const { id } = await maker.send(owner, { type: 3, version: 2, ...gold, script: null });
  await maker.send(owner, { type: 102, target: dex.text, opType: 'add', role: 'dex' });
  await block();
  const at = { whole: maker, asset: base58.encode(id), owner, buyer, dex };
  const good = pair(at);
  const forged = { ...good, buy: { ...good.buy, proofs: [new Uint8Array(64).fill(1)] } };
  // Its maker looks at no signature, as somebody who cheats would.
  const { blockchain } = maker.node;
  for (const { clock } of nodes) await clock.advance(10_000);
  const sign = (message: Uint8Array) =>
    maker.family.sign(owner.privateKey, message, seededRandom('a forger'));
  const cheat = await makeBlock(
    blockchain,
    { ...owner, sign },
    maker.clock.now(),
    async (draft) => {
      const tx = trade(at, forged, 1);
      draft.replay(tx);
    },
  );
  await t.rejects(judge.node.blockchain.append(cheat), { message: /doesn't validate/ });
  t.equal(judge.node.blockchain.tip().height, 2);
});

t.test('a network may do without trades', async (t) => {
  const set = ['blockchain.custom.functionality.exchange-enabled=no'];
  const at = await market(t, { set });
  t.equal(
    await refusalOf(at, () => trade(at, pair(at), 1)),
    'The exchange is not available on this node',
  );
});

t.test('a creation that no miner executes waits; what needs it is refused', async (t) => {
  const { whole, owner } = await market(t);
  await whole
    .send(owner, {
      type: 102,
      target: owner.text,
      opType: 'add',
      role: 'contract_developer',
    })
    .catch(() => undefined);
  await whole.mine();
  const creation = whole.make(owner, {
    type: 103,
    image: 'sum:1',
    imageHash: 'ab'.repeat(32),
    contractName: 'sum',
    params: [],
  });
  const contractId = base58.encode(creation.id);
  const others = [
    whole.make(owner, { type: 104, contractId, params: [] }),
    whole.make(owner, { type: 107, contractId, image: 'sum:2', imageHash: 'ab'.repeat(32) }),
  ];
  await whole.node.pool.submit(creation);
  for (const tx of others) {
    t.match(await whole.refusal(tx), {
      code: 600,
      message: `Contract '${contractId}' is not found`,
    });
  }
  await whole.mine();
  t.equal(whole.node.pool.size(), 1);
});
