/** What two orders and their trade may not be, whatever the state; each case has one fault. */
import t from 'tap';
import { base58 } from '../../../src/codec/text.ts';
import { orderFromJson } from '../../../src/tx/fields/order.ts';
import { AMOUNT_MAX } from '../../../src/tx/rules/order-rules.ts';
import { exchange } from '../../../src/tx/types/007-exchange.ts';
import { actor, createHarness, type Harness, scheme, WEST } from './ledger-harness.ts';

const [alice, bob, dex, carol] = [actor(1), actor(2), actor(3), actor(4)] as const;
const [gold, iron] = [new Uint8Array(32).fill(5), new Uint8Array(32).fill(6)].map(base58.encode);
const DAY = 86_400_000;
const PRICE = 2n * WEST;

interface Case {
  readonly trade?: object;
  readonly buy?: object;
  readonly sell?: object;
  /** Of both orders. */
  readonly orders?: object;
  readonly why: string;
}

const order = (why: string): string => `OrderValidationError(${why})`;
const pair = (amountAsset: unknown, priceAsset: unknown = null) => ({
  assetPair: { amountAsset, priceAsset },
});

const cases = (now: number): Readonly<Record<string, Case>> => ({
  'a trade of nothing': { trade: { amount: 0n }, why: 'amount should be > 0' },
  'a trade of too much': { trade: { amount: AMOUNT_MAX + 1n }, why: 'amount too large' },
  'a trade for nothing': { trade: { price: 0n }, why: 'price should be > 0' },
  'a trade for too much': { trade: { price: AMOUNT_MAX + 1n }, why: 'price too large' },
  'a fee below zero': { trade: { buyMatcherFee: -1n }, why: 'fee should be >= 0' },
  'another fee below zero': { trade: { sellMatcherFee: -1n }, why: 'fee should be >= 0' },
  'a fee too large': { trade: { sellMatcherFee: AMOUNT_MAX + 1n }, why: 'fee too large' },
  'two who sell': { buy: { orderType: 'sell' }, why: 'buyOrder should has OrderType.BUY' },
  'two who buy': { sell: { orderType: 'buy' }, why: 'sellOrder should has OrderType.SELL' },
  'two matchers': {
    sell: { matcherPublicKey: base58.encode(carol.publicKey) },
    why: 'buyOrder.matcher should be the same as sellOrder.matcher',
  },
  'two assets': { sell: pair(iron), why: 'Both orders should have same AssetPair' },
  'two currencies': { sell: pair(gold, iron), why: 'Both orders should have same AssetPair' },
  'a price that the buyer refuses': { trade: { price: PRICE + 1n }, why: order('priceIsValid') },
  'a price that the seller refuses': { trade: { price: PRICE - 1n }, why: order('priceIsValid') },
  'an order of nothing': { buy: { amount: 0 }, why: order('amount should be > 0') },
  'an order of too much': { sell: { amount: AMOUNT_MAX }, why: order('amount too large') },
  'an order for nothing': { buy: { price: 0 }, why: order('price should be > 0') },
  'more spent than there can be': {
    buy: { amount: AMOUNT_MAX - 1n, price: AMOUNT_MAX },
    why: order('SpendAmount too large'),
  },
  'more received than there can be': {
    sell: { amount: AMOUNT_MAX - 1n, price: AMOUNT_MAX },
    why: order('ReceiveAmount too large'),
  },
  'nothing spent': { buy: { amount: 1, price: 1 }, why: order('SpendAmount should be > 0') },
  'nothing received': { sell: { amount: 1, price: 1 }, why: order('ReceiveAmount should be > 0') },
  'an asset for itself': { orders: pair(gold, gold), why: order('Invalid AssetPair') },
  "a matcher's fee below zero": {
    buy: { matcherFee: -1 },
    why: order('matcherFee should be positive'),
  },
  "a matcher's fee too large": {
    buy: { matcherFee: AMOUNT_MAX },
    why: order('matcherFee too large'),
  },
  'no time': { buy: { timestamp: 0 }, why: order('timestamp should be > 0') },
  'an order for too long': {
    buy: { expiration: now + 30 * DAY + 1 },
    why: order('expiration should be earlier than 30 days'),
  },
  'an order that has ended': {
    sell: { expiration: now - 1 },
    why: order('expiration should be > currentTime'),
  },
});

function make(h: Harness, { trade = {}, buy = {}, sell = {}, orders = {} }: Omit<Case, 'why'>) {
  const sent = (of: typeof alice, orderType: 'buy' | 'sell', change: object) =>
    orderFromJson(
      {
        ...{ version: 2, senderPublicKey: base58.encode(of.publicKey), orderType },
        ...{ matcherPublicKey: base58.encode(dex.publicKey), ...pair(gold), amount: 10 },
        ...{ price: PRICE, timestamp: h.now, expiration: h.now + DAY, matcherFee: 1000 },
        ...{ proofs: [base58.encode(new Uint8Array(64))], ...orders, ...change },
      },
      'obj',
      scheme,
    );
  return h.make(exchange, dex, {
    orders: { order1: sent(bob, 'buy', buy), order2: sent(alice, 'sell', sell) },
    ...{ price: PRICE, amount: 1n, buyMatcherFee: 100n, sellMatcherFee: 100n, ...trade },
  });
}

t.test('scenario 71: rules for orders that do not depend on the state', async (t) => {
  const h = await createHarness({ balances: [[dex, 100n * WEST]] });
  t.equal(make(h, {}).type, exchange.type, 'without a fault');
  t.equal(make(h, { buy: { expiration: h.now } }).type, exchange.type, 'at the last moment');
  for (const [name, { why, ...change }] of Object.entries(cases(h.now))) {
    const error = t.throws(() => make(h, change), name) as Error;
    t.equal(error.message, why, name);
  }
});
