/**
 * The offline proof of a block of the own chain (finality.md#proofs), read from the rows of the state.
 *
 * Invariant: what it reads is bounded: by the changes of voters since the trusted block, by the blocks up to the
 * next final one, and by `CARRIERS_MAX` blocks that make nothing final.
 */
import { equal } from '../../base/bytes.ts';
import { apiError } from '../../base/errors.ts';
import { encodeLink } from '../../block/header.ts';
import { voteFor } from '../../finality/carried.ts';
import { isProofBy } from '../../finality/proofs/final-proof.ts';
import type { Justification } from '../../finality/proofs/justification.ts';
import type { ProofStep } from '../../finality/proofs/offline-proof.ts';
import { makesSourceFinal } from '../../finality/votes/links.ts';
import { decidingOn } from '../../finality/votes/voter-set.ts';
import { u32Key } from '../../ledger/key-codecs.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { carriedTargets, voterSets } from '../../ledger/tables.ts';
import { type ActivationRules, activationHeight, feature } from '../../tx/rules/features.ts';
import { finalFloor, storedFinalProof } from './final-floor.ts';
import { carriedBy } from './finality-rules.ts';
import { ChainBlocks, leavesAt, overriddenBelow, rootHeight } from './finality-state.ts';

/** Steps of a proof. */
const STEPS_MAX = 32;
/** Headers from the block to the final one. */
const PROOF_HEADERS_MAX = 10_000;
const CARRIERS_MAX = 1_000;
const END = u32Key.encode(0xffff_ffff);

export interface ProvenBlock {
  readonly steps: readonly ProofStep[];
  /** Height of the final block. */
  readonly final: number;
  /** From the block to the final one, read while they are taken. */
  readonly headers: Iterable<Uint8Array>;
}

/**
 * The proof for somebody who trusts the sets that the block at height `from` leaves; undefined: those of the root. Throws ApiError where
 * nothing at or above the block is final, where the blocks above it do not bind it, and where the proof would be
 * too long.
 */
export function proofOfBlock(
  view: LedgerView,
  rules: ActivationRules,
  height: number,
  from?: number,
  most = { steps: STEPS_MAX, headers: PROOF_HEADERS_MAX },
): ProvenBlock {
  const root = rootHeight(view, rules);
  const trusted = Math.max(from ?? 1, root ?? 1);
  const known = root === undefined ? undefined : leavesAt(view, trusted);
  if (root === undefined || known === undefined)
    throw apiError('Invalid', 'Nobody votes on blocks');
  const chain = new ChainBlocks(view, new Map(), root);
  const last = finalStep(view, chain, Math.max(height, trusted));
  if (last === undefined) {
    const lowest = Math.max(height, trusted);
    throw apiError(
      'Invalid',
      finalFloor(view) < lowest
        ? `No block at or above height ${lowest} is final`
        : 'The voters of the final block are not those of the chain: ask again once a block above it is final',
    );
  }
  const final = last.link.source.height;
  // A block of an older version has no hash of its parent.
  const lowest = (activationHeight(view, feature.finality, rules) ?? 0) - 1;
  if (height < Math.min(lowest, final)) {
    throw apiError(
      'Invalid',
      `Blocks below height ${lowest} have no proof: they are older than feature ${feature.finality}`,
    );
  }
  if (final - height >= most.headers) {
    throw apiError('TooBigSequence', `the next final block is ${final - height} blocks above`);
  }
  const overridden = overriddenBelow(view, final);
  if (overridden !== undefined && overridden > trusted) {
    throw apiError(
      'Invalid',
      `Operators have named the voters that block ${overridden} leaves, which no vote proves: name a height from ${overridden} on as 'from'`,
    );
  }
  const changes = last.sets.change - known.change;
  if (changes >= most.steps) {
    const since = `since height ${trusted}; name a later one as 'from'`;
    throw apiError('TooBigSequence', `the voters have changed ${changes} times ${since}`);
  }
  const steps = [...completions(view, chain, trusted, changes), last];
  return { steps, final, headers: linksOf(chain, height, final) };
}

function* linksOf(chain: ChainBlocks, from: number, to: number): Generator<Uint8Array> {
  for (let at = from; at <= to; at++) yield encodeLink(chain.header(at), chain.scheme).slice();
}

/** The lowest proof of a final block at or above a height. */
function finalStep(view: LedgerView, chain: ChainBlocks, height: number): ProofStep | undefined {
  const from = u32Key.encode(height + 1);
  for (const [at, { height: target }] of view.range(carriedTargets, from, END, CARRIERS_MAX)) {
    const source = chain.source(target).height;
    if (source < height || !makesSourceFinal({ source, target })) continue;
    return stepCarriedBy(chain, at);
  }
  const stored = storedFinalProof(view, view.scheme);
  const source = stored?.link.source;
  if (stored === undefined || source === undefined || source.height < height) return undefined;
  const sets = leavesAt(view, source.height);
  if (sets === undefined || !equal(chain.checkpoint(source.height).id, source.id)) return undefined;
  // The state has the voters that operators name from the first child of the block on.
  return isProofBy(stored, sets, view.scheme) ? { ...stored, sets } : undefined;
}

/** For each change that was completed, the proof that its last block carries. */
function* completions(
  view: LedgerView,
  chain: ChainBlocks,
  trusted: number,
  count: number,
): Generator<ProofStep> {
  let { change } = leavesAt(view, trusted)!;
  let left = count;
  // Each change has two rows: where it begins, and where it is complete.
  for (const [at] of view.range(voterSets, u32Key.encode(trusted + 1), END, 2 * count + 1)) {
    if (left === 0) return;
    const after = leavesAt(view, at)?.change ?? change;
    if (after === change) continue;
    change = after;
    left -= 1;
    const step = stepCarriedBy(chain, at);
    if (step !== undefined) yield step;
  }
}

/** The proof that a block of the chain carries, where its target is a child of its source. */
function stepCarriedBy(chain: ChainBlocks, height: number): ProofStep | undefined {
  const { scheme } = chain;
  const justification: Justification | undefined = carriedBy(chain.header(height), scheme);
  const block = justification && chain.at(justification.target.height);
  if (justification === undefined || block === undefined) return undefined;
  const { deciding: sets } = block;
  const link = voteFor(block, decidingOn(sets, scheme), chain.checkpoint(1).id);
  return { link, justification, sets };
}
