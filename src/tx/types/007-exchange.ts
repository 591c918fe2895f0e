/**
 * Trades one token for another between two orders (transactions.md#signature-style,
 * transactions.md#proof-style; state.md#exchange).
 *
 *   v1  type 1 | orders | price 8 | amount 8 | buyMatcherFee 8 | sellMatcherFee 8 | fee 8
 *       | timestamp 8
 *   v2  00 | type 1 | version 1 | fields of v1, orders in their newer form
 *
 * It names no sender: the matcher of the orders is the sender. The zero of version 2 is signed too.
 */
import { i64 } from '../../codec/primitives.ts';
import { orders, ordersOfVersion1 } from '../fields/order-pair.ts';
import { fee, timestamp } from '../fields/shared.ts';
import { feature } from '../rules/features.ts';
import { guardTrade } from '../rules/order-rules.ts';
import { provenOrders, settle, tradedAssets } from '../rules/settlement.ts';
import { transaction } from '../transaction.ts';

const first = ['orders', 'price', 'amount', 'buyMatcherFee', 'sellMatcherFee', 'fee', 'timestamp'];

export const exchange = transaction({
  type: 7,
  name: 'ExchangeTransaction',
  key: 'exchange',
  doc: 'Executes a buy order against a sell order.',
  fields: {
    orders,
    price: i64,
    amount: i64,
    buyMatcherFee: i64,
    sellMatcherFee: i64,
    fee,
    timestamp,
  },
  layouts: [
    { version: 1, frame: 'signedLast', fields: first, wire: { orders: ordersOfVersion1 } },
    { version: 2, frame: 'provenZero', fields: first, feature: feature.smartAccounts },
  ],
  fee: 500_000n,
  roles: ['dex'],
  signable: false,
  sender: ({ orders: { order1 } }) => order1.matcherPublicKey,
  check: ({ fields }) => guardTrade(fields),
  carried: ({ fields: { orders: pair } }) => provenOrders(pair),
  /** The matcher needs what the fees of the orders do not cover. */
  spends: ({ fields }) => ({
    assetId: undefined,
    amount: -(fields.buyMatcherFee + fields.sellMatcherFee),
  }),
  assets: ({ fields }) => tradedAssets(fields),
  record: ({ fields }, recordOf) => ({
    buyOrder: recordOf(fields.orders.order1),
    sellOrder: recordOf(fields.orders.order2),
    price: fields.price,
    amount: fields.amount,
    buyMatcherFee: fields.buyMatcherFee,
    sellMatcherFee: fields.sellMatcherFee,
  }),
  apply: ({ fields, sender }, ledger, block) => settle(fields, sender, ledger, block),
  involved: (
    {
      fields: {
        orders: { order1, order2 },
      },
    },
    ledger,
  ) => [
    ledger.scheme.addressOf(order1.senderPublicKey),
    ledger.scheme.addressOf(order2.senderPublicKey),
  ],
});
