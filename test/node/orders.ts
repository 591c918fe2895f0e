/** Orders of traders of a whole node, signed by them (state.md#exchange). */
import { base58 } from '../../src/base/base58.ts';
import { type Order, orderFromJson } from '../../src/tx/fields/order.ts';
import { seededRandom } from '../crypto/random.ts';
import type { Account, WholeNode } from './in-process.ts';

const HOUR = 3_600_000;
const WEST = 100_000_000;
/** Of one unit of an asset without decimals, in native units. */
export const PRICE = 2 * WEST;

export interface Terms {
  /** Id of the asset that is bought and sold for the native token. */
  readonly asset: string;
  readonly dex: Account;
  /** What differs from the usual. */
  readonly rest?: object;
}

export function signedOrder(
  { scheme, clock, family }: WholeNode,
  of: Account,
  orderType: 'buy' | 'sell',
  { asset, dex, rest = {} }: Terms,
): Order {
  const json = {
    version: 2,
    senderPublicKey: base58.encode(of.publicKey),
    matcherPublicKey: base58.encode(dex.publicKey),
    assetPair: { amountAsset: asset, priceAsset: null },
    orderType,
    amount: 10,
    price: PRICE,
    timestamp: clock.now(),
    expiration: clock.now() + HOUR,
    matcherFee: 1000,
    ...rest,
  };
  const proven = (signature: Uint8Array): Order =>
    orderFromJson({ ...json, proofs: [base58.encode(signature)] }, 'order', scheme);
  const random = seededRandom(JSON.stringify(json));
  return proven(family.sign(of.privateKey, proven(new Uint8Array(64)).body, random));
}

const idOrNull = (id: Uint8Array | undefined): string | null =>
  id === undefined ? null : base58.encode(id);

/** As requests bring it. */
export function orderJson(of: Order): object {
  return {
    version: of.version,
    senderPublicKey: base58.encode(of.senderPublicKey),
    matcherPublicKey: base58.encode(of.matcherPublicKey),
    assetPair: { amountAsset: idOrNull(of.amountAsset), priceAsset: idOrNull(of.priceAsset) },
    orderType: of.orderType,
    amount: of.amount,
    price: of.price,
    timestamp: of.timestamp,
    expiration: of.expiration,
    matcherFee: of.matcherFee,
    proofs: of.proofs.map((proof) => base58.encode(proof)),
  };
}
