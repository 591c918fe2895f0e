/**
 * Replaces the blocks above an ancestor by a branch with a better score, in one commit or not at
 * all.
 *
 * Invariant: at most `depthMax` blocks are given up, and none that is final.
 */
import { Refusal } from '../../base/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import { blockId } from '../../block/block.ts';
import type { Header } from '../../block/header.ts';
import type { Consensus } from '../../consensus/consensus.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import type { AppliedBlock } from '../apply/block-applier.ts';
import type { CheckedBlock } from '../apply/verify-block.ts';
import type { Blockchain } from '../blockchain.ts';
import type { ChainWriter } from '../chain-writer.ts';
import { ABOVE_FINAL_MAX } from '../finality/final-floor.ts';
import { AppliedRun } from '../import/applied-run.ts';
import { headerRowAt, heightOf } from '../store/stored-blocks.ts';
import { type Tip, tipWith } from '../tip.ts';
import { BadBlock } from './bad-block.ts';
import { type Candidate, standingOf } from './chain-choice.ts';
import type { Equivocations } from './equivocation.ts';
import type { HeaderClaims } from './header-claims.ts';

export type SwitchOutcome =
  | 'adopted'
  | 'known'
  | 'not-better'
  | 'late'
  | 'unknown-parent'
  | 'too-deep'
  /** Votes are for this chain (finality.md#fork-choice), whatever the scores are. */
  | 'outvoted';

export interface BranchSwitchPorts {
  readonly blockchain: Blockchain;
  readonly consensus: Consensus;
  readonly claims: HeaderClaims;
  readonly clock: Pick<Clock, 'now'>;
  readonly equivocations: Pick<Equivocations, 'isThird'>;
  readonly log: Log;
  /** Absent where nothing votes. */
  readonly finality?: BranchFinality | undefined;
}

/** What votes say of branches (finality.md#fork-choice). */
export interface BranchFinality {
  /** Height of the final block: nothing at or below it is given up. 0 where nothing votes yet. */
  floor(): number;
  /** Which of the two has the higher justified block, as far as is known before the branch is applied. */
  lead(ancestor: number, branch: readonly Header[]): 'ours' | 'theirs' | undefined;
  /** The same for a branch that is applied, and exact. */
  exactLead(ancestor: number, branch: readonly AppliedBlock[]): 'ours' | 'theirs' | undefined;
}

export class BranchSwitch {
  private readonly rollbackMax: number;
  private readonly ports: BranchSwitchPorts;

  constructor(rollbackMax: number, ports: BranchSwitchPorts) {
    this.rollbackMax = rollbackMax;
    this.ports = ports;
  }

  /**
   * Blocks that may be given up now: `max-rollback`, or where votes decide those above the final one, up to
   * `ABOVE_FINAL_MAX`; and no deeper than undo records lead back.
   */
  depthMax(): number {
    const { blockchain, finality } = this.ports;
    const { height } = blockchain.tip();
    const floor = finality?.floor() ?? 0;
    const aboveFinal = floor === 0 ? 0 : Math.min(height - floor, ABOVE_FINAL_MAX);
    return Math.min(height - blockchain.lowestReachable(), Math.max(this.rollbackMax, aboveFinal));
  }

