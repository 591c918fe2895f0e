/**
 * Makes a block of this node, up to its signature
 * (consensus.md#making-a-block-under-proof-of-authority).
 *
 * Invariants: before anything is packed, the turn is checked on the same head on which the block
 * builds; the turn is claimed before the block is signed, and no turn is claimed twice.
 */
import { type Block, limitsOf, sealBlock, TRANSACTIONS_MAX } from '../block/block.ts';
import { BLOCK_VERSION, type UnsignedHeader } from '../block/header.ts';
import type { Consensus, ConsensusView, Forger, Parent } from '../consensus/consensus.ts';
import type { BlockDraft } from './block-draft.ts';
import type { ScriptsTaken } from './block-scripts.ts';

/** Fills the draft of a block with this header with transactions up to these limits. */
export type Packer = (
  draft: BlockDraft,
  limits: PackLimits,
  header: UnsignedHeader,
) => Promise<unknown>;

export interface PackLimits {
  /** The most bytes of all transactions. */
  readonly bytesMax: number;
  readonly countMax: number;
  /** The time of day at which the packer ends; absent: it ends when the pool is used up. */
  readonly deadline?: number;
  /** What scripts have taken so far, those of refused transactions too. */
  readonly scriptsTried?: () => ScriptsTaken;
}

export interface Generator extends Forger {
  readonly sign: (message: Uint8Array) => Uint8Array;
  /**
   * Resolves once it is durably recorded that the turn is used. Throws ApiError where it was used
   * before or cannot be recorded. Absent in tools that make a chain of their own.
   */
  readonly claim?: (turn: string) => Promise<void>;
}

const NO_SIGNATURE = new Uint8Array(0);

/** Throws ApiError where the generator does not have the turn. */
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

export function packLimits(
  { context, scriptsTried }: BlockDraft,
  transactionBytesMax: number,
): PackLimits {
  const limits = limitsOf(transactionBytesMax, (id) => context.features.has(id));
  return {
    bytesMax: limits.transactionBytesMax,
    countMax: limits.transactionsMax ?? TRANSACTIONS_MAX,
    scriptsTried,
  };
}

/** Claims the turn, then signs. Throws ApiError where the turn was used before. */
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
