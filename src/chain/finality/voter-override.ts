/**
 * The operators' way out where more than a third of the voters are gone for good
 * (finality.md#overrides): from the children of a named block on, other voters decide.
 */
import { equal } from '../../base/bytes.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { scratch } from '../../codec/scratch.ts';
import { writeCheckpoint } from '../../finality/votes/vote.ts';
import { type VoterSet, voterSet } from '../../finality/votes/voter-set.ts';
import type { VoterSets } from '../../finality/votes/voter-sets.ts';
import type { VoterOverride } from '../../tx/rules/chain-rules.ts';

/** What the block leaves instead. A change that goes on ends without effect. */
export const overriddenSets = (
  { change }: VoterSets<VoterSet>,
  { voters }: VoterOverride,
  scheme: ChainScheme,
): VoterSets<VoterSet> => ({
  change: change + 1,
  current: voterSet(voters, scheme),
  next: undefined,
});

/** `fast(u4 height ‖ b32 header hash ‖ u2 count ‖ keys)`, the keys in the order of their addresses. */
export function overrideHash(override: VoterOverride, scheme: ChainScheme): Uint8Array {
  const { keys } = voterSet(override.voters, scheme);
  const out = scratch(scheme);
  writeCheckpoint(out, override.block);
  out.u16(keys.length);
  for (const key of keys) out.bytes(key);
  return scheme.fastHash(out.take());
}

/** One hash of all overrides in the order of their heights; undefined where there are none. */
export function overridesHash(
  overrides: readonly VoterOverride[],
  scheme: ChainScheme,
): Uint8Array | undefined {
  if (overrides.length === 0) return undefined;
  const sorted = [...overrides].sort((a, b) => a.block.height - b.block.height);
  const out = scratch(scheme);
  for (const one of sorted) out.bytes(overrideHash(one, scheme));
  return scheme.fastHash(out.take());
}

/** The key of an account among these voters. */
export const keyAmong = (
  { keys, addresses }: VoterSet,
  address: Uint8Array,
): Uint8Array | undefined => keys[addresses.findIndex((one) => equal(one, address))];
