/**
 * A hostile author, two hostile senders and a client without a key, all at once: contracts whose
 * programs attack the node, calls that fail, images that nobody has or that never arrive, floods, and
 * dear questions. They come from a separate process (attack-process.ts).
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../../../src/base/json/json.ts';
import { childEnvironment } from '../../../child-environment.ts';
import type { Engine } from '../../../containers/engine.ts';
import type { TestImage } from '../../../containers/images.ts';
import { eventually, type Scope } from '../../e2e/process.ts';
import { scheme } from '../../e2e/process-network.ts';
import type { Rest } from '../../e2e/rest.ts';
import { runAfter } from '../client-priority.ts';
import { type HostileRole, hostileImage, type SeveralRole } from './images.ts';

export interface Author {
  /** A node that has the key of this account. */
  readonly rest: Rest;
  readonly address: string;
}

/** Contract ids by role; of some roles there are several. */
export type HostileContracts = Readonly<Record<string, readonly string[]>>;

export interface AttackJob {
  /** REST interfaces of all nodes; the first one has the keys of the authors. */
  readonly urls: readonly string[];
  readonly apiKey: string;
  /** Addresses of two. */
  readonly authors: readonly [string, string];
  /** Of the first author. */
  readonly contracts: HostileContracts;
  /** Accounts that call contracts, by the name of createSenders. */
  readonly senders: { readonly name: string; readonly count: number };
  /** Calls that each of these accounts but the first sends as fast as it can, at most. */
  readonly flood: number;
  /** Images that start and never connect. */
  readonly silent: readonly TestImage[];
  /** Images that never arrive. */
  readonly pulls: readonly TestImage[];
}

export interface AttackResult {
  /** What was sent, by kind. */
  readonly counts: Readonly<Record<string, number>>;
  /** Creations of an image that nobody has. */
  readonly lost: readonly string[];
}

export interface Attack {
  /** Resolves once nothing more is sent. */
  end(): Promise<AttackResult>;
}

const ROLES: readonly HostileRole[] = [
  'frames',
  'ranges',
  'rows',
  'patterns',
  'empties',
  'stale',
  'again',
];
const SEVERAL: readonly (readonly [SeveralRole, count: number])[] = [
  ['slow', 4],
  ['ends', 2],
];
const ADDRESSES = 2_100;

export async function createHostile(engine: Engine, author: Author): Promise<HostileContracts> {
  const all = [...ROLES.map((role) => [role, 1] as const), ...SEVERAL];
  const ids: Record<string, string[]> = {};
  for (const [role, count] of all) {
    ids[role] = [];
    for (let i = 0; i < count; i++) {
      ids[role].push(await create(await hostileImage(engine, role, addresses, i), author));
    }
  }
  return ids;
}

export async function silentImages(engine: Engine, count: number): Promise<readonly TestImage[]> {
  const images: TestImage[] = [];
  for (let i = 0; i < count; i++) images.push(await hostileImage(engine, 'silent', addresses, i));
  return images;
}

export async function create(image: TestImage, { rest, address }: Author): Promise<string> {
  const tx = { type: 103, version: 1, sender: address, ...image, contractName: 'x', params: [] };
  return String((await rest.broadcast(await rest.sign(tx)))['id']);
}

/** A container that is late on a slow machine fails its creation, and its author sends another. */
export async function createExecuted(
  image: TestImage,
  author: Author,
  ms: number,
): Promise<string> {
  const { rest } = author;
  for (;;) {
    const id = await create(image, author);
    const end = await eventually(
      `an end of ${id}`,
      async () => {
        if ((await rest.get(`/contracts/executed-tx-for/${id}`)).status === 200) return 'executed';
        const { body } = await rest.get(`/contracts/status/${id}`);
        const statuses = Array.isArray(body) ? (body as JsonObject[]) : [];
        return statuses.some(({ status }) => status === 'Failure') ? 'failed' : undefined;
      },
      ms,
    );
    if (end === 'executed') return id;
  }
}

const addresses = Array.from({ length: ADDRESSES }, (_, i) =>
  scheme.addressToText(scheme.addressOf(new Uint8Array(32).fill(i & 255, 0, 16).fill(i >> 8, 16))),
);

/** Everything at once, until `end`. */
export function startAttack(scope: Scope, job: AttackJob): Attack {
  const child = fork(fileURLToPath(new URL('attack-process.ts', import.meta.url)), {
    stdio: 'inherit',
    env: childEnvironment(),
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  runAfter(child.pid!);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  scope.teardown(() => {
    child.kill();
    return ended;
  });
  const result = new Promise<AttackResult>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the attack ended: ${code}`)));
    child.once('message', (message) => resolve(message as AttackResult));
  });
  // A failure is told by `end`.
  result.catch(() => undefined);
  child.send(job);
  return {
    end() {
      if (child.connected) child.send('end');
      return result;
    },
  };
}