  /**
   * Runs under the chain's mutex, so the head does not move meanwhile. Throws BadBlock, and OwnFailure where
   * the store refuses the write.
   */
  async attempt(chain: ChainWriter, branch: readonly CheckedBlock[]): Promise<SwitchOutcome> {
    const { view } = this.ports.blockchain;
    const rest = withoutKnown(branch, view);
    const [first] = rest;
    if (first === undefined) return 'known';
    const ancestor = tipWith(first.block.header.reference, view);
    if (ancestor === undefined) return 'unknown-parent';
    const { height } = ancestor;
    const current = chain.tip();
    const { consensus, clock, equivocations, finality } = this.ports;
    const depth = current.height - height;
    if (this.isBelowFinal(height, depth)) return this.belowFinal(height);
    const headers = rest.map(({ block }) => block.header);
    const lead = depth === 0 ? undefined : finality?.lead(height, headers);
    if (lead === 'ours') return 'outvoted';
    // A branch that others have continued is theirs too.
    const isThird = rest.length === 1 && equivocations.isThird(first.block.header);
    if (depth > 0 && isThird && lead === undefined) return 'not-better';
    const depthMax = depth === 0 ? 0 : this.depthMax();
    const parting = depth > depthMax ? undefined : partingOf(view, height, headers);
    const candidate = { ...candidateOf(ancestor, headers, consensus), parting };
    const standing = standingOf(candidate, current, consensus, clock.now());
    if (standing !== 'better' && lead === undefined) return standing;
    if (depth > depthMax) {
      this.ports.log.error('fork.too-deep', {
        depth,
        max: depthMax,
        ancestor: height,
        why: 'another chain is better; an operator must decide which one is right',
      });
      return 'too-deep';
    }
    // What it is where the votes for it do not count after all; a late branch is nobody's fault.
    const withoutLead = standing === 'better' ? undefined : standing;
    return this.replace(chain, ancestor, depth, rest, withoutLead);
  }

  private isBelowFinal(ancestor: number, depth: number): boolean {
    return depth > 0 && ancestor < (this.ports.finality?.floor() ?? 0);
  }

  private belowFinal(ancestor: number): SwitchOutcome {
    // Its peers follow this chain once votes or blocks show them that the block is final.
    this.ports.log.info('fork.below-final', {
      ancestor,
      final: this.ports.finality?.floor() ?? 0,
      why: 'another chain lacks the final block of this node',
    });
    return 'outvoted';
  }

  private async replace(
    chain: ChainWriter,
    ancestor: Tip,
    depth: number,
    branch: readonly CheckedBlock[],
    withoutLead: SwitchOutcome | undefined,
  ): Promise<SwitchOutcome> {
    const { blockchain, claims, log, finality } = this.ports;
    if (depth > 0) await claims.require(chain, ancestor, branch);
    const unwinding = depth === 0 ? undefined : await chain.unwind(ancestor.height);
    const run = new AppliedRun(chain, ancestor, unwinding?.unwound.overlay ?? blockchain.view);
    const applied: AppliedBlock[] = [];
    for (const { block, txs, verdicts } of branch) {
      const verified = { block, txs, verdicts: await verdicts };
      const next = await run.apply(verified).catch((error) => {
        if (!(error instanceof Refusal)) throw error;
        throw new BadBlock(blockId(block), error, true);
      });
      applied.push(next);
    }
    const lead = depth === 0 ? undefined : finality?.exactLead(ancestor.height, applied);
    if (lead === 'ours') return 'outvoted';
    if (withoutLead !== undefined && lead === undefined) return withoutLead;
    // Votes may have come while the branch was applied.
    if (this.isBelowFinal(ancestor.height, depth)) return this.belowFinal(ancestor.height);
    await chain.commit(applied, unwinding);
    const { height } = run.tip;
    if (depth > 0) {
      log.warn('chain.reorganised', { from: ancestor.height, depth, height });
    } else {
      const count = applied.reduce((sum, { txs }) => sum + txs.length, 0);
      log.info('block.appended', { height, blocks: applied.length, txs: count });
    }
    return 'adopted';
  }
}

function withoutKnown(branch: readonly CheckedBlock[], view: LedgerView): readonly CheckedBlock[] {
  const start = branch.findIndex(({ block }) => heightOf(view, blockId(block)) === undefined);
  return start === -1 ? [] : branch.slice(start);
}

/** Undefined where the branch only extends our chain. */
function partingOf(
  view: LedgerView,
  ancestor: number,
  [first]: readonly Header[],
): Candidate['parting'] {
  const ours = headerRowAt(view, ancestor + 1);
  if (first === undefined || ours === undefined) return undefined;
  return { theirs: first.signature, ours: ours.header.signature };
}

function candidateOf(
  { height, score }: Tip,
  headers: readonly Header[],
  consensus: Consensus,
): Candidate {
  const sum = headers.reduce((sum, header) => sum + consensus.score(header.consensus), score);
  return { ancestor: height, first: headers[0]!, header: headers.at(-1)!, score: sum };
}
