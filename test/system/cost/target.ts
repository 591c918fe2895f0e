/** The attacked node: a separate process with a chain that has long lists. */
import { type ChildProcess, fork } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { memoryOf } from '../../../bench/measure/memory.ts';
import { base58 } from '../../../src/base/base58.ts';
import { freePorts } from '../../../src/cli/commands/dev/free-ports.ts';
import { threadSettings } from '../../http-threads.ts';
import { startNode } from '../e2e/dev-node.ts';
import { API_KEY, keyHash, networkFolder, OWNER, person } from '../e2e/network-folder.ts';
import { eventually, type Scope } from '../e2e/process.ts';
import { type Rest, restOf } from '../e2e/rest.ts';
import { INSPECTABLE, memoryInUse } from '../load/hostile/node-memory.ts';
import type { Lie } from './time-servers.ts';

const MIB = 1024 * 1024;
const HOST = '127.0.0.1';
export const PRIVACY_KEY = 'of the private data';
/** Confidential data of one policy that the node takes in. */
export const POLICY_QUOTA = 24 * MIB;
/** Members of the network whose keys the attacker has. */
export const peers = Array.from({ length: 12 }, (_, i) => person(`attacking peer ${i}`));

export interface Seen {
  readonly longestMs: number;
  /** The most that the main thread of the node worked while the client waited for an answer. */
  readonly heldMs: number;
  readonly served: number;
  readonly failed: number;
}

/** How much the chain of the node has to show. */
export interface Size {
  /** Data entries of one account, in as many transactions as that takes. */
  readonly megabytes: number;
  /** Of that account. */
  readonly assets: number;
  /** In as few blocks as can be. */
  readonly transfers: number;
  /** Of the confidential item that the first peer may read. */
  readonly itemBytes: number;
  /** More lines of the configuration. */
  readonly more?: string;
}

export interface Target {
  readonly host: string;
  readonly port: number;
  readonly rest: Rest;
  readonly owner: string;
  readonly publicKey: string;
  /** Id of a transaction and of an asset of the chain. */
  readonly id: string;
  readonly assetId: string;
  readonly config: string;
  readonly peerPort: number;
  /** Of the three time servers that the node asks. */
  lie(lie: Lie): void;
  /** Confidential data that the first peer may read. */
  readonly item: { readonly policyId: string; readonly hash: Uint8Array };
  /** Id of the accepted transaction, which the owner signs. */
  send(fields: object): Promise<string>;
  /** Makes a policy whose recipients are the owner and the first peer. */
  policy(): Promise<string>;
  /** Bytes of confidential data on the disk. */
  privateBytes(): number;
  /** Rounds without a block since the genesis block. */
  skippedRounds(): Promise<number>;
  /** Resident memory of the node without the pages of its store, which the system may take back. */
  residentMib(): number;
  /** Of the main thread, after a collection. */
  inUseMib(): Promise<number>;
  /** What the good client has seen since the call before. */
  seen(): Promise<Seen>;
}

export async function startTarget(scope: Scope, size: Size): Promise<Target> {
  const [peerPort] = (await freePorts(1)) as [number];
  const timeServers = program(scope, 'time-servers.ts');
  const [places] = (await once(timeServers, 'message')) as [string[]];
  const members = peers.map((one) => ({ ...one, roles: [], amount: 100_000_000_000 }));
  const { config, dir } = await networkFolder(scope, {
    members: [{ ...OWNER, roles: [...OWNER.roles, 'issuer'] }, ...members],
    ...(size.more === undefined ? {} : { more: size.more }),
  });
  const { rest, pid, log } = await startNode(scope, config, {
    apiKey: API_KEY,
    env: INSPECTABLE,
    set: [
      ...threadSettings,
      `network.port=${peerPort}`,
      // The same few peers attack again and again, all from this machine.
      'network.enable-blacklisting=no',
      `rest-api.privacy-api-key-hash=${keyHash(PRIVACY_KEY)}`,
      'privacy.storage.vendor=file',
      `privacy.storage.policy-quota=${POLICY_QUOTA}`,
      `ntp.servers=[${places.map((place) => `"${place}"`).join(',')}]`,
      'ntp.expiration-timeout=200ms',
    ],
  });
  const { id, assetId, send } = await populate(rest, size);
  const policy = async (): Promise<string> => {
    const recipients = [OWNER.address, peers[0]!.address];
    const policyName = 'of two members';
    const owners = [OWNER.address];
    const made = await send({ type: 112, policyName, description: '', recipients, owners });
    await rest.mined(made);
    return made;
  };
  const item = await sendItem(rest, await policy(), randomBytes(size.itemBytes));
  return {
    host: HOST,
    port: Number(new URL(rest.url).port),
    rest,
    owner: OWNER.address,
    publicKey: OWNER.publicKey,
    id,
    assetId,
    config,
    peerPort,
    lie: (lie) => void timeServers.send(lie),
    item,
    send,
    policy,
    privateBytes: () => bytesIn(join(dir, 'data', 'privacy')),
    async skippedRounds() {
      const { body } = await rest.get('/blocks/headers/last');
      return Number((body as Skips)['poa-consensus']['overall-skipped-rounds']);
    },
    residentMib() {
      const { rssMb, mappedMb } = memoryOf(pid);
      return rssMb - mappedMb;
    },
    inUseMib: () => memoryInUse({ log }),
    seen: watched(scope, rest.url, pid),
  };
}

