/**
 * The settings that transaction rules depend on (node.md#configuration). All nodes of a network
 * share them. The verdict on a transaction depends on these, the ledger and the block, and on
 * nothing else.
 */
import type { Checkpoint } from '../../finality/votes/vote.ts';

export interface FeeSettings {
  /** False: every minimum fee is 0. */
  readonly enabled: boolean;
  /** Type → minimum; a type without one carries no fee. */
  readonly base: ReadonlyMap<number, bigint>;
  /** Type → what each unit of size adds (`additionalFee` of the type). */
  readonly additional: ReadonlyMap<number, bigint>;
  /** Added for a scripted sender and for each scripted asset touched. */
  readonly scriptExtra: bigint;
}

/** finality.md#overrides */
export interface VoterOverride {
  /** Whose children the voters decide on; all chains with another block at its height are refused. */
  readonly block: Checkpoint;
  /** Public keys. */
  readonly voters: readonly Uint8Array[];
}

export const overrideAt = (
  overrides: readonly VoterOverride[],
  height: number,
): VoterOverride | undefined => overrides.find(({ block }) => block.height === height);

export interface ChainRules {
  /** Native token in messages. */
  readonly nativeToken: string;
  readonly fees: FeeSettings;
  /** How much earlier than the previous block a transaction's timestamp may be (H-4). */
  readonly txExpireTimeoutMs: number;
  /** Feature → height from which it is active without a vote; 0: from genesis. */
  readonly preActivatedFeatures: ReadonlyMap<number, number>;
  /** Length of a voting window; an approved feature becomes active one window later. */
  readonly featureCheckBlocks: number;
  /** True: every sender needs the role `sender`. */
  readonly senderRoleEnabled: boolean;
  /** False: exchanges (type 7) are refused. Absent: they are accepted. */
  readonly exchangeEnabled?: boolean;
  /** What operators have decided where too many voters are gone for good. Absent: nothing. */
  readonly voterOverrides?: readonly VoterOverride[];
}
