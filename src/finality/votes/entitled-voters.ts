/**
 * Who is entitled to vote by the state after a block, and what that does to the sets
 * (finality.md#voters). The state of the ledger is behind `Electorate`.
 */
import type { ChainScheme } from '../../codec/codec.ts';
import { isSameSet, type VoterSet, voterSet } from './voter-set.ts';
import { setsAfter, type VoterSets } from './voter-sets.ts';

export interface RoleHolder {
  readonly address: Uint8Array;
  /** Time of the operation that gave the role. */
  readonly since: number;
}

/** The state after a block, the block itself included. */
export interface Electorate {
  /** Accounts whose role `miner` is in force at `time`. */
  miners(time: number): Iterable<RoleHolder>;
  /** Its role `banned` is in force at `time`. Bans of the consensus are not meant. */
  isBanned(address: Uint8Array, time: number): boolean;
  hasScript(address: Uint8Array): boolean;
  /** The key of a miner who needs no block: of the genesis block, or whom operators have named since. */
  givenKey(address: Uint8Array): Uint8Array | undefined;
  /** Time and generator of the highest block that the account has made. */
  lastBlock(
    address: Uint8Array,
  ): { readonly timestamp: number; readonly generator: Uint8Array } | undefined;
}

/** `time` is that of the block. */
export function entitledVoters(state: Electorate, time: number, scheme: ChainScheme): VoterSet {
  const keys: Uint8Array[] = [];
  for (const holder of state.miners(time)) {
    const { address } = holder;
    if (state.isBanned(address, time) || state.hasScript(address)) continue;
    const key = state.givenKey(address) ?? keyOfBlock(state, holder);
    if (key !== undefined) keys.push(key);
  }
  return voterSet(keys, scheme);
}

/** Who was given the role and never made a block raises no quorum: it may not even exist. */
function keyOfBlock(state: Electorate, { address, since }: RoleHolder): Uint8Array | undefined {
  const block = state.lastBlock(address);
  return block === undefined || block.timestamp < since ? undefined : block.generator;
}

export interface BlockOfVoters {
  readonly height: number;
  readonly entitled: VoterSet;
  /** Height of the block that the carried justification makes final. */
  readonly provenFinal: number | undefined;
}

/**
 * What a block leaves to its children. A change to nobody never begins, since nobody could complete it
 * and none is given up.
 */
export const voterSetsAfter = (
  sets: VoterSets<VoterSet>,
  { height, entitled, provenFinal }: BlockOfVoters,
): VoterSets<VoterSet> => {
  const wanted = entitled.names.size === 0 ? sets.current : entitled;
  return setsAfter(sets, { height, entitled: wanted, provenFinal }, isSameSet);
};

/** The sets that the root leaves; undefined where it entitles nobody, so that nothing can be final. */
export const voterSetsOfRoot = (entitled: VoterSet): VoterSets<VoterSet> | undefined =>
  entitled.names.size === 0 ? undefined : { change: 0, current: entitled, next: undefined };
