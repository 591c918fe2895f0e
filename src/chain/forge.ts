/**
 * A block of this node, up to its signature (consensus.md#making-a-block-under-proof-of-authority).
 *
 * Invariants: whose turn it is was checked on the very tip that the block stands on, before anything
 * is packed; the turn is claimed before the signature, and no turn is claimed twice.
 */
import { type Block, limitsOf, sealBlock, TRANSACTIONS_MAX } from '../block/block.ts';
import { BLOCK_VERSION, type UnsignedHeader } from '../block/header.ts';
import type { Consensus, ConsensusView, Forger, Parent } from '../consensus/consensus.ts';
import type { BlockDraft } from './block-draft.ts';

/** Fills a draft with transactions up to these limits. */
export type Packer = (draft: BlockDraft, limits: PackLimits) => Promise<void>;

export interface PackLimits {
  /** Bytes of all transactions. */
  readonly bytesMax: number;
  readonly countMax: number;
  /** Time of day at which the packer ends; absent: it ends with the pool. */
  readonly deadline?: number;
}

export interface Generator extends Forger {
  readonly sign: (message: Uint8Array) => Uint8Array;
  /**
   * Resolves once the turn is durably noted as used; throws ApiError where it was used before or
   * cannot be noted. Absent in tools that make a chain of their own.
   */
  readonly claim?: (turn: string) => Promise<void>;
}

const NO_SIGNATURE = new Uint8Array(0);

/** Throws ApiError where it is not the turn of the generator. */
export function headerInTurn(
  parent: Parent & { readonly id: Uint8Array },
  { address, publicKey }: Generator,
  timestamp: number,
  features: readonly number[],
  consensus: Consensus,
  view: ConsensusView,
): UnsignedHeader {
  const header = {
    version: BLOCK_VERSION,
    timestamp,
    reference: parent.id,
    consensus: consensus.fields(parent, { address, publicKey }, timestamp, view),
    features,
    generator: publicKey,
  } as const;
  consensus.verify({ ...header, signature: NO_SIGNATURE }, parent, view);
  return header;
}

export function packLimits({ context }: BlockDraft, transactionBytesMax: number): PackLimits {
  const limits = limitsOf(transactionBytesMax, (id) => context.features.has(id));
  return {
    bytesMax: limits.transactionBytesMax,
    countMax: limits.transactionsMax ?? TRANSACTIONS_MAX,
  };
}

/** Claims the turn, and signs. Throws ApiError where it was used before. */
export async function sealInTurn(
  header: UnsignedHeader,
  { overlay, txs }: BlockDraft,
  { sign, claim }: Generator,
  consensus: Consensus,
): Promise<Block> {
  await claim?.(consensus.turnOf(header));
  return sealBlock(
    header,
    txs.map(({ bytes }) => bytes),
    overlay.scheme,
    sign,
  );
}
