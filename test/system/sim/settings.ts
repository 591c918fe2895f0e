/** The simulated networks: their members, their configuration and their genesis. */

import { base58 } from '../../../src/base/base58.ts';
import type { Block } from '../../../src/block/block.ts';
import { signGenesis } from '../../../src/block/genesis.ts';
import { genesisSettings } from '../../../src/node/config/genesis-section.ts';
import { readConfig } from '../../../src/node/config/read.ts';
import type { Config } from '../../../src/node/config/settings.ts';
import { feature, presetFeatures } from '../../../src/tx/rules/features.ts';
import { type Account, account, FUNDS, miners, scheme, users } from '../../chain/chain-harness.ts';
import { stranger } from '../../generators/faults.ts';
import { groupSenders } from './group-load.ts';
import { scriptedAccounts } from './script-load.ts';

export const GENESIS_TIME = 1_700_000_000_000;
/** A round of proof of authority; blocks of proof of stake aim at the same. */
export const LENGTH_MS = 10_000;
const SYNC_MS = 1_000;
export const ROLLBACK_MAX = 100;
export const BAN_BLOCKS = 10;
export const POOL_BYTES_MAX = 4 * 1024 * 1024;
export const PORT = 6864;

export type ConsensusKind = 'poa' | 'pos';

export interface Member {
  readonly name: string;
  readonly account: Account;
  readonly host: string;
  /** What it is when the network begins. */
  readonly part: 'miner' | 'watcher' | 'stranger';
}

const NAMES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];
/** The generators of transactions know the first three. */
const owners = NAMES.map((name, i) => miners[i] ?? account(`miner ${name}`));

/** The i-th member of every network, with the same key in all of them. */
export const memberOf = (i: number, part: Member['part'] = 'miner'): Member => ({
  name: NAMES[i]!,
  account: owners[i]!,
  host: `10.0.0.${i + 1}`,
  part,
});

/** Some miners execute contracts, and some do not. */
export const executes = ({ name, part }: Member): boolean =>
  part !== 'watcher' && NAMES.indexOf(name) % 2 === 0;

export const liarMember: Member = {
  name: 'liar',
  account: account('a liar'),
  host: '10.0.0.99',
  part: 'watcher',
};

/**
 * The network is an old one, but that bans and roles cannot end it, turns of lost blocks count, and
 * there are atomic transactions, also with contracts.
 */
const FEATURES = [
  ...presetFeatures,
  ...[feature.liveness, feature.lostBlocks, feature.atomic, feature.contractsInAtomics],
];

const MINER_ROLES = ['permissioner', 'connection_manager', 'issuer', 'miner'];

export interface Rules {
  readonly consensus: ConsensusKind;
  readonly members: readonly Member[];
  /** Absent: a majority. */
  readonly quorum?: number | undefined;
  /** Besides those of every simulated network. */
  readonly features?: readonly number[] | undefined;
  /** Absent: 100. */
  readonly rollbackMax?: number | undefined;
}

/** The configuration of one member that knows where these others are. */
export function configOf(rules: Rules, member: Member, knows: readonly Member[]): Config {
  const registered = [...rules.members.filter(({ part }) => part !== 'stranger'), liarMember];
  const others = [...users, stranger, ...scriptedAccounts, ...groupSenders];
  const funded = [...rules.members.map(({ account }) => account), ...others];
  const features = [...FEATURES, ...(rules.features ?? [])].map((id) => [id, 0]);
  const place = ({ host }: Member): string => `${host}:${PORT}`;
  const tree = {
    'owner-address': member.account.text,
    directory: '/node',
    blockchain: {
      consensus: {
        type: rules.consensus,
        'round-duration': `${LENGTH_MS - SYNC_MS}ms`,
        'sync-duration': `${SYNC_MS}ms`,
        'ban-duration-blocks': BAN_BLOCKS,
        'max-bans-percentage': 40,
      },
      custom: {
        functionality: { 'pre-activated-features': Object.fromEntries(features) },
        'address-scheme-character': String.fromCharCode(scheme.chainId),
        genesis: {
          'initial-balance': String(FUNDS * BigInt(funded.length)),
          'average-block-delay': `${LENGTH_MS}ms`,
          'initial-base-target': INITIAL_BASE_TARGET,
          'block-timestamp': GENESIS_TIME,
          transactions: funded.map(({ text }) => ({ recipient: text, amount: String(FUNDS) })),
          'network-participants': [
            ...registered.map(({ account, part }) => ({
              'public-key': base58.encode(account.publicKey),
              roles: part === 'miner' ? MINER_ROLES : [],
            })),
            ...groupSenders.map(({ publicKey }) => ({
              'public-key': base58.encode(publicKey),
              roles: ['contract_developer'],
            })),
          ],
        },
      },
    },
    network: {
      mode: member.part === 'watcher' ? 'watcher' : 'default',
      'bind-address': member.host,
      'declared-address': place(member),
      port: PORT,
      'node-name': member.name,
      'known-peers': knows.map(place),
    },
    synchronization: { 'max-rollback': rules.rollbackMax ?? ROLLBACK_MAX },
    miner: rules.quorum === undefined ? {} : { quorum: rules.quorum },
    'docker-engine': { enable: executes(member) },
    utx: { 'memory-limit': `${POOL_BYTES_MAX}B` },
    ntp: { servers: [], 'fatal-timeout': '5m' },
    'rest-api': { enable: false },
  };
  const { config } = readConfig({
    file: 'sim',
    text: '',
    tree: { node: tree },
    env: {},
    sets: [],
    home: '/home',
    nonce: 1,
    readSecret: () => undefined,
  });
  return config;
}

/** With as much stake as there is here, blocks come at about the rate that is aimed at. */
const INITIAL_BASE_TARGET = 75_000;

export function genesisOf(config: Config): Block {
  const { publicKey, sign } = account('founder');
  return signGenesis(genesisSettings(config, GENESIS_TIME, scheme), { publicKey, sign }, scheme);
}
