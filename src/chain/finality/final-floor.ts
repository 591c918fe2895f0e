/**
 * The final block of the own chain, with its proof, on disk (finality.md#votes, #fork-choice): no block
 * at or below it is taken back, by whatever way.
 */
import { equal } from '../../base/bytes.ts';
import { apiError } from '../../base/errors.ts';
import type { StoreWrite } from '../../base/ports.ts';
import { headerHash } from '../../block/header.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { decodeFinalProof, type FinalProof } from '../../finality/final-proof.ts';
import { readVote, VOTE_BYTES } from '../../finality/vote.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { meta } from '../../ledger/tables.ts';
import { headerRowAt } from '../store/stored-blocks.ts';

const NAME = 'final-block';
/** The one before it that the own chain had: it counts while the own chain lacks the newest. */
const OWN = 'own-final-block';

export const finalProofWrite = (proof: Uint8Array | undefined): StoreWrite => ({
  table: meta.id,
  key: meta.key.encode(NAME),
  value: proof,
});

/** The same for a newer one; what was the floor until now stays one. */
export function newerFinalWrites(view: LedgerView, proof: Uint8Array): StoreWrite[] {
  const write = finalProofWrite(proof);
  const vote = storedVote(view, NAME);
  if (vote === undefined || ownHeight(view, vote) === 0) return [write];
  return [write, { ...write, key: meta.key.encode(OWN), value: vote }];
}

export function storedFinalProof(view: LedgerView, scheme: ChainScheme): FinalProof | undefined {
  const bytes = view.get(meta, NAME);
  return bytes && decodeFinalProof(bytes.slice(), scheme);
}

/** Its height; 0 where there is none, or where the own chain has none of those that are kept. */
export function finalFloor(view: LedgerView): number {
  const newest = storedVote(view, NAME);
  return newest === undefined
    ? 0
    : ownHeight(view, newest) || ownHeight(view, storedVote(view, OWN));
}

/** Without the votes behind it, which may be many: each answer about a block asks for this height. */
const storedVote = (view: LedgerView, name: string): Uint8Array | undefined =>
  view.get(meta, name)?.slice(0, VOTE_BYTES);

/** Of the block that a vote makes final; 0 where the own chain does not have it. */
function ownHeight(view: LedgerView, vote: Uint8Array | undefined): number {
  const source = vote && readVote(vote, view.scheme).source;
  const row = source && headerRowAt(view, source.height);
  if (source === undefined || row === undefined) return 0;
  return equal(headerHash(row.header, view.scheme), source.id) ? source.height : 0;
}

/** Throws ApiError where the block at the floor would be taken back. */
export function requireAboveFloor(view: LedgerView, to: number): void {
  const floor = finalFloor(view);
  if (to < floor) {
    throw apiError('Invalid', `The block at height ${floor} is final and is never taken back`);
  }
}
