/**
 * Settings that define a network: consensus, features, genesis, fees (protocol.md §1.1, §4, §6.7,
 * §11.4). All nodes of a network share them; those marked `network` enter the settings hash.
 */
import { ROLES, type Role } from '../../tx/permission.ts';
import { amount, bool, duration, int, type Kind, Wrong } from './kinds.ts';
import { optional, required, setting } from './setting.ts';
import { address, base58, choice, intMap, list, record, text, textLike } from './text-kinds.ts';

const NETWORK = { network: true } as const;
const HEIGHT = int(0, 2 ** 31 - 1);
const BLOCKS = int(1, 2 ** 31 - 1);

const role: Kind<Role> = {
  ...choice(...ROLES),
  name: 'role',
  parse: (raw) =>
    ROLES.find((name) => name === raw) ??
    new Wrong(
      `roles out of ${ROLES.join(', ')}`,
      `Permission.fromStr failure: unknown role name '${String(raw)}'`,
    ),
};

const percentage: Kind<number> = {
  ...int(0, 100),
  parse(raw, context) {
    const value = int(0, 100).parse(raw, context);
    return value instanceof Wrong
      ? new Wrong('max-bans-percentage should be between 0 and 100')
      : value;
  },
};

export const consensus = {
  type: setting<'pos' | 'poa'>(
    choice('pos', 'poa'),
    'pos',
    'Consensus: proof of stake or proof of authority. Part of the genesis block.',
    NETWORK,
  ),
  'round-duration': setting(
    duration(1, 86_400_000, 'up to 1 day'),
    '17s',
    'PoA: working part of a round, in which blocks are made.',
    NETWORK,
  ),
  'sync-duration': setting(
    duration(0, 86_400_000, 'up to 1 day'),
    '3s',
    'PoA: part of a round left for blocks to spread.',
    NETWORK,
  ),
  'ban-duration-blocks': setting(BLOCKS, 100, 'PoA: blocks a ban of a miner lasts.', NETWORK),
  'warnings-for-ban': setting(
    int(1, 1000),
    3,
    'PoA: missed turns in a row after which a miner is banned.',
    NETWORK,
  ),
  'max-bans-percentage': setting(
    percentage,
    40,
    'PoA: share of the miner queue that may be banned at once; 0 switches warnings off.',
    NETWORK,
  ),
};

const functionality = {
  'feature-check-blocks-period': setting(
    int(2, 2 ** 31 - 1),
    1500,
    'Length of a voting window in blocks.',
    NETWORK,
  ),
  'blocks-for-feature-activation': setting(
    BLOCKS,
    1000,
    'Votes in one window that approve a feature; at most the length of the window.',
    NETWORK,
  ),
  'pre-activated-features': setting<ReadonlyMap<number, number>>(
    intMap(HEIGHT),
    { 3: 0, 4: 0, 5: 0, 6: 0, 7: 0, 9: 0, 10: 0, 100: 0, 101: 0 },
    'Feature id = height at which it is active without a vote (0: from genesis).',
    NETWORK,
  ),
  'exchange-enabled': setting(
    bool,
    'yes',
    'Trades by orders (type 7); no: the network refuses them.',
    NETWORK,
  ),
};

