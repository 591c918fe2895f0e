/**
 * A network of whole nodes in one process: the real services from transport sessions to the miner,
 * on a network in memory and a clock that the test moves. Accounts are those of the chain harness,
 * so blocks and transactions of any kind can be made by hand.
 */
import { parseHoconText } from '../../src/adapters/hocon.ts';
import { VerifyQueueFullError } from '../../src/adapters/verify/signature-queue.ts';
import { base58 } from '../../src/base/base58.ts';
import { equal } from '../../src/base/bytes.ts';
import type { Clock } from '../../src/base/ports/clock.ts';
import type { Containers } from '../../src/base/ports/containers.ts';
import type { Log } from '../../src/base/ports/log.ts';
import type { Metrics } from '../../src/base/ports/metrics.ts';
import type { Network } from '../../src/base/ports/network.ts';
import type { PrivateStore } from '../../src/base/ports/private-store.ts';
import type { ProcessReadings } from '../../src/base/ports/process-readings.ts';
import { type Block, blockId } from '../../src/block/block.ts';
import { signGenesis } from '../../src/block/genesis.ts';
import { settingsHash } from '../../src/consensus/settings-hash.ts';
import { openKeystore } from '../../src/keystore/keystore.ts';
import type { OwnHello } from '../../src/network/sessions/handshake.ts';
import { genesisSettings, networkSettings } from '../../src/node/config/genesis-section.ts';
import { readConfig } from '../../src/node/config/read.ts';
import type { Config } from '../../src/node/config/settings.ts';
import { createNode, type Node, type NodePorts } from '../../src/node/node.ts';
import { patternsHere } from '../../src/rest/key-filter.ts';
import { type Account, account, family, scheme } from '../chain/chain-harness.ts';
import { seededRandom } from '../crypto/random.ts';
import { CHEAP, memoryFiles } from '../keystore/sample.ts';
import { type FakeClock, fakeClock } from '../node/fake-clock.ts';
import {
  emptyRecords,
  inlineVerifier,
  type MemoryLog,
  memoryJournal,
  memoryLog,
  noHttp,
  type Records,
} from '../node/memory-ports.ts';
import { createMemoryNet, type Delivery, type Fate } from '../simulated/memory-net.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import type { Scope } from '../system/e2e/process.ts';

export const ROUND_MS = 5_000;
export const SYNC_MS = 500;
export const GENESIS_TIME = 1_700_000_000_000;
export const PORT = 6864;
const FUNDS = 1_000_000_00000000;
const VERSION = '1.1.0';
const LINK_MS = 1;

/** Somebody with a key that is registered from the start. */
export interface Member extends Account {
  readonly name: string;
  /** Its address in the network. */
  readonly host: string;
}

export interface ClusterNode extends Member {
  readonly node: Node;
  readonly config: Config;
  readonly log: MemoryLog;
  /** Of single transactions and blocks, so far. */
  signatureChecks(): number;
  /** Of this node alone; the time that it believes. */
  readonly clock: Clock;
  /** How far its clock is ahead. */
  setSkew(ms: number): void;
  stop(): Promise<void>;
  /** Stops and starts again on what is stored. */
  restart(): Promise<ClusterNode>;
}

export interface ClusterOptions {
  /** Names of registered nodes with the role of a miner, in the order of the genesis. */
  readonly miners: readonly string[];
  /** Names of registered nodes without a role. */
  readonly others?: readonly string[];
  /** Names of accounts with funds that are not registered from the start. */
  readonly later?: readonly string[];
  /** `key=value` as after `--set`, for every node. */
  readonly set?: readonly string[];
  /** Each life of a node has a folder, so that it can vote on blocks. */
  readonly hasFiles?: boolean;
}

export interface StartOptions {
  readonly set?: readonly string[];
  readonly skewMs?: number;
  readonly metrics?: Metrics;
  /** Whom it knows; all miners of the network if absent. */
  readonly knows?: readonly string[];
  /** Name of the member that it is to its peers, where it has a privacy owner of its own. */
  readonly identity?: string;
  /** Where it keeps confidential data; it has the key of its owner then. */
  readonly privateStore?: (log: Log) => Promise<PrivateStore>;
  /** Its container engine; without one it executes no contracts. */
  readonly containers?: (clock: Clock) => Containers;
  /** Signed messages that its verifier has no room for. */
  readonly noRoomFor?: (message: Uint8Array) => boolean;
  /** Stands between the node and its ports. */
  readonly around?: (ports: NodePorts) => NodePorts;
}

