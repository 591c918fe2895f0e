/**
 * Networks of real processes with proxies between them: every node reaches every other one through
 * a proxy of its own, so that any connection can be cut, held or slowed down, in one direction too.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { files } from '../../../src/adapters/files.ts';
import { systemRandom } from '../../../src/adapters/system.ts';
import type { JsonObject } from '../../../src/base/json/json.ts';
import {
  configPath,
  createDevNetwork,
  type DevAccount,
} from '../../../src/cli/commands/dev/dev-network.ts';
import { freePorts } from '../../../src/cli/commands/dev/free-ports.ts';
import { createChainScheme } from '../../../src/crypto/chain-scheme.ts';
import { openKeystore } from '../../../src/keystore/keystore.ts';
import { run } from '../../cli/run.ts';
import { CHEAP } from '../../keystore/sample.ts';
import { type StartedNode, startNode, temporaryFolder } from './dev-node.ts';
import { CHAIN_ID, family } from './network-folder.ts';
import { eventually, type Scope } from './process.ts';
import type { Rest } from './rest.ts';
import { startProxy, type TcpProxy } from './tcp-proxy.ts';

export const scheme = createChainScheme(family, CHAIN_ID.charCodeAt(0));

export interface NetworkOptions {
  readonly nodes: number;
  readonly roundMs: number;
  /** Proof of authority where absent. */
  readonly consensus?: 'poa' | 'pos';
  /** More settings of every node, as after `--set`, or of each by its index. */
  readonly set?: readonly string[] | ((index: number) => readonly string[]);
  /** How old the chain is: with it the first blocks have skipped many rounds. */
  readonly ageMs?: number;
  /** As in a new network; false where a test is about blocks that are taken back. */
  readonly finality?: boolean;
  /** Beside the environment of the test. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface NetworkNode {
  readonly config: string;
  readonly owner: DevAccount;
  readonly peerPort: number;
  /** Of the running process. */
  readonly rest: Rest;
  readonly isRunning: boolean;
  readonly pid: number;
  /** Everything its processes have logged. */
  log(): string;
  start(): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

export interface ProcessNetwork {
  readonly dir: string;
  readonly nodes: readonly NetworkNode[];
  /** Everybody with funds, owners of nodes first. */
  readonly accounts: readonly DevAccount[];
  readonly apiKey: string;
  readonly privacyApiKey: string;
  /** Connections between different groups are cut. */
  split(...groups: readonly (readonly number[])[]): void;
  /** Nothing from the one arrives at the other; the way back stays open. */
  silence(from: number, to: number): void;
  /** Everything takes so long in both directions. */
  slow(delayMs: number): void;
  heal(): void;
  /** Keeps what crosses the connections of a node from now on; gives it, stream by stream. */
  record(index: number): () => readonly Buffer[];
  /** Resolves when each of these nodes has a session with each other one. */
  connected(indexes?: readonly number[]): Promise<void>;
}

const QUICK = [
  // Nobody is to find a way around the proxies: this address leads nowhere.
  'network.declared-address=192.0.2.1:6864',
  'network.enable-peers-exchange=no',
  'network.attempt-connection-delay=200ms',
  'network.suspension-residence-time=500ms',
  'network.connection-timeout=2s',
  'network.handshake-timeout=3s',
  'network.break-idle-connections-timeout=6s',
  'miner.quorum=0',
];