/** Lets a good client ask this node; gives what it has seen since the call before. */
export function watched(scope: Scope, url: string, pid: number): Target['seen'] {
  const watcher = program(scope, 'watcher.ts', url, String(pid));
  return () => ask(watcher);
}

/** A program of this folder as a process. */
export function program(scope: Scope, file: string, ...args: string[]): ChildProcess {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args);
  scope.teardown(() => child.kill('SIGKILL'));
  return child;
}

interface Skips {
  readonly 'poa-consensus': { readonly 'overall-skipped-rounds': number };
}

const bytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + sizeOf(join(parentPath, name)), 0);

/** 0 for a file that is gone by now. */
const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

export const sha256 = (bytes: Uint8Array): Uint8Array =>
  createHash('sha256').update(bytes).digest();

async function sendItem(rest: Rest, policyId: string, bytes: Buffer): Promise<Target['item']> {
  const hash = sha256(bytes);
  const info = { filename: 'x', size: String(bytes.length), timestamp: 1, author: '', comment: '' };
  const { status, body } = await restOf(rest.url, PRIVACY_KEY).post('/privacy/sendData', {
    sender: OWNER.address,
    policyId,
    type: 'file',
    info,
    data: bytes.toString('base64'),
    hash: base58.encode(hash),
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  await rest.mined((body as { id: string }).id);
  return { policyId, hash };
}

function ask(watcher: ChildProcess): Promise<Seen> {
  return new Promise((resolve) => {
    watcher.once('message', (seen) => resolve(seen as Seen));
    watcher.send('seen');
  });
}

const ENTRY_BYTES = 1000;
const ENTRIES = 100;

/** So many at a time, since the node refuses what waits too long in line. */
const AT_ONCE = 20;

const isPoolFull = (body: unknown): boolean => JSON.stringify(body).includes('size limit');

async function populate(rest: Rest, { megabytes, assets, transfers }: Size) {
  const sender = OWNER.address;
  // A sender has its share of the pool: what does not fit waits for the next block.
  const send = (fields: object): Promise<string> =>
    eventually('room in the pool', async () => {
      const { status, body } = await rest.post('/transactions/signAndBroadcast', {
        sender,
        ...fields,
      });
      if (status === 200) return (body as { id: string }).id;
      if (isPoolFull(body)) return undefined;
      throw new Error(JSON.stringify(body));
    });
  async function repeat(count: number, fields: (i: number) => object): Promise<string> {
    let id = '';
    for (let i = 0; i < count; i += AT_ONCE) {
      const ids = await Promise.all(
        Array.from({ length: Math.min(AT_ONCE, count - i) }, (_, j) => send(fields(i + j))),
      );
      id = ids.at(-1)!;
    }
    return id;
  }
  const asset = { description: '', quantity: 1000, decimals: 0, reissuable: true };
  const assetId = await repeat(assets, (i) => ({
    type: 3,
    version: 2,
    name: `asset ${i}`,
    ...asset,
  }));
  const recipient = peers[0]!.address;
  await repeat(transfers, (amount) => ({ type: 4, version: 2, recipient, amount: 1 + amount }));
  const id = await repeat(megabytes * 10, (n) => ({
    type: 12,
    version: 1,
    data: Array.from({ length: ENTRIES }, (_, i) => ({
      key: `${n}-${i}`,
      type: 'string',
      value: 'x'.repeat(ENTRY_BYTES),
    })),
  }));
  await eventually('the data in blocks', async () => {
    const answer = await rest.get(`/transactions/info/${id}`);
    return answer.status === 200 ? true : undefined;
  });
  return { id, assetId, send };
}
