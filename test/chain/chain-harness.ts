/**
 * Chains in memory with real signatures and consensus: several validators, a clock that the test
 * moves, and accounts with funds. Two chains of one network exchange blocks by hand. Every block
 * and every rollback must keep the invariants.
 */

import { AssertionError } from '../../src/base/assert.ts';
import { latin1 } from '../../src/base/bytes.ts';
import type { Clock } from '../../src/base/ports/clock.ts';
import type { Log } from '../../src/base/ports/log.ts';
import type { Store } from '../../src/base/ports/store.ts';
import type { Verifier } from '../../src/base/ports/verifier.ts';
import type { SignNow } from '../../src/base/signer/signing.ts';
import { type Block, sealBlock } from '../../src/block/block.ts';
import { buildGenesis, signGenesis } from '../../src/block/genesis.ts';
import type { BlockDraft } from '../../src/chain/apply/block-draft.ts';
import type { MinerKey } from '../../src/chain/apply/produce-block.ts';
import { Blockchain } from '../../src/chain/blockchain.ts';
import { auditChain } from '../../src/chain/store/audit.ts';
import type { ChainScheme } from '../../src/codec/codec.ts';
import type { Consensus } from '../../src/consensus/consensus.ts';
import { createPoa } from '../../src/consensus/poa.ts';
import { createChainScheme } from '../../src/crypto/chain-scheme.ts';
import type { KeyPair } from '../../src/crypto/family.ts';
import { roleNumber } from '../../src/ledger/roles.ts';
import { unchecked } from '../../src/tx/proof-verdicts.ts';
import { allTypes } from '../../src/tx/registry.ts';
import type { ChainRules } from '../../src/tx/rules/chain-rules.ts';
import type { Fields, Input, Tx, TxType } from '../../src/tx/transaction.ts';
import { buildTx, signedBytes } from '../../src/tx/tx-bytes.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { seededRandom } from '../crypto/random.ts';
import { family } from '../family.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import { makeBlock } from './make-block.ts';

export { family };
export const scheme = createChainScheme(family, 'T'.charCodeAt(0));
export const GENESIS_TIME = 1_574_240_400_000;
export const ROUND_MS = 9_000;
export const SYNC_MS = 1_000;
export const LENGTH_MS = ROUND_MS + SYNC_MS;
export const FUNDS = 1_000_000_00000000n;
const FEATURES = [3, 4, 5, 6, 7, 9, 10, 100, 101];

/** Whoever can sign, known to the tests by name or not. */
export type Signer = Pick<Account, 'publicKey' | 'sign'>;

export interface Account extends MinerKey {
  readonly sign: SignNow;
  readonly keys: KeyPair;
  readonly text: string;
}

export function account(phrase: string): Account {
  const keys = family.keyPairFromPhrase(phrase);
  const address = scheme.addressOf(keys.publicKey);
  return {
    keys,
    address,
    publicKey: keys.publicKey,
    text: scheme.addressToText(address),
    // Signatures hold random bytes; here the same message always has the same ones.
    sign: (message) => family.sign(keys.privateKey, message, seededRandom(latin1(message))),
  };
}

export const miners = ['miner one', 'miner two', 'miner three'].map(account);
export const users = [account('alice'), account('bob'), account('carol')] as const;

export interface TestClock extends Clock {
  time: number;
}

export function testClock(time: number): TestClock {
  const clock: TestClock = {
    time,
    now: () => clock.time,
    system: () => clock.time,
    monotonic: () => clock.time,
    after: () => () => undefined,
    turn: () => Promise.resolve(),
    synchronized: () => true,
  };
  return clock;
}

export const quiet: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export const verifier: Verifier = {
  verifyOne: async (publicKey, message, signature) => family.verify(publicKey, message, signature),
  verify: async (items) =>
    items.map(({ publicKey, message, signature }) => family.verify(publicKey, message, signature)),
  close: async () => undefined,
};

export const rules: ChainRules & { featureApprovalVotes: number } = {
  nativeToken: 'WEST',
  fees: {
    enabled: true,
    base: new Map(allTypes.flatMap((def) => (def.fee === undefined ? [] : [[def.type, def.fee]]))),
    additional: new Map(),
    scriptExtra: 400_000n,
  },
  txExpireTimeoutMs: 2 * 3_600_000,
  preActivatedFeatures: new Map(FEATURES.map((id) => [id, 0])),
  featureCheckBlocks: 1500,
  featureApprovalVotes: 1000,
  senderRoleEnabled: false,
};

const founder = account('founder');
const settings = {
  timestamp: GENESIS_TIME,
  version: 1 as const,
  consensus: { kind: 'poa' as const },
  transactions: [...miners, ...users].map(({ address }) => ({ recipient: address, amount: FUNDS })),
  networkParticipants: miners.map(({ publicKey }) => ({
    publicKey,
    roles: ['permissioner', 'connection_manager', 'issuer', 'miner'].map(
      (name) => roleNumber(name) ?? 0,
    ),
  })),
};

