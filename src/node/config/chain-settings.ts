/**
 * Settings that define a network: consensus, features, genesis, fees
 * (blocks.md#configuration-of-a-network, consensus.md#proof-of-authority, state.md#fees,
 * node.md#configuration). All nodes of a network share them; those marked `network` enter the
 * settings hash.
 */
import { ROLES, type Role } from '../../tx/fields/permission.ts';
import { allTypes } from '../../tx/registry.ts';
import { addedFeatures, feature, presetFeatures } from '../../tx/rules/features.ts';
import { SCRIPT_EXTRA } from '../../tx/rules/fees.ts';
import type { TxType } from '../../tx/transaction.ts';
import { amount, bool, duration, int, type Kind, Wrong } from './kinds.ts';
import { optional, required, type Setting, setting } from './setting.ts';
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

const consensus = {
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
  'ban-duration-blocks': setting(BLOCKS, 100, 'PoA: length of a ban in blocks.', NETWORK),
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
    Object.fromEntries(presetFeatures.map((id) => [id, 0])),
    'Feature id = height at which it is active without a vote (0: from genesis). A new network adds ' +
      `${addedFeatures.map((id) => `${id} = 0`).join(', ')} to the default, which stays that of older ones; under proof of authority ${feature.finality} = 0, too.`,
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

/** A setting for each type with an amount from `amountOf`, named by the key of the type. */
const perType = (
  amountOf: (def: TxType) => bigint | undefined,
  doc: (def: TxType) => string,
): Readonly<Record<string, Setting<bigint>>> =>
  Object.fromEntries(
    allTypes.flatMap((def) => {
      const units = amountOf(def);
      return units === undefined
        ? []
        : [[def.key, setting<bigint>(amount, Number(units), doc(def), NETWORK)]];
    }),
  );

const named = ({ key, type }: TxType): string => `${key.replaceAll('-', ' ')} (${type})`;

const fees = {
  enabled: setting(bool, 'yes', 'No: every minimum fee is 0.', NETWORK),
  base: perType(
    (def) => def.fee,
    (def) => `Minimum fee of ${named(def)} transactions.`,
  ),
  additional: perType(
    (def) => def.additionalFee?.perUnit,
    (def) => `Added per ${def.additionalFee?.unit} of ${named(def)} transactions.`,
  ),
  'script-extra': setting(
    amount,
    Number(SCRIPT_EXTRA),
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
