/**
 * What the state says of finality (finality.md#voters, #voter-sets-as-state): from the root on, who
 * decides on a block and what the source of its votes is. Rows are written where something changes, so a
 * chain without the feature has none.
 *
 * Invariant: the answers for a block follow from the rows of its chain at or below it, so they are the
 * same on all nodes, and a rollback restores them.
 */
import { assert } from '../../base/assert.ts';
import { StartError } from '../../base/faults/start-error.ts';
import { type Header, headerHash } from '../../block/header.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import type { VotedBlock } from '../../finality/carried.ts';
import type { Checkpoint } from '../../finality/votes/vote.ts';
import type { VoterSet } from '../../finality/votes/voter-set.ts';
import type { VoterSets } from '../../finality/votes/voter-sets.ts';
import { decodeVoterSets } from '../../finality/votes/voter-sets-bytes.ts';
import { u32Key } from '../../ledger/key-codecs.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import type { Table } from '../../ledger/table.ts';
import { carriedTargets, features, voterOverrides, voterSets } from '../../ledger/tables.ts';
import { type ActivationRules, feature } from '../../tx/rules/features.ts';
import { headerRowAt } from '../store/stored-blocks.ts';

/** Headers of blocks that are applied and not committed, by height. */
export type HeadersAhead = ReadonlyMap<number, Header>;

/**
 * The height of the root: below each branch that may still win, since voters would otherwise decide on
 * two roots (finality.md#votes). Undefined while there is none.
 */
export function rootHeight(
  view: LedgerView,
  { preActivatedFeatures, featureCheckBlocks }: ActivationRules,
): number | undefined {
  const given = preActivatedFeatures.get(feature.finality);
  if (given !== undefined) return Math.max(1, given - featureCheckBlocks);
  return view.get(features, feature.finality)?.approvedAt;
}

/** Sets are read for each block, and have an address for each key. */
const decoded = new WeakMap<Uint8Array, VoterSets<VoterSet>>();

/** What the block at a height leaves to its children; undefined below the root, or where nobody votes. */
export function leavesAt(view: LedgerView, height: number): VoterSets<VoterSet> | undefined {
  const row = newest(view, voterSets, height);
  if (row === undefined || row.length === 0) return undefined;
  const known = decoded.get(row);
  if (known !== undefined) return known;
  const sets = decodeVoterSets(row, view.scheme);
  decoded.set(row, sets);
  return sets;
}

/** The highest block at or below a height whose voters operators have named. */
export function overriddenBelow(view: LedgerView, height: number): number | undefined {
  const [from, to] = [u32Key.encode(0), u32Key.encode(height + 1)];
  for (const [at] of view.range(voterOverrides, from, to, 1, true)) return at;
  return undefined;
}

/** False before the root; a store of an older release may lack it above. */
export const hasRoot = (view: LedgerView, height: number): boolean =>
  newest(view, voterSets, height) !== undefined;

/** Without its root this node would refuse each block of its neighbours, and blame them. Throws StartError. */
export function requireRoot(view: LedgerView, height: number, rules: ActivationRules): void {
  const root = rootHeight(view, rules);
  if (root === undefined || root > height || hasRoot(view, height)) return;
  throw new StartError(
    'finality',
    'node.data-directory',
    `feature ${feature.finality} was approved at height ${root} while another release ran here, which did not record the voters`,
    'make the data directory anew: move it away and let the node take the chain from its peers',
  );
}

function newest<V>(view: LedgerView, table: Table<number, V>, height: number): V | undefined {
  const [from, to] = [u32Key.encode(0), u32Key.encode(height + 1)];
  for (const [at] of view.range(table, from, to, 1, true)) return view.get(table, at);
  return undefined;
}

/** The blocks of a chain, as votes for them see them. */
export class ChainBlocks {
  private readonly view: LedgerView;
  private readonly ahead: HeadersAhead;
  private readonly root: number;

  /** `view` is the state at a block of the chain; what is above it is not asked for. */
  constructor(view: LedgerView, ahead: HeadersAhead, root: number) {
    this.view = view;
    this.ahead = ahead;
    this.root = root;
  }

  header(height: number): Header {
    const header = this.ahead.get(height) ?? headerRowAt(this.view, height)?.header;
    assert(header !== undefined, `the header of height ${height} is stored`);
    return header;
  }

  checkpoint(height: number): Checkpoint {
    return { height, id: headerHash(this.header(height), this.view.scheme) };
  }

  /**
   * The source of votes for the block at a height: the highest checkpoint whose justification the
   * chain carries up to this block. So all voters agree on it, and a restart loses nothing.
   */
  source(height: number): Checkpoint {
    const row = newest(this.view, carriedTargets, height);
    return row === undefined ? this.checkpoint(this.root) : { height: row.height, id: row.hash };
  }

  /** Undefined for the root, and where nobody votes. */
  at(height: number): VotedBlock | undefined {
    const deciding = height <= this.root ? undefined : leavesAt(this.view, height - 1);
    if (deciding === undefined) return undefined;
    return { checkpoint: this.checkpoint(height), source: this.source(height), deciding };
  }

  get scheme(): ChainScheme {
    return this.view.scheme;
  }
}
