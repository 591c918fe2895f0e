/**
 * A set of voters, and the two sets that may decide on one block (finality.md#voters).
 *
 * Invariants: the voters of a set ascend by address, each once; an address stands for one key, since it
 * is a hash of it. A voter is looked up by its key as a text of one character for each byte.
 */
import { compare, latin1 } from '../../base/bytes.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { ruleHash, VOTERS_MAX } from './vote.ts';
import { decidingSets, type VoterSets } from './voter-sets.ts';

export interface VoterSet {
  /** Public keys, in the order of their addresses. */
  readonly keys: readonly Uint8Array[];
  readonly addresses: readonly Uint8Array[];
  /** The keys as texts. */
  readonly names: ReadonlySet<string>;
}

/** The set of these keys, in any order, which may repeat; of too many, those with the lowest addresses. */
export function voterSet(
  keys: Iterable<Uint8Array>,
  scheme: ChainScheme,
  max = VOTERS_MAX,
): VoterSet {
  const byName = new Map(Array.from(keys, (key) => [latin1(key), key]));
  const voters = [...byName]
    .map(([name, key]) => ({ name, key, address: scheme.addressOf(key) }))
    .sort((a, b) => compare(a.address, b.address))
    .slice(0, max);
  return {
    keys: voters.map(({ key }) => key),
    addresses: voters.map(({ address }) => address),
    names: new Set(voters.map(({ name }) => name)),
  };
}

export const isSameSet = (a: VoterSet, b: VoterSet): boolean =>
  a === b || (a.names.size === b.names.size && [...a.names].every((name) => b.names.has(name)));

/** Those who decide on a block. */
export interface Deciding {
  readonly ruleHash: Uint8Array;
  /** The sets of which each must give a quorum. */
  readonly sets: readonly VoterSet[];
  /** The voters of all these sets. */
  readonly members: VoterSet;
}

/** What decides on a child of the block that left `sets`. `rule` says which of the sets do. */
export function decidingOn(
  sets: VoterSets<VoterSet>,
  scheme: ChainScheme,
  rule: typeof decidingSets = decidingSets,
): Deciding {
  const deciding = rule(sets);
  const keys = deciding.flatMap((set) => set.keys);
  return {
    ruleHash: ruleHash(addressesOf(sets), scheme),
    sets: deciding,
    members: deciding.length === 1 ? deciding[0]! : voterSet(keys, scheme, 2 * VOTERS_MAX),
  };
}

const addressesOf = ({
  change,
  current,
  next,
}: VoterSets<VoterSet>): VoterSets<readonly Uint8Array[]> => ({
  change,
  current: current.addresses,
  next: next && { voters: next.voters.addresses, since: next.since },
});

/** Whether each set gives a quorum. `quorum` is that of voter-sets.ts. */
export const isQuorumOfEach = (
  { sets }: Deciding,
  quorum: (count: number) => number,
  has: (name: string) => boolean,
): boolean =>
  sets.every(({ names }) => [...names].filter((name) => has(name)).length >= quorum(names.size));
