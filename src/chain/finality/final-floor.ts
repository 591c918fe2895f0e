/**
 * The final block of the own chain, with its proof, on disk (finality.md#votes, #fork-choice): no block
 * at or below it is taken back, by whatever way.
 *
 * Invariant: the stored proof is of a block of the own chain. It is written while no branch is.
 */
import { equal } from '../../base/bytes.ts';
import { apiError } from '../../base/errors.ts';
import type { StoreWrite } from '../../base/ports/store.ts';
import { headerHash } from '../../block/header.ts';
import { decodeHeaderRow } from '../../block/header-row.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { decodeFinalProof, type FinalProof } from '../../finality/proofs/final-proof.ts';
import { readVote, VOTE_BYTES } from '../../finality/votes/vote.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { headers, meta } from '../../ledger/tables.ts';

/**
 * Blocks above the final one that are given up at most. A longer branch has to be fetched whole before it is better, and
 * what is fetched is bounded.
 */
export const ABOVE_FINAL_MAX = 500;

const NAME = 'final-block';
/** The proof of a block that the own chain lacks for now. */
const AHEAD = 'final-ahead';

const writeOf = (name: string, proof: Uint8Array | undefined): StoreWrite => ({
  table: meta.id,
  key: meta.key.encode(name),
  value: proof,
});

export const finalProofWrite = (proof: Uint8Array | undefined): StoreWrite => writeOf(NAME, proof);

/** A restart keeps this proof, and no answer shows it. */
export const proofAheadWrite = (proof: Uint8Array | undefined): StoreWrite => writeOf(AHEAD, proof);

export const storedAhead = (view: LedgerView): Uint8Array | undefined =>
  view.get(meta, AHEAD)?.slice();

/** True for the proof of a block of the own chain: no other is stored as the final one. */
export const provesOwn = (view: LedgerView, proof: Uint8Array): boolean =>
  ownHeight(view, proof) > 0;

export function storedFinalProof(view: LedgerView, scheme: ChainScheme): FinalProof | undefined {
  const bytes = view.get(meta, NAME);
  return bytes && decodeFinalProof(bytes.slice(), scheme);
}

/** Height of the final block; 0 where there is none. Reads no votes: each answer about a block asks for it. */
export const finalFloor = (view: LedgerView): number => ownHeight(view, view.get(meta, NAME));

/** Hashes of headers by their rows: the view gives the same object for the same row. */
const hashes = new WeakMap<Uint8Array, Uint8Array>();

function hashOf(row: Uint8Array, scheme: ChainScheme): Uint8Array {
  let hash = hashes.get(row);
  if (hash === undefined) {
    hash = headerHash(decodeHeaderRow(row, scheme).header, scheme);
    hashes.set(row, hash);
  }
  return hash;
}

/** Height of the block that a proof makes final; 0 where the own chain does not have it. */
function ownHeight(view: LedgerView, proof: Uint8Array | undefined): number {
  const source = proof && readVote(proof.slice(0, VOTE_BYTES), view.scheme).source;
  const row = source && view.get(headers, source.height);
  if (source === undefined || row === undefined) return 0;
  return equal(hashOf(row, view.scheme), source.id) ? source.height : 0;
}

/** Throws ApiError where the block at the floor would be taken back. */
export function requireAboveFloor(view: LedgerView, to: number): void {
  const floor = finalFloor(view);
  if (to < floor) {
    throw apiError('Invalid', `The block at height ${floor} is final and is never taken back`);
  }
}
