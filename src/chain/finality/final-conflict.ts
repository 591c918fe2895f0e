/**
 * Two final blocks that contradict each other, on disk (finality.md#contradictions): the node does not start again
 * before operators have said which of the two stays.
 */
import { base58 } from '../../base/base58.ts';
import { StartError } from '../../base/faults/start-error.ts';
import type { StoreWrite } from '../../base/ports/store.ts';
import { type ChainScheme, Reader } from '../../codec/codec.ts';
import { scratch } from '../../codec/scratch.ts';
import type { Conflict } from '../../finality/conflicts.ts';
import { decodeFinalProof, encodeFinalProof } from '../../finality/proofs/final-proof.ts';
import {
  CHECKPOINT_BYTES,
  type Checkpoint,
  readCheckpoint,
  writeCheckpoint,
} from '../../finality/votes/vote.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { meta } from '../../ledger/tables.ts';
import type { VoterOverride } from '../../tx/rules/chain-rules.ts';
import { leavesAt } from './finality-state.ts';

const NAME = 'final-conflict';

export function conflictWrite({ own, other }: Conflict, scheme: ChainScheme): StoreWrite {
  const out = scratch(scheme);
  writeCheckpoint(out, own);
  const head = out.take().slice();
  return {
    table: meta.id,
    key: meta.key.encode(NAME),
    value: Buffer.concat([head, encodeFinalProof(other, scheme)]),
  };
}

function storedConflict(view: LedgerView): Conflict | undefined {
  const bytes = view.get(meta, NAME)?.slice();
  if (bytes === undefined) return undefined;
  const own = readCheckpoint(new Reader(bytes, view.scheme));
  return { own, other: decodeFinalProof(bytes.subarray(CHECKPOINT_BYTES), view.scheme) };
}

/** Operators have named who votes above the own final block, in this chain. */
export const isSettled = (
  { own }: Conflict,
  overrides: readonly VoterOverride[],
  height: number,
): boolean => overrides.some(({ block }) => block.height >= own.height && block.height <= height);

/** The sets of this change decided before operators named others in this chain: what they sign is no news. */
export const areReplaced = (
  view: LedgerView,
  change: number,
  overrides: readonly VoterOverride[],
  height: number,
): boolean =>
  overrides.some(
    ({ block }) => block.height <= height && change < (leavesAt(view, block.height)?.change ?? 0),
  );

const textOf = ({ height, id }: Checkpoint): string => `block ${height} (${base58.encode(id)})`;

export const conflictText = ({ own, other }: Conflict): string =>
  `${textOf(own)} is final here, and votes prove that ${textOf(other.link.source)} is final, which this chain lacks: more than ` +
  'a third of the voters has lied';

/** The overrides fit the chain, whose last block has this height. Throws StartError. */
export function requireNoConflict(
  view: LedgerView,
  overrides: readonly VoterOverride[],
  height: number,
): void {
  const stored = storedConflict(view);
  if (stored === undefined || isSettled(stored, overrides, height)) return;
  const remedy =
    `decide with the other operators which of the two stays. Where it is the own one, name who votes from a block above ${stored.own.height} on ` +
    'in finality.overrides; where it is the other, move data-directory/chain away, and the node fetches the chain again';
  throw new StartError(
    'two final blocks',
    'finality.overrides, data-directory',
    conflictText(stored),
    remedy,
  );
}
