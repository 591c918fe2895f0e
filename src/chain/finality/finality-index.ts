/**
 * The blocks of the own chain as finality sees them, and those of branches that this node has given up since
 * its start (finality.md#fork-choice).
 *
 * Invariants: a block is in it only once it is applied and on disk, so its justification was judged. Blocks of
 * the own chain are found by their heights and read when they are asked for, so nothing depends on how
 * far the final block is behind. Those of other branches are forgotten below the final block.
 */
import { equal, latin1 } from '../../base/bytes.ts';
import { headerHash } from '../../block/header.ts';
import { BoundedCache } from '../../concurrency/bounded-cache.ts';
import type { BlockIndex, TrackedBlock } from '../../finality/tracked-block.ts';
import type { VoterSet } from '../../finality/votes/voter-set.ts';
import type { VoterSets } from '../../finality/votes/voter-sets.ts';
import { u32Key } from '../../ledger/key-codecs.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { carriedTargets, voterOverrides } from '../../ledger/tables.ts';
import { overrideAt, type VoterOverride } from '../../tx/rules/chain-rules.ts';
import { headerRowAt } from '../store/stored-blocks.ts';
import type { Tip } from '../tip.ts';
import { ABOVE_FINAL_MAX } from './final-floor.ts';
import { carriedBy } from './finality-rules.ts';
import { ChainBlocks, leavesAt } from './finality-state.ts';
import { overriddenSets } from './voter-override.ts';

/** Blocks of the own chain that are kept in memory, at least. */
const OWN_MAX = 2_048;

export class FinalityIndex implements BlockIndex {
  private readonly view: LedgerView;
  private readonly root: number;
  private readonly tip: () => Tip;
  private readonly overrides: readonly VoterOverride[];
  private readonly blocks = new Map<string, TrackedBlock>();
  /** Texts of header hashes of the chain that ends with `seen`, by height. */
  private readonly ownIds = new BoundedCache<number, string>(2 * OWN_MAX);
  private seen: Tip | undefined;
  private roomEnd = 2 * OWN_MAX;
  private head: { readonly tip: Tip; readonly block: TrackedBlock } | undefined;

  /** `root` is the height of the root; the head is at or above it. */
  constructor(
    view: LedgerView,
    root: number,
    tip: () => Tip,
    overrides: readonly VoterOverride[] = [],
  ) {
    this.view = view;
    this.root = root;
    this.tip = tip;
    this.overrides = overrides;
  }

  get(id: string, height: number): TrackedBlock | undefined {
    const known = this.blocks.get(id);
    if (known !== undefined) return known;
    return this.ownId(height) === id ? this.add(height) : undefined;
  }

  /** Undefined where the block is not in the own chain. */
  readonly ancestor = (block: TrackedBlock, height: number): TrackedBlock | undefined => {
    if (this.ownId(block.checkpoint.height) !== block.id) return undefined;
    const id = this.ownId(height);
    return id === undefined ? undefined : this.get(id, height);
  };

  /** Text of the header hash of the block of the own chain at a height. */
  private ownId(height: number): string | undefined {
    const tip = this.tip();
    if (tip !== this.seen) {
      const isNext =
        tip.height === (this.seen?.height ?? 0) + 1 &&
        this.seen !== undefined &&
        equal(tip.header.reference, this.seen.id);
      if (!isNext) this.ownIds.clear();
      this.seen = tip;
    }
    if (height < this.root || height > tip.height) return undefined;
    const known = this.ownIds.get(height);
    if (known !== undefined) return known;
    const row = headerRowAt(this.view, height);
    if (row === undefined) return undefined;
    const id = latin1(headerHash(row.header, this.view.scheme));
    this.ownIds.set(height, id);
    return id;
  }

  /** The block of the own chain at a height from the root on; undefined where nobody votes. */
  add(height: number): TrackedBlock | undefined {
    const block = this.read(height);
    if (block === undefined) return undefined;
    const known = this.blocks.get(block.id);
    if (known !== undefined) return known;
    this.makeRoom();
    this.blocks.set(block.id, block);
    return block;
  }

  /** What can be read again leaves; each look at all blocks pays for as many new ones. */
  private makeRoom(): void {
    if (this.blocks.size < this.roomEnd) return;
    const lowest = this.tip().height - OWN_MAX;
    for (const [id, { checkpoint }] of this.blocks) {
      const { height } = checkpoint;
      if (height < lowest && this.ownId(height) === id) this.blocks.delete(id);
    }
    this.roomEnd = Math.max(2 * OWN_MAX, 2 * this.blocks.size);
  }

  /** The last block of the own chain. */
  at(tip: Tip): TrackedBlock | undefined {
    if (this.head?.tip === tip) return this.head.block;
    const block = this.add(tip.height);
    if (block === undefined) return undefined;
    this.head = { tip, block };
    return block;
  }

  /** Blocks of the own chain that carry a justification, highest first. */
  *carriers(): Generator<TrackedBlock> {
    let end = this.tip().height + 1;
    for (;;) {
      const [from, to] = [u32Key.encode(0), u32Key.encode(end)];
      const [row] = this.view.range(carriedTargets, from, to, 1, true);
      const block = row && this.add(row[0]);
      if (row === undefined || block === undefined) return;
      yield block;
      end = row[0];
    }
  }

  private read(height: number): TrackedBlock | undefined {
    const row = headerRowAt(this.view, height);
    const left = leavesAt(this.view, height);
    if (row === undefined || left === undefined || height < this.root) return undefined;
    const chain = new ChainBlocks(this.view, new Map(), this.root);
    const checkpoint = chain.checkpoint(height);
    const isRoot = height === this.root;
    const named = overrideAt(this.overrides, height);
    const leaves = named === undefined ? left : this.named(height, left, named);
    const carried = carriedBy(row.header, this.view.scheme);
    return {
      id: latin1(checkpoint.id),
      checkpoint,
      parent: height === 1 ? '' : latin1(chain.checkpoint(height - 1).id),
      timestamp: row.header.timestamp,
      score: row.score,
      source: isRoot ? checkpoint : chain.source(height),
      deciding: isRoot ? leaves : (leavesAt(this.view, height - 1) ?? leaves),
      leaves,
      carried: carried && { ...carried, target: { ...carried.target } },
      isOverridden: named !== undefined,
    };
  }

  /**
   * The sets after a block whose voters operators have named. Its first child writes them; until then
   * only the configuration has them.
   */
  private named(
    height: number,
    left: VoterSets<VoterSet>,
    named: VoterOverride,
  ): VoterSets<VoterSet> {
    const isWritten = this.view.get(voterOverrides, height) !== undefined;
    return isWritten ? left : overriddenSets(left, named, this.view.scheme);
  }

  /** Blocks whose place another branch may take stay known after a start. */
  addBelow(tip: number): void {
    const { root } = this;
    for (let height = Math.max(root, tip - ABOVE_FINAL_MAX); height < tip; height++)
      this.add(height);
  }

  /** `height` is that of the final block, or just below it. */
  forgetBelow(height: number): void {
    for (const [id, { checkpoint }] of this.blocks) {
      if (checkpoint.height < height) this.blocks.delete(id);
    }
  }
}
