/**
 * The voter sets that a block leaves, as they are stored (finality.md#voter-sets-as-state):
 *
 *   u4  changes completed
 *       list2(public key)         the set
 *   u1  1 while a change goes on, else 0; then
 *         u4  height              of the block that began it
 *             list2(public key)   the set of the change
 *
 * Keys are in the order of their addresses, so sets have one encoding.
 */
import { compare } from '../../base/bytes.ts';
import { type ChainScheme, CodecError, Reader, type Writer } from '../../codec/codec.ts';
import { scratch } from '../../codec/scratch.ts';
import { VOTERS_MAX } from './vote.ts';
import { type VoterSet, voterSet } from './voter-set.ts';
import type { VoterSets } from './voter-sets.ts';

export function encodeVoterSets(sets: VoterSets<VoterSet>, scheme: ChainScheme): Uint8Array {
  const out = scratch(scheme);
  out.u32(sets.change);
  writeSet(out, sets.current);
  out.u8(sets.next === undefined ? 0 : 1);
  if (sets.next !== undefined) {
    out.u32(sets.next.since);
    writeSet(out, sets.next.voters);
  }
  return out.take();
}

/** Reads all of the bytes. Throws CodecError. */
export function decodeVoterSets(bytes: Uint8Array, scheme: ChainScheme): VoterSets<VoterSet> {
  const src = new Reader(bytes, scheme);
  const change = src.u32();
  const current = readSet(src);
  const flag = src.u8();
  if (flag > 1) throw new CodecError('voter sets', `flag ${flag}, expected 0 or 1`);
  const next = flag === 0 ? undefined : { since: src.u32(), voters: readSet(src) };
  src.finish();
  return { change, current, next };
}

function writeSet(out: Writer, { keys }: VoterSet): void {
  out.u16(keys.length);
  for (const key of keys) out.bytes(key);
}

function readSet(src: Reader): VoterSet {
  const { scheme } = src;
  const count = src.u16();
  if (count === 0 || count > VOTERS_MAX) {
    throw new CodecError('voter sets', `${count} voters, expected 1 to ${VOTERS_MAX}`);
  }
  const keys = Array.from({ length: count }, () => src.bytes(scheme.publicKeySize).slice());
  const set = voterSet(keys, scheme);
  if (set.keys.length !== count || set.keys.some((key, i) => compare(key, keys[i]!) !== 0)) {
    throw new CodecError('voter sets', 'addresses do not ascend');
  }
  return set;
}
