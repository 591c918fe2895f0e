/**
 * The genesis section: its rules (blocks.md#signing step 1, H-1: order of the genesis lists, H-2:
 * who must be in a genesis) and the canonical form of the settings that all nodes of a network
 * share (network.md#handshake, H-4: constants of the network).
 */
import { Base58Error, base58 } from '../../base/base58.ts';
import { ApiError, apiError } from '../../base/errors.ts';
import { isI64 } from '../../base/int.ts';
import type { JsonObject } from '../../base/json/json.ts';
import type { GenesisSettings } from '../../block/genesis.ts';
import type { SharedSettings } from '../../chain/store/network-identity.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { canonicalJson, type NetworkSettings } from '../../consensus/settings-hash.ts';
import { ROLES } from '../../tx/fields/permission.ts';
import { ROLLBACK_MAX } from './network-settings.ts';
import { camel } from './setting.ts';
import { allSettings, type Config, type GenesisConfig } from './settings.ts';

const INVALID_SIGNATURE = 'Passed genesis signature is not valid';

export interface GenesisFindings {
  /** Each of these makes the genesis unusable. */
  readonly errors: readonly string[];
  /** Legal, but probably not intended. */
  readonly warnings: readonly string[];
}

export function validateGenesis(genesis: GenesisConfig, scheme: ChainScheme): GenesisFindings {
  const { transactions, networkParticipants, initialBalance } = genesis;
  const errors: string[] = [];
  const warnings: string[] = [];
  const keys = networkParticipants.map((participant) => participant.publicKey);
  const duplicated = keys.filter((key, index) => keys.indexOf(key) < index);
  if (duplicated.length > 0) {
    const list = `[${[...new Set(duplicated)].join(', ')}]`;
    errors.push(`The following network participants are duplicated: '${list}'`);
  }
  for (const role of ['permissioner', 'miner', 'connection_manager'] as const) {
    if (networkParticipants.some(({ roles }) => roles.includes(role))) continue;
    errors.push(`At least one network participant must have the '${role}' role`);
  }
  for (const { publicKey, roles } of networkParticipants) {
    if (new Set(roles).size !== roles.length) {
      errors.push(`Network participant '${publicKey}' lists a role twice`);
    }
  }
  const sum = issuedAtGenesis(genesis);
  if (initialBalance !== sum) {
    errors.push(
      "The value of 'initial-balance' has to be equal to the sum of transactions amounts",
    );
  }
  if (!isI64(sum)) errors.push('The sum of transactions amounts must fit into 63 bits');
  for (const { recipient, amount } of transactions) {
    if (amount <= 0n) errors.push(`The amount of recipient '${recipient}' must be positive`);
    const problem = problemOf(() => scheme.addressFromText(recipient));
    if (problem !== undefined)
      errors.push(`Recipient '${recipient}' is no account of this network: ${problem}`);
  }
  for (const [index, text] of keys.entries()) {
    const key = publicKeyFrom(text, scheme);
    if (key === undefined) {
      const expected = `Base58 of ${scheme.publicKeySize} bytes`;
      errors.push(`The public key of network participant '${text}' is invalid: not ${expected}`);
      continue;
    }
    const recipient = transactions[index]?.recipient;
    const address = scheme.addressToText(scheme.addressOf(key));
    if (recipient !== undefined && recipient.replace(/^address:/, '') !== address) {
      warnings.push(
        `Network participant ${index + 1} ('${text}') has the address '${address}', but recipient ` +
          `${index + 1} is '${recipient}': both lists should have the same order`,
      );
    }
  }
  return { errors, warnings };
}

/** All native units. The signature of the genesis block covers it, unlike `initial-balance`. */
export const issuedAtGenesis = ({ transactions }: Pick<GenesisConfig, 'transactions'>): bigint =>
  transactions.reduce((total, { amount }) => total + amount, 0n);

function problemOf(attempt: () => unknown): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (cause) {
    if (cause instanceof ApiError) return cause.message;
    throw cause;
  }
}

