/**
 * A whole node in the process of the test, on ports in memory and a clock that the test moves. Its
 * network is that of `platform-node dev`: one account with every role, four with none.
 */

import { createHash } from 'node:crypto';
import { parseHoconText } from '../../src/adapters/hocon.ts';
import { filesShelf } from '../../src/adapters/private-store/files-shelf.ts';
import { verifiedStore } from '../../src/adapters/private-store/verified.ts';
import { base58 } from '../../src/base/base58.ts';
import { ApiError } from '../../src/base/errors.ts';
import type { Http } from '../../src/base/ports/http.ts';
import type { Block } from '../../src/block/block.ts';
import { signGenesis } from '../../src/block/genesis.ts';
import { findTransaction, transactionsAt } from '../../src/chain/store/stored-blocks.ts';
import {
  configPath,
  createDevNetwork,
  DEV_CHAIN_ID,
} from '../../src/cli/commands/dev/dev-network.ts';
import type { ChainScheme } from '../../src/codec/codec.ts';
import { createChainScheme } from '../../src/crypto/chain-scheme.ts';
import type { CryptoFamily, KeyPair } from '../../src/crypto/family.ts';
import { openKeystore } from '../../src/keystore/keystore.ts';
import { accountOf } from '../../src/ledger/accounts.ts';
import { pack } from '../../src/mempool/packer.ts';
import { genesisSettings } from '../../src/node/config/genesis-section.ts';
import { readConfig } from '../../src/node/config/read.ts';
import type { Config } from '../../src/node/config/settings.ts';
import { createNode, type Node, type NodePorts } from '../../src/node/node.ts';
import { patternsHere } from '../../src/rest/key-filter.ts';
import { signedBytes } from '../../src/tx/assemble.ts';
import { txFromJson } from '../../src/tx/json/encode.ts';
import { unchecked } from '../../src/tx/proof-verdicts.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { makeBlock } from '../chain/make-block.ts';
import { seededRandom } from '../crypto/random.ts';
import { family } from '../family.ts';
import { CHEAP, memoryFiles } from '../keystore/sample.ts';
import {
  createMemoryStore,
  type MemoryStore,
  type MemoryStoreOptions,
} from '../simulated/memory-store.ts';
import { temporaryFolder } from '../system/e2e/dev-node.ts';
import type { Scope } from '../system/e2e/process.ts';
import { type FakeClock, fakeClock } from './fake-clock.ts';
import {
  emptyRecords,
  inlineVerifier,
  type MemoryLog,
  memoryJournal,
  memoryLog,
  noHttp,
  type Records,
} from './memory-ports.ts';

export interface Account extends KeyPair {
  readonly address: Uint8Array;
  readonly text: string;
}

export interface WholeNode {
  readonly node: Node;
  readonly config: Config;
  readonly clock: FakeClock;
  readonly log: MemoryLog;
  readonly store: MemoryStore;
  /** What the journal of the pool holds. */
  readonly records: Records;
  readonly scheme: ChainScheme;
  readonly family: CryptoFamily;
  /** The owner, who has every role, and four without any. */
  readonly accounts: readonly [Account, Account, Account, Account, Account];
  readonly apiKey: string;
  readonly privacyApiKey: string;
  /** An account that the network does not know yet. */
  newAccount(phrase: string): Account;
  /** A signed transaction; fee and time default to the least and to now. */
  make(from: Account, fields: TxFields): Tx;
  /** A signed transfer. */
  transfer(from: Account, to: Account, amount: number | bigint, fields?: Partial<TxFields>): Tx;
  /** `make` and into the pool. */
  send(from: Account, fields: TxFields): Promise<Tx>;
  /** The code and text with which the pool refuses it. */
  refusal(tx: Tx): Promise<{ readonly code: number; readonly message: string }>;
  /** Lets the next round make its block. */
  mine(): Promise<readonly Tx[]>;
  /**
   * Makes and appends a block at the present time, of what waits in the pool and of what only blocks
   * may bring; for a node with `miner.enable = no`.
   */
  produceBlock(...more: readonly Tx[]): Promise<Block>;
  /** Height of the block that has the transaction. */
  heightOf(tx: Tx): number | undefined;
  balance(of: Account): bigint;
  stop(): Promise<void>;
  /** Causes for which the node asked to be stopped. */
  readonly stops: readonly (Error | undefined)[];
  /** Stops the node and starts it anew on what it has stored, with further settings. */
  restart(set?: readonly string[]): Promise<WholeNode>;
}

