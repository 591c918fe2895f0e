/**
 * Which chain to follow (blocks.md#checks-of-a-received-block, consensus.md#choice-between-forks):
 * a branch with a better score replaces the blocks above its ancestor, in one commit or not at all.
 *
 * Invariants: the signatures of all blocks of a branch are checked before the state is read; a
 * refused branch changes nothing; a block that broke a rule is remembered, one from the future
 * never; at most `depthMax` blocks are given up; checks wait for room in the verifier.
 */
import { base58 } from '../../base/base58.ts';
import { equal } from '../../base/bytes.ts';
import { apiError, Refusal } from '../../base/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Verifier } from '../../base/ports/verifier.ts';
import { type Block, blockId } from '../../block/block.ts';
import type { Header } from '../../block/header.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import { type Consensus, isFromFuture } from '../../consensus/consensus.ts';
import type { Tx } from '../../tx/transaction.ts';
import { ChecksRoom } from '../apply/checks-room.ts';
import {
  type CheckedBlock,
  composeChecks,
  decodeTransactions,
  hasGoodSignature,
  type KnownVerdicts,
} from '../apply/verify-block.ts';
import type { Blockchain } from '../blockchain.ts';
import { BadBlock } from './bad-block.ts';
import { type BranchFinality, BranchSwitch, type SwitchOutcome } from './branch-switch.ts';
import type { Equivocations } from './equivocation.ts';
import { HeaderClaims } from './header-claims.ts';
import type { InvalidBlocks } from './invalid-blocks.ts';

export interface ForkChoiceOptions {
  /** `synchronization.max-rollback`. */
  readonly rollbackMax: number;
}

export interface ForkChoiceDeps {
  readonly blockchain: Blockchain;
  readonly consensus: Consensus;
  readonly verifier: Verifier;
  readonly clock: Clock;
  readonly log: Log;
  readonly invalid: InvalidBlocks;
  readonly equivocations: Equivocations;
  /** From the pool (H-18: proofs are not part of the id). */
  readonly knownVerdicts: KnownVerdicts;
  /** Absent where nothing votes. */
  readonly finality?: BranchFinality | undefined;
}

/** The outcome for a branch; `invalid` and `future` name the block and the reason. */
export type BranchOutcome =
  | { readonly kind: SwitchOutcome }
  | {
      readonly kind: 'invalid' | 'future';
      readonly id: Uint8Array;
      readonly error: Refusal;
      /** No valid signature of its generator is known for the block, so its sender has to answer. */
      readonly isForged: boolean;
    };

/** What is already known about a block. */
export interface BlockKnowledge {
  /** Its own signature is valid. */
  readonly isSigned: boolean;
}

const NOTHING_KNOWN: BlockKnowledge = { isSigned: false };

export class ForkChoice {
  readonly invalid: InvalidBlocks;
  readonly equivocations: Equivocations;
  private readonly deps: ForkChoiceDeps;
  private readonly slice: TimeSlice;
  private readonly room = new ChecksRoom();
  private readonly claims: HeaderClaims;
  private readonly branches: BranchSwitch;
  private forget: (() => void) | undefined;

  constructor({ rollbackMax }: ForkChoiceOptions, deps: ForkChoiceDeps) {
    const { blockchain, consensus, clock, invalid, equivocations } = deps;
    this.deps = deps;
    this.invalid = invalid;
    this.equivocations = equivocations;
    this.slice = new TimeSlice(clock);
    this.claims = new HeaderClaims(blockchain, consensus, () => this.depthMax());
    this.branches = new BranchSwitch(rollbackMax, { ...deps, claims: this.claims });
  }

  start(): void {
    const { blockchain, equivocations } = this.deps;
    // Blocks of this node are recorded too, so that two nodes with the same keys are detected.
    this.forget = blockchain.listen({ block: ({ block }) => equivocations.note(block.row.header) });
  }

  stop(): void {
    this.forget?.();
  }

  /** Blocks that may be given up for another branch now. */
  depthMax(): number {
    return this.branches.depthMax();
  }

  /** Starts the checks that need no state. What they refuse, `adopt` refuses. */
  async check(block: Block, known: BlockKnowledge = NOTHING_KNOWN): Promise<CheckedBlock> {
    let txs: readonly Tx[] = [];
    let verdicts: CheckedBlock['verdicts'];
    try {
      txs = await decodeTransactions(block, this.deps.blockchain.view.scheme, this.slice);
      verdicts = this.verdictsOn(block, txs, known.isSigned);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      verdicts = this.unreadable(block, error, known.isSigned);
    }
    // `adopt` awaits them later; an earlier rejection must not end the process.
    verdicts.catch(() => undefined);
    return { block, txs, verdicts };
  }