export async function processNetwork(
  scope: Scope,
  {
    nodes: count,
    roundMs,
    consensus = 'poa',
    set = [],
    ageMs = 0,
    finality = consensus === 'poa',
    env = {},
  }: NetworkOptions,
): Promise<ProcessNetwork> {
  const dir = temporaryFolder(scope);
  const indexes = Array.from({ length: count }, (_, i) => i);
  const peerPorts = await freePorts(count);
  const { accounts, apiKey, privacyApiKey } = await createDevNetwork(
    {
      ...{ dir, restHost: '127.0.0.1', restPort: 0, roundMs, consensus, peerPorts, finality },
      now: Date.now() - ageMs,
    },
    {
      files,
      random: systemRandom,
      family,
      async createKeystore(path, password, keys) {
        const ports = { files, random: systemRandom, family, scheme };
        const keystore = await openKeystore(
          { path, layout: family.keystoreLayout, password, cost: CHEAP },
          ports,
        );
        await keystore.add(keys);
        keystore.close();
      },
    },
  );
  /** From the one to the other. */
  const proxies = new Map<string, TcpProxy>();
  for (const from of indexes) {
    for (const to of indexes) {
      if (from !== to) proxies.set(`${from}>${to}`, await startProxy(peerPorts[to]!));
    }
  }
  scope.teardown(() => {
    for (const proxy of proxies.values()) proxy.close();
  });
  const proxy = (from: number, to: number): TcpProxy => proxies.get(`${from}>${to}`)!;

  const nodes = indexes.map((index): NetworkNode => {
    const others = indexes.filter((other) => other !== index);
    const places = others.map((other) => `"127.0.0.1:${proxy(index, other).port}"`);
    const own = typeof set === 'function' ? set(index) : set;
    return networkNode(scope, {
      config: configPath(dir, count, index),
      logFile: join(dir, `node-${index + 1}.log`),
      owner: accounts[index]!,
      peerPort: peerPorts[index]!,
      apiKey,
      env,
      set: [...QUICK, `network.known-peers=[${places}]`, ...own],
    });
  });

  return {
    dir,
    nodes,
    accounts,
    apiKey,
    privacyApiKey,
    split(...groups) {
      const groupOf = (index: number): number => groups.findIndex((one) => one.includes(index));
      for (const from of indexes) {
        for (const to of indexes) {
          if (from !== to && groupOf(from) !== groupOf(to)) proxy(from, to).refuse();
        }
      }
    },
    silence(from, to) {
      proxy(from, to).forth('held');
      proxy(to, from).back('held');
    },
    slow(delayMs) {
      for (const one of proxies.values()) {
        one.forth({ delayMs });
        one.back({ delayMs });
      }
    },
    heal() {
      for (const one of proxies.values()) {
        one.allow();
        one.forth('open');
        one.back('open');
      }
    },
    record(index) {
      const others = indexes.filter((other) => other !== index);
      const records = others.flatMap((other) => [
        proxy(index, other).record(),
        proxy(other, index).record(),
      ]);
      return () => records.flatMap((recorded) => recorded());
    },
    async connected(some = indexes) {
      for (const index of some) {
        const others = some.filter((other) => other !== index);
        await eventually(`the connections of node ${index + 1}`, async () => {
          const owners = await connectedOwners(nodes[index]!.rest);
          return others.every((other) => owners.includes(accounts[other]!.address)) || undefined;
        });
      }
    },
  };
}

interface NodePlace {
  readonly config: string;
  readonly logFile: string;
  readonly owner: DevAccount;
  readonly peerPort: number;
  readonly apiKey: string;
  readonly env: Readonly<Record<string, string>>;
  readonly set: readonly string[];
}

function networkNode(scope: Scope, place: NodePlace): NetworkNode {
  let process: StartedNode | undefined;
  /** What the log of the process that runs will be added to. */
  const keep = (ended: StartedNode): void => appendFileSync(place.logFile, ended.log());
  const kept = (): string => (existsSync(place.logFile) ? readFileSync(place.logFile, 'utf8') : '');
  async function end(how: 'stop' | 'kill'): Promise<void> {
    const ending = process;
    process = undefined;
    const exit = await ending?.[how]();
    if (ending !== undefined) keep(ending);
    if (how === 'stop' && exit !== undefined && exit.code !== 0) {
      throw new Error(`${place.config}: it ended with ${exit.code}\n${ending?.log()}`);
    }
  }
  const running = (): StartedNode => {
    if (process === undefined) throw new Error(`${place.config}: no process is running`);
    return process;
  };
  return {
    ...place,
    get rest() {
      return running().rest;
    },
    get pid() {
      return running().pid;
    },
    get isRunning() {
      return process !== undefined;
    },
    log: () => kept() + (process?.log() ?? ''),
    async start() {
      const { apiKey, env, set } = place;
      process = await startNode(scope, place.config, { apiKey, env, set });
    },
    stop: () => end('stop'),
    kill: () => end('kill'),
  };
}

export async function connectedOwners(rest: Rest): Promise<string[]> {
  const { body } = await rest.get('/peers/connected');
  const { peers } = body as { readonly peers: readonly { readonly nodeOwnerAddress: string }[] };
  return peers.map(({ nodeOwnerAddress }) => nodeOwnerAddress).sort();
}

/** The id of the block at this height, undefined above the tip. */
export async function blockId(rest: Rest, height: number): Promise<string | undefined> {
  const { status, body } = await rest.get(`/blocks/headers/at/${height}`);
  return status === 200 ? String((body as JsonObject)['signature']) : undefined;
}

/** Waits until all have one chain, `from` blocks long or longer; gives the height of its tip. */
export async function agreed(nodes: readonly NetworkNode[], from: number): Promise<number> {
  return eventually(`one chain from ${from} on`, async () => {
    const heights = await Promise.all(nodes.map(({ rest }) => rest.height()));
    const height = Math.min(...heights);
    if (height < from || Math.max(...heights) > height + 1) return undefined;
    const ids = await Promise.all(nodes.map(({ rest }) => blockId(rest, height)));
    return ids[0] !== undefined && ids.every((id) => id === ids[0]) ? height : undefined;
  });
}

/** State hash of each of these stopped nodes at one height. */
export async function stateHashes(
  nodes: readonly NetworkNode[],
  height: number,
): Promise<unknown[]> {
  const hashes: unknown[] = [];
  for (const { config } of nodes) {
    const { code, stdout, stderr } = await run(['chain', 'hash', config, String(height)]);
    if (code !== 0) throw new Error(stderr);
    hashes.push((JSON.parse(stdout) as { stateHash: unknown }).stateHash);
  }
  return hashes;
}
