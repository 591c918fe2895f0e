/** Features of the protocol and which of them are active (protocol.md §6.1). */
import { END_OF_TABLE, START_OF_TABLE } from '../ledger/keys.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import { features } from '../ledger/tables.ts';
import type { NetworkSettings } from './network-settings.ts';

/** Ids and the names by which clients know them. */
export const featureNames: ReadonlyMap<number, string> = new Map([
  [2, 'NG Protocol'],
  [3, 'Mass Transfer Transaction'],
  [4, 'Smart Accounts'],
  [5, 'Data Transaction'],
  [6, 'Burn Any Tokens'],
  [7, 'Fee Switch'],
  [9, 'Smart Assets'],
  [10, 'Smart Account Trading'],
  [100, 'Updated PoS'],
  [101, 'Support of gRPC for Docker contracts'],
  [119, 'Performance optimisation for PoA'],
  [120, 'Sponsored fees support'],
  [130, 'Miner ban history'],
  [140, 'Atomic transactions'],
  [160, 'Parallel liquid block'],
  [162, 'Contract validation'],
  [173, 'Micro-block inventory v2'],
  [180, 'Privacy large object'],
]);

export const NG_PROTOCOL = 2;
export const SMART_ACCOUNTS = 4;
export const DATA_TRANSACTION = 5;
export const BURN_ANY_TOKENS = 6;
export const FEE_SWITCH = 7;

/** No more ids fit into a block's votes than this. */
const FEATURES_MAX = 65_536;

export const featureName = (id: number): string => featureNames.get(id) ?? 'Unknown feature';

/** Height from which a feature is active; undefined while it is neither given nor approved. */
export function activationHeight(
  view: LedgerView,
  id: number,
  network: NetworkSettings,
): number | undefined {
  const given = network.preActivatedFeatures.get(id);
  if (given !== undefined) return given;
  const vote = view.get(features, id);
  return vote && vote.approvedAt + network.featureCheckBlocks;
}

/** The features that hold for a block at `height`; asked once for each block. */
export function activeFeatures(
  view: LedgerView,
  height: number,
  network: NetworkSettings,
): ReadonlySet<number> {
  const active = new Set<number>();
  for (const [id, from] of network.preActivatedFeatures) if (height >= from) active.add(id);
  for (const [id, vote] of view.range(features, START_OF_TABLE, END_OF_TABLE, FEATURES_MAX)) {
    if (height >= vote.approvedAt + network.featureCheckBlocks) active.add(id);
  }
  return active;
}