  /**
   * Why a block with this header would be refused, without a look at its body. The headers before
   * it are checked first, then whose turn it was. Undefined: there is no reason, or its parent is
   * unknown here.
   */
  examine(header: Header): Promise<Refusal | undefined> {
    return this.claims.examine(header);
  }

  /** `check` and `adopt` for one block. */
  async offer(block: Block, known: BlockKnowledge = NOTHING_KNOWN): Promise<BranchOutcome> {
    return this.adopt([await this.check(block, known)]);
  }

  /**
   * Takes consecutive blocks, the first of which has its parent in this chain; they replace the
   * blocks above that parent. Rejects where this node could not do its part; that says nothing
   * about the blocks, which are neither refused nor remembered.
   */
  async adopt(branch: readonly CheckedBlock[]): Promise<BranchOutcome> {
    const { blockchain, clock } = this.deps;
    try {
      await requireSigned(branch, this.deps);
      requirePresent(branch, clock.now());
      const kind = await blockchain.exclusive((chain) => this.branches.attempt(chain, branch));
      return { kind };
    } catch (error) {
      return this.refusal(error);
    }
  }

  private async verdictsOn(block: Block, txs: readonly Tx[], isSigned: boolean) {
    const { knownVerdicts, blockchain, verifier } = this.deps;
    const { view } = blockchain;
    const composed = composeChecks(block, txs, knownVerdicts, view, this.slice, isSigned);
    const checks = await composed.catch((error) => {
      if (!(error instanceof Refusal)) throw error;
      return this.unreadable(block, error, isSigned);
    });
    await this.room.enter(checks);
    return checks.ask(verifier).finally(() => this.room.leave(checks));
  }

  /** Rejects with BadBlock. Who has signed what is refused before that was known answers for it. */
  private async unreadable(block: Block, refusal: Refusal, isKnown: boolean): Promise<never> {
    const { blockchain, verifier } = this.deps;
    const isSigned = isKnown || (await hasGoodSignature(block, verifier, blockchain.view.scheme));
    throw new BadBlock(blockId(block), refusal, isSigned, !isSigned);
  }

  private refusal(error: unknown): BranchOutcome {
    const { invalid, log } = this.deps;
    if (!(error instanceof BadBlock)) throw error;
    const { id, refusal, isForged } = error;
    invalid.add(error);
    const isFuture = refusal.entry === 'BlockFromFuture';
    const fields = { id: base58.encode(id), why: refusal.message };
    if (isFuture) log.info('block.early', fields);
    else log.warn('block.refused', fields);
    return { kind: isFuture ? 'future' : 'invalid', id, error: refusal, isForged };
  }
}

/** Checks the signatures and the order of all blocks before costlier work. */
async function requireSigned(
  branch: readonly CheckedBlock[],
  { invalid, equivocations }: Pick<ForkChoiceDeps, 'invalid' | 'equivocations'>,
): Promise<void> {
  let previous: Header | undefined;
  for (const { block, verdicts } of branch) {
    const { header } = block;
    const id = blockId(block);
    const foreign = (why: string) => new BadBlock(id, apiError('Invalid', why), false);
    if (invalid.has(id)) throw foreign('The block is known to be invalid');
    await verdicts.catch((error) => {
      if (!(error instanceof Refusal)) throw error;
      // Only an answer to the checks comes here, that on the signature of the block first.
      throw new BadBlock(id, error, error.entry !== 'InvalidSignature');
    });
    // This check comes after the signature: a forged reference is the fault of the sender, not of
    // the branch.
    if (previous !== undefined && !equal(header.reference, previous.signature)) {
      throw foreign('The blocks of the branch do not follow each other');
    }
    equivocations.note(header);
    previous = header;
  }
}

function requirePresent(branch: readonly CheckedBlock[], now: number): void {
  for (const { block } of branch) {
    const { timestamp } = block.header;
    if (!isFromFuture(timestamp, now)) continue;
    const future = apiError('BlockFromFuture', timestamp);
    throw new BadBlock(blockId(block), future, false);
  }
}