/** The public key in a Base58 text; undefined if it is no key of this network. */
export function publicKeyFrom(text: string, scheme: ChainScheme): Uint8Array | undefined {
  try {
    const key = base58.decode(text);
    return key.length === scheme.publicKeySize ? key : undefined;
  } catch (cause) {
    if (cause instanceof Base58Error) return undefined;
    throw cause;
  }
}

/** The input of the block builder; `timestamp` is the configured one, or now when signing. */
export function genesisSettings(
  config: Config,
  timestamp: number,
  scheme: ChainScheme,
): GenesisSettings {
  const { consensus, custom } = config.blockchain;
  const { genesis } = custom;
  return {
    timestamp,
    version: genesis.blockVersion,
    senderRoleEnabled: genesis.senderRoleEnabled,
    consensus:
      consensus.type === 'poa'
        ? { kind: 'poa' }
        : { kind: 'pos', initialBaseTarget: BigInt(genesis.initialBaseTarget) },
    transactions: genesis.transactions.map(({ recipient, amount }) => ({
      recipient: scheme.addressFromText(recipient),
      amount,
    })),
    networkParticipants: genesis.networkParticipants.map(({ publicKey, roles }) => ({
      publicKey: base58.decode(publicKey),
      // The byte of a role is its position in the list, from 1.
      roles: roles.map((role) => ROLES.indexOf(role) + 1),
    })),
  };
}

/**
 * Timestamp, key and signature as `genesis sign` wrote them; undefined while one is missing or
 * empty, as in a template. Throws ApiError where a text is not Base58.
 */
export function genesisSeal(genesis: GenesisConfig):
  | {
      readonly timestamp: number;
      readonly publicKey: Uint8Array;
      readonly signature: Uint8Array;
    }
  | undefined {
  const { blockTimestamp: timestamp, genesisPublicKeyBase58: key, signature } = genesis;
  if (!timestamp || !key || !signature) return undefined;
  try {
    return { timestamp, publicKey: base58.decode(key), signature: base58.decode(signature) };
  } catch (cause) {
    if (cause instanceof Base58Error) throw apiError('Invalid', INVALID_SIGNATURE);
    throw cause;
  }
}

/** `[e1,e2]`, the form in which the errors are reported together. */
export const joinErrors = (errors: readonly string[]): string => `[${errors.join(',')}]`;

/** Equal on all nodes, but no block is judged by it. */
const JUDGES_NO_BLOCK = 'synchronization.max-rollback';

/** Every setting by which blocks are judged, as canonical JSON by its key. */
export const sharedSettings = (config: Config): SharedSettings =>
  Object.fromEntries(
    allSettings
      .filter(({ key, setting }) => setting.network === true && key !== JUDGES_NO_BLOCK)
      .map(({ key }) => [key, canonicalJson(canonical(valueAt(config, key)))]),
  );

/**
 * The settings that must be equal on all nodes: the input of the settings hash
 * (network.md#handshake, H-4: constants of the network).
 */
export function networkSettings(config: Config): NetworkSettings {
  const under = (prefix: string): JsonObject =>
    Object.fromEntries(
      allSettings
        .filter(({ key, setting }) => setting.network === true && key.startsWith(prefix))
        .map(({ key }) => [key.slice(prefix.length), canonical(valueAt(config, key))]),
    );
  const { maxRollback } = config.synchronization;
  return {
    consensus: { ...under('blockchain.consensus.'), ...under('blockchain.custom.genesis.') },
    functionality: under('blockchain.custom.functionality.'),
    fees: under('blockchain.fees.'),
    limits: under('miner.'),
    ...(maxRollback === ROLLBACK_MAX ? {} : { maxRollback }),
    txExpireTimeoutMs: config.utx.txExpireTimeout.ms,
  };
}

/** The value of a setting by its key in the file. */
export function valueAt(config: Config, key: string): unknown {
  return key
    .split('.')
    .reduce<unknown>((at, part) => (at as Record<string, unknown>)[camel(part)], config);
}

// Durations count in milliseconds, in whatever form they were written.
const canonical = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'ms' in value ? value.ms : value;
