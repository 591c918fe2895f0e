/**
 * Transactions and orders as the records that scripts see (scripts.md#case-types). The own fields
 * stand with each type; this file adds those that all have.
 */
import type { ChainScheme } from '../../codec/codec.ts';
import type { Context } from '../../script/language/tree.ts';
import { BUY, type CaseObject, caseObject, SELL } from '../../script/language/values.ts';
import { signedBytes } from '../assemble.ts';
import type { Order } from '../fields/order.ts';
import { PROOFS_MAX } from '../fields/proofs.ts';
import type { ScriptFields, Tx } from '../transaction.ts';
import { addressRecord, optional } from './record-values.ts';

/** Undefined for a type that no script can judge. */
export function recordOf(tx: Tx, scheme: ChainScheme, context: Context): CaseObject | undefined {
  const { record, name } = tx.def;
  if (record === undefined) return undefined;
  return caseObject(name, {
    ...record(tx, (order) => orderRecord(order, scheme, context)),
    id: tx.id,
    fee: tx.fee,
    timestamp: BigInt(tx.timestamp),
    version: BigInt(tx.version),
    // The genesis block has no senders.
    ...(tx.layout.frame === 'genesis'
      ? {}
      : signedFields(tx.senderPublicKey, signedBytes(tx), tx.proofs, scheme, context)),
  });
}

export function orderRecord(order: Order, scheme: ChainScheme, context: Context): CaseObject {
  return caseObject('Order', {
    id: order.id,
    matcherPublicKey: order.matcherPublicKey,
    assetPair: caseObject('AssetPair', {
      amountAsset: optional(order.amountAsset),
      priceAsset: optional(order.priceAsset),
    }),
    orderType: order.orderType === 'buy' ? BUY : SELL,
    price: order.price,
    amount: order.amount,
    timestamp: BigInt(order.timestamp),
    expiration: BigInt(order.expiration),
    matcherFee: order.matcherFee,
    ...signedFields(order.senderPublicKey, order.body, order.proofs, scheme, context),
  });
}

const NO_PROOF = new Uint8Array(0);

/** Only account scripts see the proofs, eight of them. */
function signedFields(
  publicKey: Uint8Array,
  message: Uint8Array,
  proofs: readonly Uint8Array[],
  scheme: ChainScheme,
  context: Context,
): ScriptFields {
  const signed = {
    sender: addressRecord(scheme.addressOf(publicKey)),
    senderPublicKey: publicKey,
    bodyBytes: message,
  };
  if (context === 'asset') return signed;
  const all = Array.from({ length: PROOFS_MAX }, (_, i) => proofs[i] ?? NO_PROOF);
  return { ...signed, proofs: all };
}
