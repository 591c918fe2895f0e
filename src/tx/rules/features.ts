/** The features of the protocol, and which of them are active (state.md#features). */
import { refused } from '../../base/errors.ts';
import { END_OF_TABLE, START_OF_TABLE } from '../../ledger/key-codecs.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { features } from '../../ledger/tables.ts';
import type { BlockContext } from '../transaction.ts';
import type { ChainRules } from './chain-rules.ts';

interface Feature {
  readonly id: number;
  /** The name that clients know. */
  readonly name: string;
  /**
   * How this node treats it. `preset`: active from genesis unless the configuration says otherwise.
   * `vote`: new networks are founded with it, and in others the node votes for it. `own`: the same for
   * a rule of this project, with an id from 1000 on. `request`: the node votes for it where the
   * operator names it. `poa`: the same, and new networks under proof of authority are founded with it.
   * `unknown`: its rules are not implemented.
   */
  readonly support: 'preset' | 'vote' | 'request' | 'own' | 'poa' | 'unknown';
}

/** When features become active: without a vote, or one window after it. */
export type ActivationRules = Pick<ChainRules, 'preActivatedFeatures' | 'featureCheckBlocks'>;

/** Every feature of the protocol; this table alone knows their ids, names and support. */
const FEATURES = {
  /** Changes the miners' income: the next miner gets a part of the fees. */
  ngProtocol: { id: 2, name: 'NG Protocol', support: 'request' },
  massTransfer: { id: 3, name: 'Mass Transfer Transaction', support: 'preset' },
  smartAccounts: { id: 4, name: 'Smart Accounts', support: 'preset' },
  data: { id: 5, name: 'Data Transaction', support: 'preset' },
  burnAnyTokens: { id: 6, name: 'Burn Any Tokens', support: 'preset' },
  feeSwitch: { id: 7, name: 'Fee Switch', support: 'preset' },
  smartAssets: { id: 9, name: 'Smart Assets', support: 'preset' },
  smartAccountTrading: { id: 10, name: 'Smart Account Trading', support: 'preset' },
  updatedPos: { id: 100, name: 'Updated PoS', support: 'preset' },
  contractApi: { id: 101, name: 'Support of gRPC for Docker contracts', support: 'preset' },
  /** Needs no code of its own: its rules always apply here. */
  fasterPoa: { id: 119, name: 'Performance optimisation for PoA', support: 'vote' },
  sponsoredFees: { id: 120, name: 'Sponsored fees support', support: 'vote' },
  /** Needs no code of its own: its rules always apply here. */
  banHistory: { id: 130, name: 'Miner ban history', support: 'vote' },
  atomic: { id: 140, name: 'Atomic transactions', support: 'vote' },
  liquidBlock: { id: 160, name: 'Parallel liquid block', support: 'unknown' },
  contractValidation: { id: 162, name: 'Contract validation', support: 'unknown' },
  inventoryV2: { id: 173, name: 'Micro-block inventory v2', support: 'unknown' },
  largeObjects: { id: 180, name: 'Privacy large object', support: 'unknown' },
  /** Runs of scripts have a budget each, and those of a block have one together. */
  scriptMetering: { id: 1000, name: 'Metering of scripts', support: 'own' },
  /** The creator of a policy need not be one of its owners. */
  policyForOthers: { id: 1001, name: 'Policies created for other owners', support: 'own' },
  /** Bans, roles and their numbers cannot end a chain. */
  liveness: { id: 1002, name: 'Liveness of the chain', support: 'own' },
  /** A child may carry the turn of a block that lost, and then nobody is marked for that turn. */
  lostBlocks: { id: 1003, name: 'Turns of lost blocks', support: 'own' },
  /** Blocks bind their bodies and their parents, and may carry votes (finality.md). */
  finality: { id: 1004, name: 'Finality', support: 'poa' },
  /** Contract transactions inside atomic ones, which carry their results in blocks. */
  contractsInAtomics: { id: 1005, name: 'Contracts in atomic transactions', support: 'own' },
  /** Registrations of voters last as long as their votes count. */
  votersStay: { id: 1006, name: 'Registration of voters', support: 'own' },
  /** A script does not protect its account from a ban. */
  bansOfScripted: { id: 1007, name: 'Bans of scripted accounts', support: 'own' },
} as const satisfies Readonly<Record<string, Feature>>;

