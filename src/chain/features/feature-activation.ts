/**
 * How features become active by vote, and the report about them (state.md#features, decision 41:
 * nodeStatus).
 *
 * Heights are cut into windows of W blocks: 1..W, W+1..2W and so on. Each block votes for the
 * features its generator supports. At the last height of a window, the features with enough votes
 * in it are approved. They become active one window later. Features that the configuration of the
 * network activates need no vote.
 *
 * Invariants: votes count for the window of their block, and the next window removes those of the
 * one before; an approved feature is never voted on again; a rollback restores the rows and with
 * them all of this, since no other place holds any of it.
 */
import { apiError } from '../../base/errors.ts';
import { FEATURE_VOTES_MAX } from '../../block/header.ts';
import {
  END_OF_TABLE,
  prefix,
  prefixEnd,
  START_OF_TABLE,
  u32Key,
} from '../../ledger/key-codecs.ts';
import type { Ledger, LedgerView } from '../../ledger/ledger.ts';
import { features, featureVotes } from '../../ledger/tables.ts';
import type { ChainRules } from '../../tx/rules/chain-rules.ts';
import {
  activationHeight,
  featureName,
  implementedFeatures,
  votedFeatures,
} from '../../tx/rules/features.ts';

/** Ids have 15 bits, so a window has no more counters. */
const FEATURES_MAX = 0x8000;

/** The voting rules of the network. */
export interface VotingSettings
  extends Pick<ChainRules, 'featureCheckBlocks' | 'preActivatedFeatures'> {
  /** The votes in one window that approve a feature. */
  readonly featureApprovalVotes: number;
}

/** The operator's choice for this node: `features.*` of the configuration. */
export interface FeatureSupport {
  /** True: vote for every implemented feature, except those that the operator must name. */
  readonly autoSupport: boolean;
  /** Features to vote for in any case. */
  readonly supported: readonly number[];
  /** True: judge no more blocks once a feature is active that this node does not implement. */
  readonly stopAtUnknown?: boolean;
}

const firstOfWindow = (height: number, length: number): number =>
  Math.floor((height - 1) / length) * length + 1;

/** Counts the votes of a block and approves features at the end of a window. */
export function countVotes(
  ledger: Ledger,
  height: number,
  votes: readonly number[],
  settings: VotingSettings,
): void {
  const { featureCheckBlocks: length } = settings;
  const first = firstOfWindow(height, length);
  if (height === first && height > 1) forgetWindow(ledger, first - length);
  for (const id of votes) {
    if (isDecided(ledger, id, settings)) continue;
    const count = ledger.get(featureVotes, [first, id]) ?? 0;
    ledger.set(featureVotes, [first, id], count + 1);
  }
  if (height % length !== 0) return;
  for (const [id, count] of votesInWindow(ledger, first)) {
    if (count >= settings.featureApprovalVotes) ledger.set(features, id, { approvedAt: height });
  }
}

function forgetWindow(ledger: Ledger, first: number): void {
  for (const id of votesInWindow(ledger, first).keys()) ledger.remove(featureVotes, [first, id]);
}

function votesInWindow(view: LedgerView, first: number): ReadonlyMap<number, number> {
  const start = prefix([u32Key], first);
  const rows = view.range(featureVotes, start, prefixEnd(start), FEATURES_MAX);
  return new Map([...rows].map(([[, id], count]) => [id, count]));
}

const isDecided = (
  view: LedgerView,
  id: number,
  { preActivatedFeatures }: VotingSettings,
): boolean => preActivatedFeatures.has(id) || view.get(features, id) !== undefined;

/** The votes of the next block: ascending, and no more than a block may hold. */
export function votesFor(
  view: LedgerView,
  settings: VotingSettings,
  { autoSupport, supported }: FeatureSupport,
): readonly number[] {
  const wanted = implementedFeatures.filter(
    (id) => supported.includes(id) || (autoSupport && votedFeatures.includes(id)),
  );
  return wanted.filter((id) => !isDecided(view, id, settings)).slice(0, FEATURE_VOTES_MAX);
}

/**
 * The active features whose rules this node does not have; with any of them it cannot judge blocks.
 * `active` is the result of tx/rules/features.ts for the height of the next block.
 */
export function unknownFeatures(active: ReadonlySet<number>): readonly number[] {
  return [...active].filter((id) => !implementedFeatures.includes(id)).sort((a, b) => a - b);
}

