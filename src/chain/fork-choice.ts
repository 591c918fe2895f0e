/**
 * Which chain to follow (blocks.md#checks-of-a-received-block, consensus.md#choice-between-forks):
 * a branch with a better score replaces the blocks above its ancestor, in one commit or not at all.
 *
 * Invariants: the signatures of all blocks of a branch are checked before the state is read; a
 * refused branch changes nothing; a block that broke a rule is remembered, one from the future
 * never; at most `rollbackMax` blocks are given up.
 */
import { base58 } from '../base/base58.ts';
import { equal } from '../base/bytes.ts';
import { ApiError, apiError } from '../base/errors.ts';
import type { Clock, Log, Verifier } from '../base/ports.ts';
import { createTurns } from '../base/turns.ts';
import { type Block, blockId } from '../block/block.ts';
import type { Header } from '../block/header.ts';
import { type Consensus, isBetter, isFromFuture, type Parent } from '../consensus/consensus.ts';
import type { KeyedView } from '../ledger/head.ts';
import { Ahead } from './ahead.ts';
import type { AppliedBlock } from './block-applier.ts';
import type { Blockchain, Inside } from './blockchain.ts';
import { consensusView } from './consensus-view.ts';
import type { Equivocations } from './equivocation.ts';
import type { InvalidBlocks } from './invalid-blocks.ts';
import { headerRowAt, heightOf } from './stored-blocks.ts';
import { type Tip, tipOf } from './tip.ts';
import {
  decodeTransactions,
  type KnownVerdicts,
  type VerifiedBlock,
  verifyBlock,
} from './verify-block.ts';

export interface ForkChoiceOptions {
  /** `synchronization.max-rollback`. */
  readonly rollbackMax: number;
}

export interface ForkChoicePorts {
  readonly blockchain: Blockchain;
  readonly consensus: Consensus;
  readonly verifier: Verifier;
  readonly clock: Clock;
  readonly log: Log;
  readonly invalid: InvalidBlocks;
  readonly equivocations: Equivocations;
  /** From the pool (H-18). */
  readonly knownVerdicts: KnownVerdicts;
}

/** The outcome for a branch; `invalid` and `future` name the block and the reason. */
export type Verdict =
  | { readonly kind: 'adopted' | 'known' | 'not-better' | 'unknown-parent' | 'too-deep' }
  | {
      readonly kind: 'invalid' | 'future';
      readonly id: Uint8Array;
      readonly error: ApiError;
      /** The block does not have a valid signature of its generator, so the sender made it up. */
      readonly isForged: boolean;
    };

/** A block whose signatures are being checked. */
export interface CheckedBlock extends Omit<VerifiedBlock, 'verdicts'> {
  /** Rejects with ApiError where the signature of the generator is wrong. */
  readonly verdicts: Promise<VerifiedBlock['verdicts']>;
}

/** What is already known about a block. */
export interface Known {
  /** Its own signature is valid. */
  readonly isSigned: boolean;
}

export interface ForkChoice {
  /** Starts the checks that need no state; throws ApiError where a transaction does not decode. */
  check(block: Block): Promise<CheckedBlock>;
  /**
   * Takes consecutive blocks, the first of which has its parent in this chain; they replace the
   * blocks above that parent.
   */
  adopt(branch: readonly CheckedBlock[]): Promise<Verdict>;
  /**
   * Why a block with this header would be refused, without a look at its body. The headers before
   * it are checked first, then whose turn it was. Undefined: there is no reason, or its parent is
   * unknown here.
   */
  examine(header: Header): Promise<ApiError | undefined>;
  /** `check` and `adopt` for one block. */
  offer(block: Block, known?: Known): Promise<Verdict>;
  readonly invalid: InvalidBlocks;
  readonly equivocations: Equivocations;
}