const genesis = {
  'average-block-delay': setting(
    duration(1000, 86_400_000, 'from 1 second to 1 day'),
    '60s',
    'PoS: time between blocks that the base target aims at.',
    NETWORK,
  ),
  'initial-base-target': setting(
    int(9, Number.MAX_SAFE_INTEGER),
    153722867,
    'PoS: base target of the genesis block.',
  ),
  'block-timestamp': optional(
    int(0, Number.MAX_SAFE_INTEGER),
    'Time of the genesis block in milliseconds; written by `genesis sign`.',
  ),
  'block-version': setting<1 | 4>(
    {
      name: '1, 4',
      parse: (raw) => {
        if (Number(raw) === 1) return 1;
        return Number(raw) === 4 ? 4 : new Wrong('1, or 4 for more than 127 genesis transactions');
      },
      show: (value) => value,
      schema: { enum: [1, 4] },
    },
    1,
    'Layout of the genesis block: 1 holds at most 127 transactions, 4 any number.',
  ),
  'sender-role-enabled': setting(bool, 'no', 'Every sender needs the role sender.', NETWORK),
  'initial-balance': optional(
    amount,
    'Total initial balance; must equal the sum of the amounts of `transactions`.',
  ),
  'genesis-public-key-base-58': optional(
    text,
    'Key that signed the genesis block; written by `genesis sign`.',
  ),
  signature: optional(text, 'Signature of the genesis block; written by `genesis sign`.'),
  transactions: setting<readonly { recipient: string; amount: bigint }[]>(
    list(record({ recipient: address, amount })),
    [],
    'Initial balances: a list of {recipient = "address", amount = 100000000 or "1 WEST"}.',
  ),
  'network-participants': setting<readonly { publicKey: string; roles: readonly Role[] }[]>(
    list(record({ 'public-key': base58, roles: list(role) })),
    [],
    'First participants: a list of {public-key = "…", roles = [miner, …]}, in the same order as ' +
      '`transactions`.',
    { aliases: [{ key: 'network-participants', quiet: true }] },
  ),
};

const fee = (units: number, name: string) =>
  setting(amount, units, `Minimum fee of ${name} transactions.`, NETWORK);

const fees = {
  enabled: setting(bool, 'yes', 'No: every minimum fee is 0.', NETWORK),
  base: {
    issue: fee(100000000, 'issue (3)'),
    transfer: fee(1000000, 'transfer (4)'),
    reissue: fee(100000000, 'reissue (5)'),
    burn: fee(5000000, 'burn (6)'),
    exchange: fee(500000, 'exchange (7)'),
    lease: fee(1000000, 'lease (8)'),
    'lease-cancel': fee(1000000, 'lease cancel (9)'),
    'create-alias': fee(100000000, 'create alias (10)'),
    'mass-transfer': fee(5000000, 'mass transfer (11)'),
    data: fee(5000000, 'data (12)'),
    'set-script': fee(50000000, 'set script (13)'),
    'sponsor-fee': fee(100000000, 'sponsorship (14)'),
    'set-asset-script': fee(100000000, 'set asset script (15)'),
    permit: fee(1000000, 'permission (102)'),
    'create-contract': fee(100000000, 'create contract (103)'),
    'call-contract': fee(10000000, 'call contract (104)'),
    'disable-contract': fee(1000000, 'disable contract (106)'),
    'update-contract': fee(100000000, 'update contract (107)'),
    'register-node': fee(1000000, 'register node (111)'),
    'create-policy': fee(100000000, 'create policy (112)'),
    'update-policy': fee(50000000, 'update policy (113)'),
    'policy-data-hash': fee(5000000, 'policy data hash (114)'),
  },
  additional: {
    'mass-transfer': setting(amount, 1000000, 'Added per two transfers of type 11.', NETWORK),
    data: setting(amount, 1000000, 'Added per KiB of a data transaction (12).', NETWORK),
  },
  'script-extra': setting(
    amount,
    400000,
    'Added for a scripted sender and for each scripted asset touched.',
    NETWORK,
  ),
};

export const blockchain = {
  type: setting<'CUSTOM'>(
    choice('CUSTOM'),
    'CUSTOM',
    'Only CUSTOM: the presets of public networks are not shipped.',
  ),
  consensus,
  custom: {
    'address-scheme-character': required<string>(
      textLike({
        name: 'one character',
        expected: 'one ASCII character, the chain id used when the accounts were generated',
        pattern: /^[\x21-\x7e]$/,
      }),
      'Network id, part of every address.',
      { network: true, aliases: [{ key: 'address-scheme-character', quiet: true }] },
    ),
    functionality,
    genesis,
  },
  fees,
};
