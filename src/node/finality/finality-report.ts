/** What GET /finality says. */

import { base58 } from '../../base/base58.ts';
import { latin1 } from '../../base/bytes.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import type { Finality } from '../../finality/finality.ts';
import type { TrackedBlock } from '../../finality/tracked-block.ts';
import type { VoterSet } from '../../finality/votes/voter-set.ts';
import type { VoterSets } from '../../finality/votes/voter-sets.ts';
import type { FinalityReport } from '../../rest/services.ts';
import type { VoterOverride } from '../../tx/rules/chain-rules.ts';

export interface ReportContext {
  readonly scheme: ChainScheme;
  readonly finalHeight: number;
  /** That the block at this height leaves; undefined where there is none. */
  readonly finalSets: VoterSets<VoterSet> | undefined;
  readonly waits: boolean;
  readonly conflict: string;
  readonly overrides: readonly VoterOverride[];
}

export function reportOf(
  { pool, tracker, voter }: Finality,
  { leaves, checkpoint }: Pick<TrackedBlock, 'leaves' | 'checkpoint'>,
  { scheme, finalHeight, finalSets, waits, conflict, overrides }: ReportContext,
): FinalityReport {
  const { kept, evidence } = pool;
  const votersOf = ({ keys, addresses }: VoterSet) =>
    keys.map((key, i) => ({
      address: scheme.addressToText(addresses[i]!),
      votedHeight: kept.highestOf(latin1(key)),
    }));
  return {
    isActive: true,
    finalHeight,
    finalRuleHash:
      finalSets === undefined ? '' : base58.encode(tracker.deciding(finalSets).ruleHash),
    headHeight: checkpoint.height,
    headHash: base58.encode(checkpoint.id),
    justifiedHeight: tracker.justified.height,
    voters: votersOf(leaves.current),
    next: leaves.next === undefined ? [] : votersOf(leaves.next.voters),
    ownVotes: voter?.state() ?? 'off',
    waits,
    conflict,
    contradictions: evidence
      .list()
      .map(([{ voter: liar }]) => scheme.addressToText(scheme.addressOf(liar))),
    overrides: overrides.map(({ block: { height, id }, voters }) => ({
      height,
      header: base58.encode(id),
      voters: voters.map((key) => scheme.addressToText(scheme.addressOf(key))),
      isApplied: checkpoint.height >= height,
    })),
  };
}