export interface Cluster {
  readonly clock: FakeClock;
  readonly genesis: Block;
  /** What a node of this network says of itself. */
  hello(member: Member): OwnHello;
  member(name: string): Member;
  /** The network as a new host sees it. */
  host(address: string): Network;
  start(name: string, options?: StartOptions): Promise<ClusterNode>;
  seconds(count: number): Promise<void>;
  rounds(count: number): Promise<void>;
  /** Nothing passes between hosts of different groups; hosts of no group reach everybody. */
  part(...groups: readonly (readonly string[])[]): void;
  heal(): void;
  /** What becomes of messages, beside partitions. */
  faults: (delivery: Delivery) => Fate;
}

export async function cluster(scope: Scope, options: ClusterOptions): Promise<Cluster> {
  const clock = fakeClock(GENESIS_TIME + 1);
  const { miners, others = [], later = [], set = [] } = options;
  const members = [...miners, ...others, ...later].map((name, i): Member => {
    return { ...account(`node ${name}`), name, host: `10.0.0.${i + 1}` };
  });
  let groups: readonly (readonly string[])[] = [];
  const groupOf = (host: string): number =>
    groups.findIndex((names) => names.some((name) => member(name).host === host));

  const net = createMemoryNet({
    after: (ms, action) => clock.after(ms + LINK_MS, action),
    faults(delivery) {
      const [from, to] = [groupOf(delivery.from), groupOf(delivery.to)];
      if (from !== to && from !== -1 && to !== -1) return { lost: true };
      return made.faults(delivery);
    },
  });

  function member(name: string): Member {
    const found = members.find((one) => one.name === name);
    if (found === undefined) throw new Error(`nobody is called ${name}`);
    return found;
  }

  async function configOf(self: Member, start: StartOptions): Promise<Config> {
    const known = (start.knows ?? miners).filter((name) => name !== self.name).map(member);
    const text = configText(self, members, { miners, later }, known);
    const { config } = readConfig({
      file: `/${self.name}/node.conf`,
      text,
      tree: await parseHoconText(text),
      env: {},
      sets: [...set, ...(start.set ?? [])],
      home: `/${self.name}`,
      nonce: 1,
      readSecret: () => undefined,
    });
    return config;
  }

  const founder = account('founder of the cluster');
  const sample = await configOf(members[0]!, {});
  const genesis = signGenesis(genesisSettings(sample, GENESIS_TIME, scheme), founder, scheme);

  async function open(self: Member, start: StartOptions, disk: Disk): Promise<ClusterNode> {
    const config = await configOf(self, start);
    let skewMs = start.skewMs ?? 0;
    const now = (): number => clock.now() + skewMs;
    const own: Clock = { ...clock, now, system: now };
    const random = seededRandom(`${self.name} at ${clock.now()}`);
    const log = memoryLog();
    const keystore = await openKeystore(
      { path: config.wallet.file, layout: family.keystoreLayout, password: 'wallet', cost: CHEAP },
      { files: memoryFiles(), random, family, scheme },
    );
    const privateStore = await start.privateStore?.(log);
    if (privateStore !== undefined) await keystore.add([self.keys]);
    const verifier = inlineVerifier(family);
    let signatureChecks = 0;
    const { around = (ports: NodePorts) => ports } = start;
    const ports: NodePorts = {
      patterns: patternsHere,
      contractPatterns: patternsHere,
      scheme,
      family,
      // Closing a store in memory would lose it; the next node goes on with it.
      store: { ...disk.store, close: async () => {} },
      journal: memoryJournal(disk.records),
      turns: memoryJournal(disk.turns),
      verifier: {
        ...verifier,
        async verifyOne(...check) {
          signatureChecks += 1;
          const [, message] = check;
          if (start.noRoomFor?.(message) === true) throw new VerifyQueueFullError('no room');
          return verifier.verifyOne(...check);
        },
        async verify(items) {
          signatureChecks += items.length;
          const isRefused = items.some(({ message }) => start.noRoomFor?.(message) === true);
          if (isRefused) throw new VerifyQueueFullError('no room');
          return verifier.verify(items);
        },
      },
      clock: own,
      random,
      log,
      http: noHttp,
      network: net.host(self.host),
      keystore,
      files: options.hasFiles === true ? memoryFiles() : undefined,
      privateStore,
      containers: start.containers?.(own),
      ownerKey: self.keys.privateKey,
      identityKey:
        start.identity === undefined ? undefined : member(start.identity).keys.privateKey,
      version: VERSION,
      audit: 'state',
      telemetry: start.metrics && { metrics: start.metrics, process: noReadings },
      requestStop: (cause) => {
        throw cause ?? new Error('the node wants to stop');
      },
    };
    const node = await createNode(config, genesis, around(ports));
    let stopped = false;
    async function stop(): Promise<void> {
      if (stopped) return;
      stopped = true;
      await node.stop();
    }
    scope.teardown(stop);
    return {
      ...self,
      node,
      config,
      log,
      clock: own,
      signatureChecks: () => signatureChecks,
      setSkew(ms) {
        skewMs = ms;
      },
      stop,
      async restart() {
        await stop();
        return open(self, start, disk);
      },
    };
  }

  const made: Cluster = {
    clock,
    genesis,
    hello: ({ name, publicKey }) => ({
      version: { major: 1, minor: 1, patch: 0 },
      agent: 'platform-node',
      chainId: scheme.chainId,
      genesisId: blockId(genesis),
      consensusType: 'poa',
      settingsHash: settingsHash(networkSettings(sample), family.fastHash),
      nodeName: name,
      nonce: 1n,
      declaredAddress: undefined,
      ownerPublicKey: publicKey,
      mode: 'default',
      features: [],
      miner: undefined,
    }),
    member,
    host: (address) => net.host(address),
    start(name, start = {}) {
      const disk = { store: createMemoryStore(), records: emptyRecords(), turns: emptyRecords() };
      return open(member(name), start, disk);
    },
    seconds: (count) => clock.advance(count * 1000),
    rounds: (count) => clock.advance(count * ROUND_MS),
    part(...next) {
      groups = next;
    },
    heal() {
      groups = [];
    },
    faults: () => ({}),
  };
  return made;
}

