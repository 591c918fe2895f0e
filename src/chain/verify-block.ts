/** Signatures of a block and its transactions, checked in one batch on other threads. */
import { apiError } from '../base/errors.ts';
import type { SignatureCheck, Verifier } from '../base/ports.ts';
import { noTurns, type Turns } from '../base/turns.ts';
import { type Block, signedBytes as signedBlockBytes } from '../block/block.ts';
import { type Chain, CodecError } from '../codec/codec.ts';
import { decodeTx } from '../tx/bytes.ts';
import { invalidSignature } from '../tx/pipeline.ts';
import { signaturesOf } from '../tx/signatures.ts';
import type { Tx } from '../tx/transaction.ts';

/** Throws ApiError where one does not decode. */
export async function decodeTransactions(
  block: Block,
  chain: Chain,
  turns: Turns = noTurns,
): Promise<Tx[]> {
  try {
    const txs: Tx[] = [];
    for (const bytes of block.transactions) {
      txs.push(decodeTx(bytes, chain));
      if (turns.due()) await turns.take();
    }
    return txs;
  } catch (error) {
    if (error instanceof CodecError) throw error.api ?? apiError('Invalid', error.message);
    throw error;
  }
}

/**
 * Throws ApiError at the first signature that is wrong, those of orders and of executed
 * transactions among them.
 */
export async function verifyBlock(
  block: Block,
  txs: readonly Tx[],
  verifier: Verifier,
  isVerified: (tx: Tx) => boolean,
): Promise<void> {
  const { header } = block;
  const checks: SignatureCheck[] = [
    { publicKey: header.generator, message: signedBlockBytes(block), signature: header.signature },
  ];
  const checked: (Tx | undefined)[] = [undefined];
  for (const tx of txs) {
    if (isVerified(tx)) continue;
    // Where a proof is missing the rules of the pipeline decide; genesis types are refused there.
    for (const check of signaturesOf(tx)) {
      checks.push(check);
      checked.push(tx);
    }
  }
  const verdicts = await verifier.verify(checks);
  verdicts.forEach((good, i) => {
    if (good) return;
    const tx = checked[i];
    throw tx === undefined ? apiError('InvalidSignature') : invalidSignature(tx);
  });
}