/**
 * True where such a feature is active at a height. What this node takes for a broken rule there may
 * be a rule that newer releases have; below, they have the same rules.
 */
export function lacksFeatures(view: LedgerView, height: number, settings: ChainRules): boolean {
  return unknownDecided(view, settings).some(([, from]) => from <= height);
}

/** Throws ApiError where such a feature is active and the operator wants to stop then. */
export function requireKnownFeatures(active: ReadonlySet<number>, support: FeatureSupport): void {
  if (support.stopAtUnknown !== true) return;
  const unknown = unknownFeatures(active);
  if (unknown.length > 0) throw apiError('Invalid', unknownText(unknown));
}

export const unknownText = (unknown: readonly number[]): string =>
  `Features unknown to this node are active: ${unknown.join(', ')}. A newer release is needed`;

/**
 * The features unknown to this node that become active after `height` → their activation height.
 */
export function unknownAhead(
  view: LedgerView,
  height: number,
  settings: ChainRules,
): ReadonlyMap<number, number> {
  return new Map(unknownDecided(view, settings).filter(([, from]) => from > height));
}

/** The features unknown to this node that are active, or will be, each with its activation height. */
function unknownDecided(
  view: LedgerView,
  settings: ChainRules,
): readonly (readonly [id: number, from: number])[] {
  const decided = [...view.range(features, START_OF_TABLE, END_OF_TABLE, FEATURES_MAX)];
  const ids = new Set([...settings.preActivatedFeatures.keys(), ...decided.map(([id]) => id)]);
  return unknownFeatures(ids).flatMap((id) => {
    const from = activationHeight(view, id, settings);
    return from === undefined ? [] : [[id, from]];
  });
}

export interface FeatureStatus {
  readonly id: number;
  readonly description: string;
  readonly blockchainStatus: 'VOTING' | 'APPROVED' | 'ACTIVATED';
  readonly nodeStatus: 'NOT_IMPLEMENTED' | 'IMPLEMENTED' | 'VOTED';
  /** For approved and activated features. */
  readonly activationHeight?: number;
  /** The votes in the current window, for features still voted on. */
  readonly supportingBlocks?: number;
}

export interface ActivationStatus {
  readonly height: number;
  readonly votingInterval: number;
  readonly votingThreshold: number;
  /** The last height of the current window. */
  readonly nextCheck: number;
  /** Ids ascending. */
  readonly features: readonly FeatureStatus[];
}

/** The answer of GET /activation/status for the state at `height`. */
export function activationStatus(
  view: LedgerView,
  height: number,
  settings: ChainRules & VotingSettings,
  { supported }: FeatureSupport,
): ActivationStatus {
  const { featureCheckBlocks: length, preActivatedFeatures } = settings;
  const first = firstOfWindow(height, length);
  const votes = votesInWindow(view, first);
  const approved = [...view.range(features, START_OF_TABLE, END_OF_TABLE, FEATURES_MAX)];
  const ids = new Set([
    ...implementedFeatures,
    ...preActivatedFeatures.keys(),
    ...approved.map(([id]) => id),
    ...votes.keys(),
  ]);
  return {
    height,
    votingInterval: length,
    votingThreshold: settings.featureApprovalVotes,
    nextCheck: first + length - 1,
    features: [...ids]
      .sort((a, b) => a - b)
      .map((id) => {
        const activation = activationHeight(view, id, settings);
        return {
          id,
          description: featureName(id),
          ...blockchainStatus(activation, height, votes.get(id) ?? 0),
          nodeStatus: nodeStatus(id, supported),
        };
      }),
  };
}

function blockchainStatus(
  activation: number | undefined,
  height: number,
  votes: number,
): Pick<FeatureStatus, 'blockchainStatus' | 'activationHeight' | 'supportingBlocks'> {
  if (activation === undefined) return { blockchainStatus: 'VOTING', supportingBlocks: votes };
  const blockchainStatus = height >= activation ? 'ACTIVATED' : 'APPROVED';
  return { blockchainStatus, activationHeight: activation };
}

function nodeStatus(id: number, supported: readonly number[]): FeatureStatus['nodeStatus'] {
  if (!implementedFeatures.includes(id)) return 'NOT_IMPLEMENTED';
  return supported.includes(id) ? 'VOTED' : 'IMPLEMENTED';
}