export interface TxFields {
  readonly type: number;
  readonly version?: number;
  readonly [name: string]: unknown;
}

export interface WholeOptions {
  /** `key=value` as after `--set`. */
  readonly set?: readonly string[];
  readonly http?: Http;
  /** Passwords of the accounts in the keystore, by their number. */
  readonly passwords?: readonly (string | undefined)[];
  /** Features from genesis on; absent: those of a new network. */
  readonly features?: readonly number[];
  /** Time of the genesis block. */
  readonly genesisTime?: number;
  readonly roundMs?: number;
  readonly consensus?: 'poa' | 'pos';
  /** It keeps confidential data, in files of its own; otherwise they are switched off. */
  readonly privateData?: boolean;
  /** What becomes of writes; its fields may change later. */
  readonly store?: MemoryStoreOptions;
  /** What the node says to be, to clients and peers. */
  readonly version?: string;
  /** Stands between the node and its ports. */
  readonly around?: (ports: NodePorts) => NodePorts;
}

export const ROUND_MS = 10_000;
export const GENESIS_TIME = 1_700_000_000_000;
const DIR = '/memory';

const withFeatures = (text: string, ids: readonly number[] | undefined): string =>
  ids === undefined
    ? text
    : text.replace(
        /(?<=pre-activated-features = \{)[^}]*/,
        ids.map((id) => ` ${id} = 0`).join(','),
      );

export async function wholeNode(scope: Scope, options: WholeOptions = {}): Promise<WholeNode> {
  const random = seededRandom('a whole node');
  const scheme = createChainScheme(family, DEV_CHAIN_ID.charCodeAt(0));
  const files = memoryFiles();
  const genesisTime = options.genesisTime ?? GENESIS_TIME;
  const network = await createDevNetwork(
    {
      dir: DIR,
      restHost: '127.0.0.1',
      restPort: 0,
      roundMs: options.roundMs ?? ROUND_MS,
      now: genesisTime,
      ...(options.consensus === undefined ? {} : { consensus: options.consensus }),
    },
    {
      files,
      random,
      family,
      async createKeystore(path, password, keys) {
        const keystore = await openKeystore(
          { path, layout: family.keystoreLayout, password, cost: CHEAP },
          { files, random, family, scheme },
        );
        await keystore.add(keys.map((key, i) => ({ ...key, password: options.passwords?.[i] })));
        keystore.close();
      },
    },
  );
  const written = new TextDecoder().decode(files.read(configPath(DIR)));
  const text = withFeatures(written, options.features);
  const tree = await parseHoconText(text);
  const configWith = (set: readonly string[]): Config =>
    readConfig({
      file: configPath(DIR),
      text,
      tree,
      env: {},
      sets: [...(options.set ?? []), ...set],
      home: DIR,
      nonce: 1,
      readSecret: () => undefined,
    }).config;
  const config = configWith([]);
  function newAccount(phrase: string): Account {
    const keys = family.keyPairFromPhrase(phrase);
    const address = scheme.addressOf(keys.publicKey);
    return { ...keys, address, text: scheme.addressToText(address) };
  }
  const accounts = network.accounts.map(({ seed }) => newAccount(seed));
  const { apiKey, privacyApiKey } = network;
  const clock = fakeClock(genesisTime + 1);
  // Signed anew, since options may have changed what it says.
  const key = family.generateKeyPair(random);
  const sign = (message: Uint8Array) => family.sign(key.privateKey, message, random);
  const { publicKey } = key;
  const genesis = signGenesis(
    genesisSettings(config, genesisTime, scheme),
    { publicKey, sign },
    scheme,
  );
  return open(scope, {
    config,
    configWith,
    genesis,
    clock,
    scheme,
    family,
    accounts: accounts as unknown as WholeNode['accounts'],
    newAccount,
    apiKey,
    privacyApiKey,
    files,
    store: createMemoryStore(options.store),
    records: emptyRecords(),
    turns: emptyRecords(),
    http: options.http ?? noHttp,
    version: options.version ?? '1.1.0',
    passwords: options.passwords ?? [],
    around: options.around ?? ((ports) => ports),
    privateFolder: options.privateData === true ? temporaryFolder(scope) : undefined,
  });
}

