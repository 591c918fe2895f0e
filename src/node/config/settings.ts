/**
 * The tree of all settings of a node, and the types that follow from it (node.md#configuration).
 * A new setting is one line in one of the tables; keys are relative to the section `node`.
 */
import { NATIVE_TOKEN } from '../../crypto/chain-scheme.ts';
import { blockchain } from './chain-settings.ts';
import { dataService } from './data-settings.ts';
import { bool, int, size, sizeFrom } from './kinds.ts';
import { miner, network, ntp, synchronization, utx } from './network-settings.ts';
import { api, dockerEngine, metrics, privacy, restApi, signer } from './service-settings.ts';
import {
  type ConfigOf,
  derived,
  optional,
  type PlacedSetting,
  placed,
  required,
  setting,
} from './setting.ts';
import { address, base58, choice, list, path, record, secretText, textLike } from './text-kinds.ts';

export const settings = {
  'platform-crypto': setting(
    bool,
    'yes',
    'Cryptography: yes is the international family, no the national-standard one.',
    { aliases: [{ key: 'crypto.type', quiet: true, words: { WAVES: 'yes', GOST: 'no' } }] },
  ),
  'owner-address': required<string>(
    address,
    'Account of the node. Its key is in the wallet; it needs a balance and roles.',
  ),
  directory: setting(path, '~/node', 'Base folder of the files below.'),
  'data-directory': derived<string>(
    path,
    '<directory>/data',
    (read) => `${read('directory')}/data`,
    'Folder of the chain. Clear it when the node moves to another network.',
  ),
  'logging-level': setting<'DEBUG' | 'INFO' | 'WARN' | 'ERROR'>(
    choice('DEBUG', 'INFO', 'WARN', 'ERROR'),
    'INFO',
    'How much is logged; the variable LOG_LEVEL wins.',
  ),
  'log-format': setting<'auto' | 'json' | 'text'>(
    choice('auto', 'json', 'text'),
    'auto',
    'Form of a line of the log; auto: text on a terminal, JSON elsewhere.',
  ),
  'log-file': {
    path: optional(
      path,
      'The log goes into this file, that of a signer into <path>.signer; absent: to standard error.',
    ),
    'max-size': setting(
      sizeFrom(65_536),
      '16MiB',
      'Size at which a new file begins, <path>.1 and on.',
    ),
    files: setting(int(1, 10_000), 10, 'Files in all; the oldest is deleted.'),
  },
  'native-ticker': setting<string>(
    textLike({ name: 'ticker', expected: '2 to 10 capital letters', pattern: /^[A-Z]{2,10}$/ }),
    NATIVE_TOKEN,
    'Name of the native token in messages and in amounts such as "1.5 WEST".',
  ),
  wallet: {
    file: derived<string>(
      path,
      '<directory>/wallet/wallet.dat',
      (read) => `${read('directory')}/wallet/wallet.dat`,
      'Keystore: a file, or a folder with platform-crypto = no.',
    ),
    password: optional(secretText, 'Password of the keystore; the node asks for it when absent.', {
      secret: true,
    }),
  },
  signer,
  blockchain,
  network,
  ntp,
  miner,
  'rest-api': restApi,
  api,
  synchronization,
  utx,
  features: {
    'auto-support-implemented-features': setting(
      bool,
      'yes',
      'Vote for every implemented feature except 2, which shares fees with the next miner.',
    ),
    'auto-shutdown-on-unsupported-feature': setting(
      bool,
      'yes',
      'Stop with exit code 38 when the network activates a feature that this node does not implement.',
    ),
    supported: setting<readonly number[]>(
      list(int(1, 32767)),
      [],
      'Further features to vote for; the only ones with auto-support-implemented-features off.',
    ),
  },
  finality: {
    'checkpoint-height': optional(
      int(1, 2_147_483_647),
      'Height of a block that you trust: `block verify-proof` begins there. Left out: the genesis block.',
    ),
    'checkpoint-rule-hash': optional(
      base58,
      'Hash of the voters that this block leaves, as `block verify-proof` prints it. Both or neither.',
    ),
    overrides: setting<readonly { height: number; header: string; voters: readonly string[] }[]>(
      list(record({ height: int(1, 2_147_483_647), header: base58, voters: list(base58) })),
      [],
      'Where more than a third of the voters are gone for good: a list of {height = 1000, header = "hash of a header, ' +
        'Base58", voters = ["public key", …]}. The voters decide on the blocks above it. The same on all nodes, and for ever.',
    ),
  },
  privacy,
  'docker-engine': dockerEngine,
  storage: {
    'max-rollback-depth': setting(
      int(100, 1_000_000),
      2000,
      'Blocks that a manual rollback can remove. With feature 1004 at least 500: no branch is taken that parts deeper.',
      { aliases: ['additional-cache.rocksdb.max-rollback-depth'] },
    ),
    'free-space-min': setting(
      size,
      '256MiB',
      'Space on the disk of data-directory below which the node makes no blocks and takes no transactions.',
    ),
    'allow-network-file-system': setting(
      bool,
      'no',
      'Put the chain on NFS, SMB or the like; only where no other machine can start a node in that folder.',
    ),
  },
  metrics,
  'data-service': dataService,
};

/** The configuration of a node, typed. Names are those of the file in camel case. */
export type Config = ConfigOf<typeof settings>;
export type GenesisConfig = Config['blockchain']['custom']['genesis'];

/** Every setting with its key, in the order of the documentation. */
export const allSettings: readonly PlacedSetting[] = placed(settings);
