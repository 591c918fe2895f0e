/** Every signature that a transaction stands on: its own and those of what it carries. */
import type { SignatureCheck } from '../base/ports.ts';
import { signedBytes } from './seal.ts';
import type { Tx } from './transaction.ts';

/** All to check; the pipeline refuses a number of proofs other than one. */
export const signaturesOf = (tx: Tx): readonly SignatureCheck[] =>
  tx.def.signatures === undefined
    ? signatureOf(tx)
    : [...signatureOf(tx), ...tx.def.signatures(tx)];

/** Its own, where there is exactly one. */
export function signatureOf(tx: Tx): readonly SignatureCheck[] {
  const [signature, second] = tx.proofs;
  if (signature === undefined || second !== undefined) return [];
  return [{ publicKey: tx.senderPublicKey, message: signedBytes(tx), signature }];
}