export const genesis: Block = (() => {
  const signed = signGenesis(settings, founder, scheme);
  const { signature } = signed.header;
  return buildGenesis(settings, { publicKey: founder.publicKey, signature }, scheme);
})();

export const consensusOf = ({ preActivatedFeatures, featureCheckBlocks }: ChainRules): Consensus =>
  createPoa(
    {
      genesisTimestamp: GENESIS_TIME,
      roundDurationMs: ROUND_MS,
      syncDurationMs: SYNC_MS,
      banDurationBlocks: 10,
      warningsForBan: 3,
      maxBansPercentage: 40,
      preActivatedFeatures,
      featureCheckBlocks,
    },
    scheme,
  );
export const consensus = consensusOf(rules);

export interface TestChain {
  readonly blockchain: Blockchain;
  readonly store: Store;
  readonly clock: TestClock;
}

export async function newChain(
  store: Store = createMemoryStore(),
  settings: typeof rules = rules,
  clock: TestClock = testClock(GENESIS_TIME),
  of: ChainScheme = scheme,
): Promise<TestChain> {
  const blockchain = new Blockchain(
    {
      rules: settings,
      consensus: consensusOf(settings),
      support: { autoSupport: true, supported: [] },
      transactionBytesMax: 1_048_576,
      undoDepth: 2000,
    },
    { scheme: of, store, verifier, clock, log: quiet },
  );
  if (blockchain.isEmpty()) await blockchain.found(genesis);
  auditChain(blockchain, 'state', (broken) => {
    throw new AssertionError(broken.join('; '));
  });
  return { blockchain, store, clock };
}

/** The miner whose turn the next round after the tip is, and the start of that round. */
export function nextTurn({ blockchain }: TestChain): { miner: Account; time: number } {
  const { timestamp } = blockchain.tip().header;
  for (const miner of miners) {
    const slot = blockchain.nextSlot(miner, timestamp + 1);
    const start = timestamp - ((timestamp - GENESIS_TIME) % LENGTH_MS) + LENGTH_MS;
    if (slot !== undefined && slot.from === start) return { miner, time: slot.from + 10 };
  }
  throw new Error('somebody has the next turn');
}

/** Moves the clock to the next round and lets its miner make a block of these transactions. */
export const mine = (at: TestChain, txs: readonly Tx[] = []): Promise<Block> =>
  mineWith(at, (draft) => {
    for (const tx of txs) draft.add(tx, unchecked(tx));
  });

/** The same by a miner who looks at no signature, as somebody who cheats would. */
export const mineUnjudged = (at: TestChain, txs: readonly Tx[]): Promise<Block> =>
  mineWith(at, (draft) => {
    for (const tx of txs) draft.replay(tx);
  });

async function mineWith(at: TestChain, fill: (draft: BlockDraft) => void): Promise<Block> {
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  return makeBlock(at.blockchain, miner, time, async (draft) => fill(draft));
}

/** Any signed transaction of the newest era layout unless `version` says otherwise. */
export function signed<F extends Fields>(
  def: TxType<F>,
  from: Signer,
  input: Omit<Input<F>, 'senderPublicKey'>,
  version = 2,
): Tx {
  const layout = def.layouts.find((one) => one.version === version) ?? def.layouts.at(-1);
  if (layout === undefined) throw new Error('every type has a layout');
  const values = { senderPublicKey: from.publicKey, ...input } as unknown as Input<F>;
  const draft = buildTx(def, layout, values, [new Uint8Array(64)], scheme);
  return buildTx(def, layout, values, [from.sign(signedBytes(draft))], scheme) as unknown as Tx;
}

let distinct = 0;

export function payment(from: Account, to: Account, amount: bigint, timestamp: number): Tx {
  return signed(transfer, from, {
    timestamp: timestamp + (distinct++ % 1000),
    amount,
    fee: 1_000_000n,
    recipient: { kind: 'address', bytes: to.address },
    attachment: new Uint8Array(0),
  });
}

/** The same block with other header fields or transactions, signed anew by `by`. */
export function remade(
  block: Block,
  by: Account,
  change: Partial<Block['header']> & { transactions?: readonly Uint8Array[] },
): Block {
  const { transactions, ...header } = change;
  return sealBlock(
    { ...block.header, generator: by.publicKey, ...header },
    transactions ?? block.transactions,
    scheme,
    by.sign,
  );
}

/** A chain, or its writer, of which some members are others, for those who use it. */
export const replaced = <T extends object>(whole: T, others: Partial<T>): T =>
  new Proxy(whole, {
    get(target, name) {
      const value = others[name as keyof T] ?? target[name as keyof T];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