type FeatureIds = { readonly [Key in keyof typeof FEATURES]: (typeof FEATURES)[Key]['id'] };

/** Ids by key: `feature.massTransfer` is 3. */
// Keys and ids are those of the table.
export const feature = Object.fromEntries(
  Object.entries(FEATURES).map(([key, { id }]) => [key, id]),
) as FeatureIds;

const byId: ReadonlyMap<number, Feature> = new Map(
  Object.values(FEATURES).map((each) => [each.id, each]),
);

const idsOf = (...supports: readonly Feature['support'][]): readonly number[] =>
  Object.values(FEATURES)
    .filter(({ support }) => supports.includes(support))
    .map(({ id }) => id);

/** Features that the default configuration activates from genesis. */
export const presetFeatures = idsOf('preset');
/** Features that this node votes for where the operator leaves the choice to it. */
export const votedFeatures = idsOf('preset', 'vote', 'own');
/** Features whose rules this node has. */
export const implementedFeatures = idsOf('preset', 'vote', 'request', 'own', 'poa');
/**
 * What a new network adds to the default of `pre-activated-features`. The default lacks it, since the
 * networks that were founded with the default must not change.
 */
export const addedFeatures = idsOf('vote', 'own');
/** Features that a network is founded with. Finality takes proof of authority, and can be left out there. */
export const newNetworkFeatures = (hasFinality: boolean): readonly number[] =>
  idsOf('preset', 'vote', 'own', ...(hasFinality ? (['poa'] as const) : []));

/** The same in a configuration. */
export const newNetworkFeaturesText = (hasFinality: boolean): string =>
  newNetworkFeatures(hasFinality)
    .map((id) => `${id} = 0`)
    .join(', ');

/** Above the number of feature ids, which have 15 bits (block/header.ts). */
const FEATURES_MAX = 65_536;

export const featureName = (id: number): string => byId.get(id)?.name ?? 'Unknown feature';

/**
 * The height from which a feature is active; undefined while it is neither configured nor approved.
 */
export function activationHeight(
  view: LedgerView,
  id: number,
  rules: ActivationRules,
): number | undefined {
  return heightOfActivation(id, view.get(features, id)?.approvedAt, rules);
}

/** The same where the height is known at which votes have approved the feature, if they have. */
export function heightOfActivation(
  id: number,
  approvedAt: number | undefined,
  rules: ActivationRules,
): number | undefined {
  const given = rules.preActivatedFeatures.get(id);
  if (given !== undefined) return given;
  return approvedAt === undefined ? undefined : approvedAt + rules.featureCheckBlocks;
}

/** The features that are active in a block at `height`; asked once for each block. */
export function activeFeatures(
  view: LedgerView,
  height: number,
  rules: ChainRules,
): ReadonlySet<number> {
  const active = new Set<number>();
  for (const [id, from] of rules.preActivatedFeatures) if (height >= from) active.add(id);
  for (const [id, vote] of view.range(features, START_OF_TABLE, END_OF_TABLE, FEATURES_MAX)) {
    if (height >= vote.approvedAt + rules.featureCheckBlocks) active.add(id);
  }
  return active;
}

/** Throws ApiError unless the feature is active. */
export function requireFeature(
  id: number,
  forWhat: string,
  block: Pick<BlockContext, 'features'>,
): void {
  if (block.features.has(id)) return;
  throw refused(
    `ActivationError(Blockchain feature '${featureName(id)}' (id: '${id}') ` +
      `has not been activated yet, but is required for ${forWhat})`,
  );
}
