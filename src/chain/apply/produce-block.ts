/**
 * Makes a block of this node, up to its signature
 * (consensus.md#making-a-block-under-proof-of-authority).
 *
 * Invariants: before anything is packed, the turn is checked on the same head on which the block
 * builds; the turn is claimed with the sealed block before anybody sees that block, and no turn is
 * claimed for two blocks; nothing is sealed after the end of the turn.
 */

import { apiError } from '../../base/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Sign } from '../../base/signer/signing.ts';
import { SIGNATURE_BYTES } from '../../base/sizes.ts';
import { type Block, limitsOf, TRANSACTIONS_MAX, unsealedBlock } from '../../block/block.ts';
import { BLOCK_VERSION, type UnsignedHeader } from '../../block/header.ts';
import { type LostTurn, turnBytes } from '../../block/turn-claims.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import type { Consensus, ConsensusView, MinerIdentity, Parent } from '../../consensus/consensus.ts';
import { feature } from '../../tx/rules/features.ts';
import { bound } from '../finality/finality-rules.ts';
import type { Tip } from '../tip.ts';
import type { BlockDraft } from './block-draft.ts';
import type { ScriptsTaken } from './block-scripts.ts';

export interface PackLimits {
  /** The most bytes of all transactions. */
  readonly bytesMax: number;
  readonly countMax: number;
  /** The time of day at which the packer ends; absent: it ends when the pool is used up. */
  readonly deadline?: number;
  /** What scripts have taken so far, those of refused transactions too. */
  readonly scriptsTried?: () => ScriptsTaken;
}

export interface MinerKey extends MinerIdentity {
  readonly sign: Sign;
  /** Signs a turn alone, for the claims of a header; absent: `sign` does. */
  readonly signTurn?: Sign | undefined;
  /** Turns of blocks that came in time, of which the next block carries those that lost. */
  readonly seen?: () => readonly LostTurn[];
  /** The justification that a block on the head carries; empty or absent: none. */
  readonly carried?: () => Uint8Array;
  /** Absent in tools that make a chain of their own. */
  readonly turns?: {
    has(turn: string): boolean;
    /**
     * Resolves once the block of the turn is durably recorded. Throws ApiError where the turn
     * belongs to another block or cannot be recorded.
     */
    claim(turn: string, block: Uint8Array): Promise<void>;
  };
  /**
   * Signs the message of a block that has zeros as its signature, and keeps the block before: the
   * signature may be made and never arrive. Throws ApiError. Absent: the key is in this process, and
   * `sign` signs.
   */
  readonly signKept?: (turn: string, block: Uint8Array, message: Uint8Array) => Promise<Uint8Array>;
}

const NO_SIGNATURE = new Uint8Array(0);

/** Throws ApiError where the generator does not have the turn. */
export function headerInTurn(
  parent: Parent & { readonly id: Uint8Array },
  { address, publicKey }: MinerKey,
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

/** The header with its claims and, in a chain with finality, with what binds it. */
export function completed(
  header: UnsignedHeader,
  parent: Tip,
  key: MinerKey,
  draft: Pick<BlockDraft, 'context' | 'overlay'>,
  consensus: Consensus,
  view: ConsensusView,
): UnsignedHeader {
  const claimed = withClaims(header, parent, key, draft, consensus, view);
  const carried = key.carried?.() ?? NOTHING;
  return bound(claimed, parent, draft.context, carried, draft.overlay.scheme);
}

const NOTHING = new Uint8Array(0);
const UNSIGNED = new Uint8Array(SIGNATURE_BYTES);

/**
 * The header of a block after skipped rounds, with the turns that it claims for blocks that lost
 * (consensus.md#turn-claims). Its own claim is signed with the block. Before feature 1003 is active,
 * and where no round was skipped, it is the header as it was.
 */
function withClaims(
  header: UnsignedHeader,
  parent: Parent,
  { seen }: MinerKey,
  { context }: Pick<BlockDraft, 'context'>,
  consensus: Consensus,
  view: ConsensusView,
): UnsignedHeader {
  const { consensus: data } = header;
  const before = parent.header.consensus;
  if (!context.features.has(feature.lostBlocks)) return header;
  if (data.kind !== 'poa' || before.kind !== 'poa') return header;
  if (data.skippedRounds === before.skippedRounds) return header;
  const lost = consensus.clearing(seen?.() ?? [], parent, header.timestamp, view);
  return { ...header, consensus: { ...data, claims: { own: NO_SIGNATURE, lost } } };
}

async function withOwnClaim(
  header: UnsignedHeader,
  { sign, signTurn = sign }: MinerKey,
  scheme: ChainScheme,
): Promise<UnsignedHeader> {
  const { consensus: data } = header;
  if (data.kind !== 'poa' || data.claims === undefined) return header;
  const own = await signTurn(turnBytes(header, scheme));
  return { ...header, consensus: { ...data, claims: { ...data.claims, own } } };
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

/**
 * Signs, then claims the turn for this block. Throws ApiError where the turn was used before, or has
 * ended.
 */
export async function sealInTurn(
  header: UnsignedHeader,
  { overlay, txs }: BlockDraft,
  key: MinerKey,
  consensus: Consensus,
  clock: Pick<Clock, 'now'>,
): Promise<Block> {
  const { scheme } = overlay;
  const { turns } = key;
  const turn = consensus.turnOf(header);
  if (turns?.has(turn)) throw apiError('Invalid', `This node has used its turn: ${turn}`);
  const requireTime = (): void => {
    if (turns === undefined || !consensus.hasEnded(header, clock.now())) return;
    throw apiError('Invalid', `The turn has ended before its block was sealed: ${turn}`);
  };
  requireTime();
  const claimed = await withOwnClaim(header, key, scheme);
  const transactions = txs.map(({ bytes }) => bytes);
  const { message, seal } = unsealedBlock(claimed, transactions, scheme);
  const signed = key.signKept?.(turn, seal(UNSIGNED).bytes, message) ?? key.sign(message);
  const block = seal(await signed);
  // A signer may have taken its time.
  requireTime();
  await turns?.claim(turn, block.bytes);
  return block;
}
