/**
 * What a trade does to the state (state.md#exchange). Orders are filled step by step. A fill never
 * takes more of an order, or more of its fee, than its owner signed.
 */
import { apiError, refused } from '../../base/errors.ts';
import { mulDivFloor } from '../../base/int.ts';
import { assetOf, move } from '../../ledger/assets.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { orderFills, scripts } from '../../ledger/tables.ts';
import type { Order } from '../fields/order.ts';
import type { OrderPair } from '../fields/order-pair.ts';
import type { BlockContext, Proven } from '../transaction.ts';
import { PRICE_UNIT, type Trade } from './order-rules.ts';

const NOTHING = { amount: 0n, fee: 0n };

/** Throws ApiError. `matcher` sends the transaction and pays its fee. */
export function settle(
  trade: Trade,
  matcher: Uint8Array,
  ledger: Ledger,
  block: BlockContext,
): void {
  if (block.rules.exchangeEnabled === false) throw apiError('NotAvailable', 'The exchange');
  const { order1: buy, order2: sell } = trade.orders;
  const { amountAsset, priceAsset } = buy;
  for (const id of tradedAssets(trade)) guardAsset(ledger, id);
  const buyer = owner(ledger, buy);
  const seller = owner(ledger, sell);
  fill(ledger, buy, trade.amount, trade.buyMatcherFee);
  fill(ledger, sell, trade.amount, trade.sellMatcherFee);
  const total = mulDivFloor(trade.amount, trade.price, PRICE_UNIT);
  move(ledger, buyer, seller, priceAsset, total);
  move(ledger, seller, buyer, amountAsset, trade.amount);
  move(ledger, buyer, matcher, undefined, trade.buyMatcherFee);
  move(ledger, seller, matcher, undefined, trade.sellMatcherFee);
}

/** The assets of the pair, without the native token. */
export function tradedAssets({ orders }: Trade): readonly Uint8Array[] {
  const { amountAsset, priceAsset } = orders.order1;
  return [amountAsset, priceAsset].filter((id) => id !== undefined);
}

/** The senders have signed both orders. */
export const provenOrders = ({ order1, order2 }: OrderPair): readonly Proven[] =>
  [order1, order2].map((order) => ({
    publicKey: order.senderPublicKey,
    message: order.body,
    proofs: order.proofs,
    order,
  }));

function guardAsset(ledger: Ledger, id: Uint8Array): void {
  if (assetOf(ledger, id) === undefined) {
    throw refused('Assets should be issued before they can be traded');
  }
}

/** The account that owns an order; its script or its single proof has consented before. */
function owner(ledger: Ledger, order: Order): Uint8Array {
  const address = ledger.scheme.addressOf(order.senderPublicKey);
  if (order.proofs.length !== 1 && ledger.get(scripts, address) === undefined) {
    throw refused('Orders of non-scripted accounts must have exactly 1 proof');
  }
  return address;
}

function fill(ledger: Ledger, order: Order, amount: bigint, fee: bigint): void {
  const before = ledger.get(orderFills, order.id) ?? NOTHING;
  const filled = before.amount + amount;
  const paid = before.fee + fee;
  if (filled > order.amount) {
    throw refused(
      `Too much ${order.orderType}. Already filled volume for the order: ${before.amount}`,
    );
  }
  if (paid > mulDivFloor(order.matcherFee, filled, order.amount)) {
    throw refused(`Insufficient ${order.orderType} fee`);
  }
  ledger.set(orderFills, order.id, { amount: filled, fee: paid });
}
