/** The transaction that carries the results of an execution (105), made and signed by the miner. */
import { apiError } from '../../base/errors.ts';
import { isI64 } from '../../base/int.ts';
import type { DataEntry } from '../../base/ports/containers.ts';
import { withSignature } from '../../base/signer/signing.ts';
import { SIGNATURE_BYTES } from '../../base/sizes.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { L2_MAX } from '../../codec/primitives.ts';
import { assemble, messageOf } from '../../tx/assemble.ts';
import { compiledLayoutOf, complete } from '../../tx/compiled-layout.ts';
import { resultsProblem } from '../../tx/fields/entries.ts';
import {
  type CheckedTx,
  carrying,
  type ProofVerdicts,
  unchecked,
} from '../../tx/proof-verdicts.ts';
import { EXECUTED_TX_BYTES_MAX, requireSize } from '../../tx/size.ts';
import type { Tx } from '../../tx/transaction.ts';
import { executedContract } from '../../tx/types/105-executed-contract.ts';
import type { Signer } from '../../tx/types/120-atomic.ts';

const plan = compiledLayoutOf(executedContract, executedContract.layouts[0]!);
/** A zero before what is signed, and behind it version, number and length of the proofs, and one of them. */
const FRAME_BYTES = 1 + 1 + 2 + 2 + SIGNATURE_BYTES;

/**
 * `verdicts` are those on the executed transaction. Throws ApiError where the results break a rule
 * or are too many bytes.
 */
export function executedTx(
  tx: Tx,
  verdicts: ProofVerdicts,
  results: readonly DataEntry[],
  timestamp: number,
  signer: Signer,
  scheme: ChainScheme,
): CheckedTx | Promise<CheckedTx> {
  requireEntries(results);
  const { publicKey: senderPublicKey, sign } = signer;
  const values = complete<typeof executedContract.fields>(plan, {
    senderPublicKey,
    tx,
    results,
    timestamp,
  });
  const message = messageOf(plan, values, scheme);
  // A signer refuses what is too large, and its refusals say nothing of the results.
  requireSize(executedContract, message.length + FRAME_BYTES);
  return withSignature(sign(message), (signature) => {
    const made = assemble(plan, values, [signature], scheme);
    // The own signature is checked like any other, before a block with it leaves this node.
    return { tx: made, verdicts: carrying(made, unchecked(made), verdicts) };
  });
}

/** What no bytes of a block could hold. The codec checks the rest where it reads, not where it writes. */
function requireEntries(results: readonly DataEntry[]): void {
  if (results.length > L2_MAX) throw apiError('TooBigSequence', `${results.length} results`);
  let bytes = 0;
  for (const { key, type, value } of results) {
    bytes += key.length;
    if (type === 'string' || type === 'binary') bytes += value.length;
    if (bytes > EXECUTED_TX_BYTES_MAX)
      throw apiError('TooBigSequence', 'results of too many bytes');
    if (!key.isWellFormed() || (type === 'string' && !value.isWellFormed())) {
      throw apiError('Invalid', 'Results with text that is no Unicode were found');
    }
    if (type === 'integer' && !isI64(value)) {
      throw apiError('Invalid', `Result '${key}' is not an integer of 64 bits`);
    }
  }
  const problem = resultsProblem(results);
  if (problem !== undefined) throw problem;
}
