/** Signatures of a block and its transactions, checked in one batch on other threads. */
import { type ApiError, apiError } from '../base/errors.ts';
import type { SignatureCheck, Verifier } from '../base/ports.ts';
import { noTurns, type Turns } from '../base/turns.ts';
import { type Block, signedBytes as signedBlockBytes } from '../block/block.ts';
import { type ChainScheme, CodecError } from '../codec/codec.ts';
import { invalidSignature } from '../tx/pipeline.ts';
import { signaturesOf } from '../tx/signatures.ts';
import type { Tx } from '../tx/transaction.ts';
import { decodeTx } from '../tx/tx-bytes.ts';

/** Throws ApiError where one does not decode. */
export async function decodeTransactions(
  block: Block,
  scheme: ChainScheme,
  turns: Turns = noTurns,
): Promise<Tx[]> {
  try {
    const txs: Tx[] = [];
    for (const bytes of block.transactions) {
      txs.push(decodeTx(bytes, scheme));
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
  const { generator, signature } = block.header;
  const own = { publicKey: generator, message: signedBlockBytes(block), signature };
  await verify(
    [{ check: own, wrong: () => apiError('InvalidSignature') }, ...checksOf(txs, isVerified)],
    verifier,
  );
}

/** The same without the signature of the block itself. */
export const verifyTransactions = (
  txs: readonly Tx[],
  verifier: Verifier,
  isVerified: (tx: Tx) => boolean,
): Promise<void> => verify(checksOf(txs, isVerified), verifier);

interface Check {
  readonly check: SignatureCheck;
  readonly wrong: () => ApiError;
}

/** Where a proof is missing the rules of the pipeline decide; genesis types are refused there. */
function checksOf(txs: readonly Tx[], isVerified: (tx: Tx) => boolean): Check[] {
  const checks: Check[] = [];
  for (const tx of txs) {
    if (isVerified(tx)) continue;
    for (const check of signaturesOf(tx)) checks.push({ check, wrong: () => invalidSignature(tx) });
  }
  return checks;
}

async function verify(checks: readonly Check[], verifier: Verifier): Promise<void> {
  if (checks.length === 0) return;
  const verdicts = await verifier.verify(checks.map(({ check }) => check));
  const bad = verdicts.indexOf(false);
  if (bad !== -1) throw checks[bad]!.wrong();
}