/** What outlives a restart, and what never changes. */
interface Ground
  extends Pick<
    WholeNode,
    | 'config'
    | 'clock'
    | 'scheme'
    | 'family'
    | 'accounts'
    | 'newAccount'
    | 'apiKey'
    | 'privacyApiKey'
    | 'store'
    | 'records'
  > {
  readonly genesis: Block;
  readonly turns: Records;
  configWith(set: readonly string[]): Config;
  readonly files: ReturnType<typeof memoryFiles>;
  readonly http: Http;
  readonly version: string;
  readonly passwords: readonly (string | undefined)[];
  readonly privateFolder: string | undefined;
  readonly around: (ports: NodePorts) => NodePorts;
}

async function open(scope: Scope, ground: Ground): Promise<WholeNode> {
  const { config, clock, scheme, family, accounts, store, files, records, turns, privateFolder } =
    ground;
  const random = seededRandom(`a node at ${clock.now()}`);
  const log = memoryLog();
  const stops: (Error | undefined)[] = [];
  const keystore = await openKeystore(
    {
      path: config.wallet.file,
      layout: family.keystoreLayout,
      password: config.wallet.password ?? '',
    },
    { files, random, family, scheme },
  );
  // Closing a store in memory would lose it; the next node goes on with it.
  const lasting = { ...store, close: async () => {} };
  const ports: NodePorts = {
    patterns: patternsHere,
    contractPatterns: patternsHere,
    scheme,
    family,
    store: lasting,
    journal: memoryJournal(records),
    turns: memoryJournal(turns),
    verifier: inlineVerifier(family),
    clock,
    random,
    log,
    http: ground.http,
    keystore,
    privateStore:
      privateFolder === undefined ? undefined : verifiedStore(await filesShelf(privateFolder), log),
    ownerKey: await keystore.privateKey(accounts[0].address, ground.passwords[0]),
    version: ground.version,
    audit: 'state',
    requestStop: (cause) => void stops.push(cause),
  };
  const node = await createNode(config, ground.genesis, ground.around(ports));
  let stopped = false;
  async function stop(): Promise<void> {
    if (stopped) return;
    stopped = true;
    await node.stop();
  }
  scope.teardown(stop);

  function make(from: Account, fields: TxFields): Tx {
    const { base } = node.services.rules.fees;
    const json = {
      version: 1,
      fee: base.get(fields.type) ?? 0n,
      timestamp: clock.now(),
      senderPublicKey: base58.encode(from.publicKey),
      ...fields,
    };
    const proven = (signature: Uint8Array): Tx =>
      txFromJson({ ...json, proofs: [base58.encode(signature)] }, scheme);
    const unsigned = proven(new Uint8Array(64));
    // The same transaction always has the same signature.
    const seed = createHash('sha256').update(signedBytes(unsigned)).digest('hex');
    return proven(family.sign(from.privateKey, signedBytes(unsigned), seededRandom(seed)));
  }

  return {
    ...ground,
    node,
    log,
    stops,
    make,
    transfer: (from, to, amount, fields) =>
      make(from, { type: 4, version: 2, recipient: to.text, amount, attachment: '', ...fields }),
    async send(from, fields) {
      const tx = make(from, fields);
      await node.pool.submit(tx);
      return tx;
    },
    async refusal(tx) {
      try {
        await node.pool.submit(tx);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return { code: Number(error.code), message: error.message };
      }
      throw new Error(`${tx.def.name} should have been refused`);
    },
    async mine() {
      const { height } = node.blockchain.tip();
      const rounds = 3;
      for (let i = 0; i < rounds && node.blockchain.tip().height === height; i++) {
        await clock.advance(ROUND_MS);
        await node.blockchain.idle();
      }
      if (node.blockchain.tip().height === height) throw new Error('no block was made');
      return transactionsAt(node.blockchain.view, node.blockchain.tip().height);
    },
    produceBlock: (...more) => {
      const [owner] = accounts;
      const generator = {
        ...owner,
        sign: (message: Uint8Array) => family.sign(owner.privateKey, message, random),
      };
      return makeBlock(node.blockchain, generator, clock.now(), async (draft, limits) => {
        await pack(node.pool, limits, draft, clock, { signer: generator });
        for (const tx of more) draft.add(tx, unchecked(tx));
      });
    },
    heightOf: (tx) => findTransaction(node.blockchain.view, tx.id)?.height,
    balance: ({ address }) => accountOf(node.blockchain.view, address).balance,
    stop,
    async restart(set = []) {
      await stop();
      return open(scope, { ...ground, config: ground.configWith(set) });
    },
  };
}
