/** Pairs of orders that a trade may execute. */
import { base58 } from '../../src/codec/text.ts';
import { orderFromJson } from '../../src/tx/fields/order.ts';
import type { OrderPair } from '../../src/tx/fields/order-pair.ts';
import { publicKeys, scheme } from './network.ts';
import type { Rng } from './random.ts';

const DAY_MS = 24 * 3600 * 1000;

interface Offer {
  readonly orders: OrderPair;
  readonly price: bigint;
  readonly amount: bigint;
}

export function orderPair(onlyVersion1: boolean, at: number, rng: Rng): Offer {
  const price = rng.upTo(10n ** 9n) + 10n ** 8n;
  const amount = rng.upTo(10n ** 9n) + 100n;
  const matcher = base58.encode(rng.pick(publicKeys));
  const amountAsset = base58.encode(rng.bytes(32));
  const priceAsset = rng.chance(2) ? null : base58.encode(rng.bytes(32));
  const [order1, order2] = (['buy', 'sell'] as const).map((orderType) =>
    orderFromJson(
      {
        version: onlyVersion1 ? 1 : rng.between(1, 2),
        senderPublicKey: base58.encode(rng.pick(publicKeys)),
        matcherPublicKey: matcher,
        assetPair: { amountAsset, priceAsset },
        orderType,
        price,
        amount: amount + rng.upTo(1000n),
        timestamp: at - rng.below(DAY_MS),
        expiration: at + rng.below(29 * DAY_MS),
        matcherFee: rng.upTo(10n ** 17n),
        proofs: [base58.encode(rng.bytes(64))],
      },
      'obj',
      scheme,
    ),
  );
  return { orders: { order1: order1!, order2: order2! }, price, amount };
}
