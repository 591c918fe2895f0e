/** Events as JSON texts. */
import { base58 } from '../base/base58.ts';
import { stringify } from '../base/json/json.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { hex } from '../codec/text.ts';
import { txToJson } from '../tx/json/described.ts';
import { printTx } from '../tx/json/print.ts';
import type { Tx } from '../tx/transaction.ts';
import type { ArrivedItem } from './chain-feed.ts';

/** As in the lists of the REST interface. */
export function transactionText(tx: Tx, height: number, scheme: ChainScheme): string {
  const printed = printTx(tx.bytes, scheme);
  if (printed !== undefined) return `${printed.open},"height":${height}}`;
  return stringify({ ...txToJson(tx, scheme), height });
}

/** `tx`: a 105. */
export function resultText(tx: Tx, height: number, scheme: ChainScheme): string {
  const executed = tx.def.inner!(tx);
  const { results } = txToJson(tx, scheme) as { readonly results?: unknown };
  return stringify({
    height,
    txId: base58.encode(executed.id),
    txType: executed.type,
    executedTxId: base58.encode(tx.id),
    contractId: base58.encode(executed.def.contract!(executed)),
    sender: scheme.addressToText(executed.sender),
    results,
  });
}

export const arrivedText = ({ policyId, hash }: ArrivedItem): string =>
  stringify({
    policyId: base58.encode(policyId),
    hash: hex.encode(hash),
    dataHash: base58.encode(hash),
  });