const noReadings: ProcessReadings = {
  startSeconds: () => 0,
  cpuSeconds: () => 0,
  residentBytes: () => 0,
  heapBytes: () => 0,
  loopDelay: () => ({ p50: 0, p99: 0, max: 0 }),
};

interface Disk {
  readonly store: ReturnType<typeof createMemoryStore>;
  readonly records: Records;
  readonly turns: Records;
}

function configText(
  self: Member,
  members: readonly Member[],
  { miners, later }: Required<Pick<ClusterOptions, 'miners' | 'later'>>,
  known: readonly Member[],
): string {
  const transactions = members.map(({ text }) => `{ recipient = "${text}", amount = ${FUNDS} }`);
  const registered = members.filter(({ name }) => !later.includes(name));
  const participants = registered.map(({ name, publicKey }, i) => {
    const roles = [...(i === 0 ? ['permissioner', 'connection_manager'] : [])];
    if (miners.includes(name)) roles.push('miner', 'contract_developer');
    return `{ public-key = "${base58.encode(publicKey)}", roles = [${roles.join(', ')}] }`;
  });
  return `node {
  owner-address = "${self.text}"
  directory = "/${self.name}"
  wallet { file = "/${self.name}/keystore.dat", password = "wallet" }
  blockchain.consensus {
    type = poa, round-duration = ${ROUND_MS - SYNC_MS}ms, sync-duration = ${SYNC_MS}ms
    ban-duration-blocks = 100, warnings-for-ban = 3, max-bans-percentage = 40
  }
  blockchain.custom {
    address-scheme-character = "T"
    genesis {
      initial-balance = ${FUNDS * members.length}
      block-timestamp = ${GENESIS_TIME}
      genesis-public-key-base-58 = ""
      signature = ""
      transactions = [${transactions.join(', ')}]
      network-participants = [${participants.join(', ')}]
    }
  }
  network {
    bind-address = "${self.host}", port = ${PORT}, node-name = "${self.name}"
    declared-address = "${self.host}:${PORT}"
    known-peers = [${known.map(({ host }) => `"${host}:${PORT}"`).join(', ')}]
  }
  miner.quorum = 0
  # A peer is suspected of wrong proofs after two of these.
  utx.cleanup-interval = 5s
  ntp { servers = [], fatal-timeout = 5m }
  rest-api.enable = no
}
`;
}

export const tipOf = ({ node }: ClusterNode) => node.blockchain.tip();

export const heightsOf = (nodes: readonly ClusterNode[]): number[] =>
  nodes.map((one) => tipOf(one).height);

/** True where all have the same last block and the same state. */
export function agree(nodes: readonly ClusterNode[]): boolean {
  const [first, ...rest] = nodes;
  if (first === undefined) return true;
  const { id, height } = tipOf(first);
  const hash = first.node.blockchain.stateHash(height);
  return rest.every(
    (one) => equal(tipOf(one).id, id) && equal(one.node.blockchain.stateHash(height)!, hash!),
  );
}
