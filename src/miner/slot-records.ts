/**
 * The records of `turns.journal`. A record with a first byte has a turn and, as it says, its block:
 * u1 kind, u1 length of the turn, turn, block. A turn without a block is a record of its text alone,
 * which begins with a letter; earlier releases wrote no others.
 *
 * Invariant: what a later record says of a turn replaces what earlier ones say. No turn that is used is
 * asked for.
 */
import { concat, fromUtf8, utf8 } from '../base/bytes.ts';

export interface SealedBlock {
  readonly turn: string;
  /** The whole block. */
  readonly bytes: Uint8Array;
}

export interface SlotEvent extends SealedBlock {
  /**
   * `sealed`: the block has the turn, and is the newest; `lost`: the block, which has the turn, leaves
   * the chain; `used`: the turn has a block that is not kept; `freed`: it has none; `asked`: a signer was
   * asked for the signature of the block, which has zeros in its place.
   */
  readonly kind: 'sealed' | 'lost' | 'used' | 'freed' | 'asked';
}

const NUMBERS = { sealed: 1, lost: 2, freed: 3, asked: 4 } as const;
const KINDS = new Map(
  (Object.keys(NUMBERS) as (keyof typeof NUMBERS)[]).map((kind) => [NUMBERS[kind] as number, kind]),
);
const HEAD_BYTES = 2;

export function recordOf({ kind, turn, bytes }: SlotEvent): Uint8Array {
  const text = utf8(turn);
  return kind === 'used' ? text : concat(Uint8Array.of(NUMBERS[kind], text.length), text, bytes);
}

/** A copy, since records are views of the whole file. */
export function readRecord(record: Uint8Array): SlotEvent {
  const kind = KINDS.get(record[0] ?? 0);
  if (kind === undefined) {
    return { kind: 'used', turn: fromUtf8(record) ?? '', bytes: new Uint8Array(0) };
  }
  const end = HEAD_BYTES + (record[1] ?? 0);
  return { kind, turn: fromUtf8(record.subarray(HEAD_BYTES, end)) ?? '', bytes: record.slice(end) };
}
