/**
 * A whole node without its edges: chain, pool, miner and network services on virtual ports. What is
 * on its disk outlives it.
 */
import { createMemoryStore, type MemoryStore } from '../../src/adapters/memory-store.ts';
import { base58 } from '../../src/base/base58.ts';
import { latin1 } from '../../src/base/bytes.ts';
import type { Journal, Log, LogFields, Verifier } from '../../src/base/ports.ts';
import type { Block } from '../../src/block/block.ts';
import { type Blockchain, createBlockchain } from '../../src/chain/blockchain.ts';
import { createEquivocations } from '../../src/chain/equivocation.ts';
import { createForkChoice, type ForkChoice } from '../../src/chain/fork-choice.ts';
import { createInvalidBlocks } from '../../src/chain/invalid-blocks.ts';
import { pack } from '../../src/mempool/packer.ts';
import { createPool, type Pool } from '../../src/mempool/pool.ts';
import { createTrial } from '../../src/mempool/trial.ts';
import { createMiner } from '../../src/miner/miner.ts';
import { createNetworkService } from '../../src/network/service.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import type { Party, Port, SimNetwork } from './network.ts';
import { type Account, chain, consensus, family, network } from './settings.ts';
import { type NodeClock, nodeClock, type World } from './world.ts';

/** The end of a node in the middle of a write. */
export class Crash extends Error {}

export const TRANSACTION_BYTES_MAX = 64 * 1024;
export const ROLLBACK_MAX = 100;
export const POOL_BYTES_MAX = 4 * 1024 * 1024;

export interface Ground {
  readonly world: World;
  readonly net: SimNetwork;
  readonly genesis: Block;
  readonly verifier: Verifier;
  readonly quorum: number;
  log(node: string, level: string, event: string, fields: LogFields): void;
  /** A node stopped by itself in a write. */
  crashed(node: SimNode): void;
}

/** What a node leaves on its disk. */
export interface Disk {
  store: MemoryStore;
  records: readonly Uint8Array[];
}

export interface SimNode {
  readonly owner: Account;
  readonly party: Party;
  readonly disk: Disk;
  readonly clock: NodeClock;
  readonly blockchain: Blockchain;
  readonly pool: Pool;
  readonly forkChoice: ForkChoice;
  readonly port: Port;
  isAlive(): boolean;
  /** Ids of transactions that left the pool with a reason. */
  readonly refused: ReadonlySet<string>;
  /** The node dies at this step of one of its next writes. */
  crashAt(step: number): void;
  /** Ends at once, as by kill -9. */
  kill(): void;
  submit(tx: Tx): Promise<void>;
}