/** The refusal that the rule throws, if any. */
function refusalOf(rule: () => void): ApiError | undefined {
  try {
    rule();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** A block that broke a rule, with that rule. */
class BadBlock extends Error {
  readonly id: Uint8Array;
  readonly refusal: ApiError;
  /**
   * False until its own signature is verified. Before that, a peer may have put the id of a good
   * block on a bad one; remembering the id would then exclude the good block.
   */
  readonly remembered: boolean;

  constructor(id: Uint8Array, refusal: ApiError, remembered: boolean) {
    super(refusal.message);
    this.id = id;
    this.refusal = refusal;
    this.remembered = remembered;
  }
}

const NOTHING_KNOWN: Known = { isSigned: false };

export function createForkChoice(options: ForkChoiceOptions, ports: ForkChoicePorts): ForkChoice {
  const { blockchain, consensus, verifier, clock, log, invalid, equivocations, knownVerdicts } =
    ports;
  const { view } = blockchain;
  const turns = createTurns(clock);
  // Blocks of this node are recorded too, so that two nodes with the same keys are detected.
  blockchain.listen({ block: ({ block }) => equivocations.note(block.row.header) });

  async function check(block: Block, known: Known = NOTHING_KNOWN): Promise<CheckedBlock> {
    const txs = await decodeTransactions(block, view.scheme, turns);
    const verdicts = verifyBlock(block, txs, verifier, knownVerdicts, known.isSigned);
    // `adopt` awaits them later; an earlier rejection must not end the process.
    verdicts.catch(() => undefined);
    return { block, txs, verdicts };
  }

  /** Checks the signatures and the order of all blocks before costlier work. */
  async function requireSound(branch: readonly CheckedBlock[]): Promise<void> {
    let previous: Header | undefined;
    for (const { block, verdicts } of branch) {
      const { header } = block;
      const id = blockId(block);
      const foreign = (why: string) => new BadBlock(id, apiError('Invalid', why), false);
      if (invalid.has(id)) throw foreign('The block is known to be invalid');
      await verdicts.catch((error) => {
        if (!(error instanceof ApiError)) throw error;
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

  function requirePresent(branch: readonly CheckedBlock[]): void {
    for (const { block } of branch) {
      const { timestamp } = block.header;
      if (!isFromFuture(timestamp, clock.now())) continue;
      const future = apiError('BlockFromFuture', timestamp);
      throw new BadBlock(blockId(block), future, false);
    }
  }

  /** Runs in the lane, so the head does not move meanwhile. */
  async function replace(inside: Inside, branch: readonly CheckedBlock[]): Promise<Verdict> {
    const rest = withoutKnown(branch);
    const [first] = rest;
    if (first === undefined) return { kind: 'known' };
    const height = heightOf(view, first.block.header.reference);
    if (height === undefined) return { kind: 'unknown-parent' };
    const current = inside.tip();
    const depth = current.height - height;
    const row = headerRowAt(view, height);
    if (row === undefined) return { kind: 'unknown-parent' };
    const ancestor = tipOf(height, row);
    if (!isBetter(endOf(ancestor, rest), { ...current, reference: current.header.reference })) {
      return { kind: 'not-better' };
    }
    if (depth > options.rollbackMax) {
      log.error('fork.too-deep', {
        depth,
        max: options.rollbackMax,
        ancestor: height,
        why: 'another chain has a better score; an operator must decide which one is right',
      });
      return { kind: 'too-deep' };
    }
    await extend(inside, ancestor, depth, rest);
    return { kind: 'adopted' };
  }

  function withoutKnown(branch: readonly CheckedBlock[]): readonly CheckedBlock[] {
    const start = branch.findIndex(({ block }) => heightOf(view, blockId(block)) === undefined);
    return start === -1 ? [] : branch.slice(start);
  }

  const endOf = (ancestor: Tip, branch: readonly CheckedBlock[]) => {
    let { score } = ancestor;
    for (const { block } of branch) score += consensus.score(block.header.consensus);
    const { signature: id, reference } = branch.at(-1)!.block.header;
    return { score, id, reference };
  };

  /**
   * A false claim must not cost more than this check: rolling back a hundred blocks reads all that
   * they have changed. Throws BadBlock.
   */
  function requireClaimed(inside: Inside, ancestor: Tip, branch: readonly CheckedBlock[]): void {
    let parent: Parent = ancestor;
    const earlier = new Map<number, Header>();
    const claims = consensusView(view, earlier);
    for (const { block } of branch) {
      const { header } = block;
      const broken = refusalOf(() => consensus.verifyHeader(header, parent, claims));
      if (broken !== undefined) throw new BadBlock(blockId(block), broken, true);
      parent = { height: parent.height + 1, header };
      earlier.set(parent.height, header);
    }
    const [first] = branch;
    const refusal = first && turnRefusal(inside, ancestor, first.block.header);
    if (refusal !== undefined) throw new BadBlock(blockId(first!.block), refusal, true);
  }

  function turnRefusal(inside: Inside, ancestor: Tip, header: Header): ApiError | undefined {
    const state = inside.consensusAt(ancestor.height);
    return refusalOf(() => consensus.verify(header, ancestor, state));
  }

  async function examine(header: Header): Promise<ApiError | undefined> {
    const ancestor = ancestorOf(header);
    if (ancestor === undefined) return undefined;
    const broken = refusalOf(() => consensus.verifyHeader(header, ancestor, consensusView(view)));
    if (broken !== undefined) return broken;
    if (ancestor.height === blockchain.tip().height) {
      return refusalOf(() => consensus.verify(header, ancestor, consensusView(view)));
    }
    return blockchain.exclusive(async (inside) => {
      const stillThere = ancestorOf(header);
      return stillThere && turnRefusal(inside, stillThere, header);
    });
  }

  /** Undefined where the parent is not in this chain, or is deeper than a rollback may go. */
  function ancestorOf({ reference }: Header): Tip | undefined {
    const height = heightOf(view, reference);
    const row = height === undefined ? undefined : headerRowAt(view, height);
    if (height === undefined || row === undefined) return undefined;
    return blockchain.tip().height - height > options.rollbackMax ? undefined : tipOf(height, row);
  }

  async function extend(
    inside: Inside,
    ancestor: Tip,
    depth: number,
    branch: readonly CheckedBlock[],
  ): Promise<void> {
    if (depth > 0) requireClaimed(inside, ancestor, branch);
    const unwinding = depth === 0 ? undefined : await inside.unwind(ancestor.height);
    const ahead = new Ahead();
    const applied: AppliedBlock[] = [];
    let base: KeyedView = unwinding?.unwound.overlay ?? view;
    let tip = ancestor;
    for (const { block, txs, verdicts } of branch) {
      const verified = { block, txs, verdicts: await verdicts };
      const next = await inside.apply(base, tip, verified, ahead).catch((error) => {
        if (!(error instanceof ApiError)) throw error;
        throw new BadBlock(blockId(block), error, true);
      });
      applied.push(next);
      base = next.overlay;
      tip = tipOf(next.height, next.row);
      ahead.add(next.height, next.row.header, next.txs);
    }
    await inside.commit(applied, unwinding);
    const { height } = tip;
    if (depth > 0) {
      log.warn('chain.reorganised', { from: ancestor.height, depth, height });
    } else {
      const count = applied.reduce((sum, { txs }) => sum + txs.length, 0);
      log.info('block.appended', { height, blocks: applied.length, txs: count });
    }
  }

  async function adopt(branch: readonly CheckedBlock[]): Promise<Verdict> {
    try {
      await requireSound(branch);
      requirePresent(branch);
    } catch (error) {
      return refusal(error);
    }
    return blockchain.exclusive((inside) => replace(inside, branch)).catch(refusal);
  }

  function refusal(error: unknown): Verdict {
    if (!(error instanceof BadBlock)) throw error;
    const { id, refusal, remembered } = error;
    if (remembered) invalid.add(id);
    const isFuture = refusal.entry === 'BlockFromFuture';
    const fields = { id: base58.encode(id), why: refusal.message };
    if (isFuture) log.info('block.early', fields);
    else log.warn('block.refused', fields);
    const isForged = refusal.entry === 'InvalidSignature';
    return { kind: isFuture ? 'future' : 'invalid', id, error: refusal, isForged };
  }

  return {
    check: (block) => check(block),
    adopt,
    examine,
    async offer(block, known = NOTHING_KNOWN) {
      try {
        return await adopt([await check(block, known)]);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return refusal(new BadBlock(blockId(block), error, known.isSigned));
      }
    },
    invalid,
    equivocations,
  };
}
