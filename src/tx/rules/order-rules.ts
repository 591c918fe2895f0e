/** The rules for two orders and their trade that do not depend on the state (state.md#exchange). */
import { equal } from '../../base/bytes.ts';
import { type ApiError, apiError } from '../../base/errors.ts';
import { I64_MAX } from '../../base/int.ts';
import type { Order } from '../fields/order.ts';
import type { OrderPair } from '../fields/order-pair.ts';

/** A price is in units of the price asset for this many units of the amount asset. */
export const PRICE_UNIT = 100_000_000n;
export const AMOUNT_MAX = 100n * 10n ** 16n;
const LIFETIME_MAX_MS = 30 * 24 * 3600 * 1000;

export interface Trade {
  readonly orders: OrderPair;
  readonly price: bigint;
  readonly amount: bigint;
  readonly buyMatcherFee: bigint;
  readonly sellMatcherFee: bigint;
  readonly fee: bigint;
  readonly timestamp: number;
}

/** Throws ApiError Invalid with the reason. */
export function guardTrade(trade: Trade): void {
  const problem = tradeProblem(trade);
  if (problem !== undefined) throw apiError('Invalid', problem);
  for (const order of [trade.orders.order1, trade.orders.order2]) {
    const reason = orderProblem(order, trade.timestamp);
    if (reason !== undefined) throw orderError(reason);
  }
  const { order1: buy, order2: sell } = trade.orders;
  if (trade.price > buy.price || trade.price < sell.price) throw orderError('priceIsValid');
}

const orderError = (reason: string): ApiError =>
  apiError('Invalid', `OrderValidationError(${reason})`);

function tradeProblem(trade: Trade): string | undefined {
  const { order1: buy, order2: sell } = trade.orders;
  if (trade.amount <= 0n) return 'amount should be > 0';
  if (trade.amount > AMOUNT_MAX) return 'amount too large';
  if (trade.price <= 0n) return 'price should be > 0';
  if (trade.price > AMOUNT_MAX) return 'price too large';
  const fees = [trade.fee, trade.buyMatcherFee, trade.sellMatcherFee];
  if (fees.some((fee) => fee < 0n)) return 'fee should be >= 0';
  if (fees.some((fee) => fee > AMOUNT_MAX)) return 'fee too large';
  if (buy.orderType !== 'buy') return 'buyOrder should has OrderType.BUY';
  if (sell.orderType !== 'sell') return 'sellOrder should has OrderType.SELL';
  if (!equal(buy.matcherPublicKey, sell.matcherPublicKey)) {
    return 'buyOrder.matcher should be the same as sellOrder.matcher';
  }
  const samePair =
    sameAsset(buy.amountAsset, sell.amountAsset) && sameAsset(buy.priceAsset, sell.priceAsset);
  return samePair ? undefined : 'Both orders should have same AssetPair';
}

/** Why an order is not valid at a time, or undefined. */
function orderProblem(order: Order, time: number): string | undefined {
  if (order.amount <= 0n) return 'amount should be > 0';
  if (order.amount >= AMOUNT_MAX) return 'amount too large';
  if (order.price <= 0n) return 'price should be > 0';
  const total = (order.amount * order.price) / PRICE_UNIT;
  const [spend, receive] =
    order.orderType === 'buy' ? [total, order.amount] : [order.amount, total];
  if (spend > I64_MAX) return 'SpendAmount too large';
  if (spend <= 0n) return 'SpendAmount should be > 0';
  if (receive > I64_MAX) return 'ReceiveAmount too large';
  if (receive <= 0n) return 'ReceiveAmount should be > 0';
  if (sameAsset(order.amountAsset, order.priceAsset)) return 'Invalid AssetPair';
  if (order.matcherFee < 0n) return 'matcherFee should be positive';
  if (order.matcherFee >= AMOUNT_MAX) return 'matcherFee too large';
  if (order.timestamp <= 0) return 'timestamp should be > 0';
  if (order.expiration - time > LIFETIME_MAX_MS) {
    return 'expiration should be earlier than 30 days';
  }
  return order.expiration < time ? 'expiration should be > currentTime' : undefined;
}

function sameAsset(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : equal(a, b);
}