export async function startNode(
  ground: Ground,
  owner: Account,
  left: Disk | undefined,
  skewMs: number,
): Promise<SimNode> {
  const { world, net, verifier } = ground;
  const clock = nodeClock(world, skewMs);
  const refused = new Set<string>();
  let alive = true;
  let fatalStep: number | undefined;

  const store = createMemoryStore({
    rows: left?.store.dump() ?? [],
    fail(step, of) {
      if (!alive) throw new Crash();
      if (fatalStep === undefined || step < Math.min(fatalStep, of)) return;
      kill();
      ground.crashed(node);
      throw new Crash();
    },
  });
  const disk: Disk = { store, records: left?.records ?? [] };
  const log = logOf(owner.name);
  const party: Party = { ...owner, owner: owner.address, mode: 'default' };

  function logOf(name: string): Log {
    const at =
      (level: string) =>
      (event: string, fields: LogFields = {}) => {
        if (!alive) return;
        if (event === 'pool.dropped') refused.add(latin1(base58.decode(String(fields['id']))));
        ground.log(name, level, event, fields);
      };
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  }

  const journal: Journal = {
    recovered: disk.records,
    async append(record) {
      if (!alive) throw new Crash();
      disk.records = [...disk.records, record.slice()];
    },
    async rewrite(records) {
      if (!alive) throw new Crash();
      disk.records = [...records].map((record) => record.slice());
    },
    close: async () => {},
  };

  const blockchain = createBlockchain(
    {
      network,
      consensus,
      support: { autoSupport: true, supported: [] },
      transactionBytesMax: TRANSACTION_BYTES_MAX,
      undoDepth: 500,
    },
    { chain, store, verifier, clock, log },
  );
  if (blockchain.isEmpty()) await blockchain.found(ground.genesis);
  const trial = createTrial(blockchain, network, clock);
  const pool = createPool(
    {
      bytesMax: POOL_BYTES_MAX,
      senderEntriesMax: 1_000,
      expireMs: network.txExpireTimeoutMs,
      cleanupMs: 60_000,
      nativeToken: network.nativeToken,
    },
    { chain, state: trial, verifier, journal, clock, log },
  );
  await pool.recover();
  blockchain.listen({
    block: ({ block }) => pool.removeMined(block.txs.map((tx) => tx.id)),
    rollingBack: (txs) => pool.keep(txs),
    rolledBack: (_tip, txs) => void pool.readmit(txs).catch(onlyCrash),
  });
  const equivocations = createEquivocations(consensus, clock, log);
  const forkChoice = createForkChoice(
    { rollbackMax: ROLLBACK_MAX },
    {
      blockchain,
      consensus,
      verifier,
      clock,
      log,
      invalid: createInvalidBlocks({ max: 30_000, forgetMs: 300_000 }, clock),
      equivocations,
      isVerified: (tx) => pool.holds(tx),
    },
  );
  const port = net.attach(party);
  const service = createNetworkService(
    {
      mode: 'default',
      ownPublicKey: owner.publicKey,
      scoreTtlMs: 90_000,
      sync: {
        rollbackMax: ROLLBACK_MAX,
        batch: 10,
        timeoutMs: 40_000,
        transactionBytesMax: TRANSACTION_BYTES_MAX,
      },
      transactions: {
        batchMax: 500,
        batchMs: 50,
        minBroadcast: 2,
        maxBroadcast: 30,
        retryMs: 20_000,
        knownMax: 100_000,
        knownMs: 20_000,
        rebroadcastAgeMs: 300_000,
        rebroadcastEveryMs: 300_000,
      },
    },
    { chain, blockchain, consensus, forkChoice, pool, sessions: port, clock, log },
  );
  createMiner(
    { enabled: true, quorum: ground.quorum, noQuorumDelayMs: 1_000, staleTipMs: 24 * 3_600_000 },
    {
      clock,
      log,
      connectedMiners: service.connectedMiners,
      chain: {
        tip: () => {
          const { height, header } = blockchain.tip();
          return { height, timestamp: header.timestamp };
        },
        nextSlot: (now) => (service.isFarBehind() ? undefined : blockchain.nextSlot(owner, now)),
        async forge(timestamp) {
          await blockchain.forge(owner, timestamp, (draft, limits) =>
            pack(pool, limits, draft.add, clock),
          );
        },
        onHead: (listener) => blockchain.listen({ block: listener, rolledBack: listener }),
      },
    },
  );

  function kill(): void {
    if (!alive) return;
    alive = false;
    clock.kill();
    net.detach(port);
  }

  const node: SimNode = {
    owner,
    party,
    disk,
    clock,
    blockchain,
    pool,
    forkChoice,
    port,
    isAlive: () => alive,
    refused,
    crashAt: (step) => {
      fatalStep = step;
    },
    kill,
    async submit(tx) {
      await pool.submit(tx);
    },
  };
  return node;
}

function onlyCrash(error: unknown): void {
  if (!(error instanceof Crash)) throw error;
}

/** All nodes of a simulation ask one memory, so that each signature is checked once. */
export function sharedVerifier(): Verifier {
  const verdicts = new Map<string, boolean>();
  const verify = (key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean => {
    const name = latin1(key) + latin1(signature) + latin1(chain.fastHash(message));
    let verdict = verdicts.get(name);
    if (verdict === undefined) {
      verdict = family.verify(key, message, signature);
      verdicts.set(name, verdict);
    }
    return verdict;
  };
  return {
    verifyOne: async (key, message, signature) => verify(key, message, signature),
    verify: async (items) =>
      items.map(({ publicKey, message, signature }) => verify(publicKey, message, signature)),
    close: async () => {},
  };
}
