/**
 * A hostile author, two hostile senders and a client without a key, all at once: contracts whose
 * programs attack the node, calls that fail, images that nobody has or that never arrive, floods, and
 * dear questions.
 */
import { nthCall } from '../../../bench/transfers/contract-calls.ts';
import { base58 } from '../../../src/base/base58.ts';
import type { Sender } from '../../../src/cli/load/transfers.ts';
import { txToJson } from '../../../src/tx/json/encode.ts';
import type { Engine } from '../../containers/engine.ts';
import type { TestImage } from '../../containers/images.ts';
import { scheme } from '../../e2e/process-network.ts';
import type { Rest } from '../../e2e/rest.ts';
import { type HostileRole, hostileImage, type SeveralRole } from './images.ts';

export interface Author {
  /** A node that has the key of this account. */
  readonly rest: Rest;
  readonly address: string;
}

/** Contract ids by role; of some roles there are several. */
export type HostileContracts = ReadonlyMap<string, readonly string[]>;

export interface Attack {
  /** What was sent, by kind. */
  readonly counts: Readonly<Record<string, number>>;
  /** Creations of an image that nobody has. */
  readonly lost: readonly string[];
  end(): Promise<void>;
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
/** They start and never connect. */
const SILENT = 4;
const ADDRESSES = 2_100;

const FLOOD_AT_ONCE = 8;
const FLOOD_AGE_MS = 60_000;
const BETWEEN_CALLS_MS = 400;
const READERS = 4;

export async function createHostile(engine: Engine, author: Author): Promise<HostileContracts> {
  const ids = new Map<string, string[]>();
  const all = [...ROLES.map((role) => [role, 1] as const), ...SEVERAL];
  for (const [role, count] of all) {
    const created: string[] = [];
    for (let i = 0; i < count; i++) {
      created.push(await create(await hostileImage(engine, role, addresses, i), author));
    }
    ids.set(role, created);
  }
  return ids;
}

export async function create(image: TestImage, { rest, address }: Author): Promise<string> {
  const tx = { type: 103, version: 1, sender: address, ...image, contractName: 'x', params: [] };
  return String((await rest.broadcast(await rest.sign(tx)))['id']);
}

const addresses = Array.from({ length: ADDRESSES }, (_, i) =>
  scheme.addressToText(scheme.addressOf(new Uint8Array(32).fill(i & 255, 0, 16).fill(i >> 8, 16))),
);

/** Everything at once, until `end`. `pulls`: images that never arrive. */
export function startAttack(
  engine: Engine,
  rests: readonly Rest[],
  [author, other]: readonly [Author, Author],
  ids: HostileContracts,
  [caller, ...floods]: readonly Sender[],
  pulls: readonly TestImage[],
): Attack {
  const { rest, address } = author;
  const lost: string[] = [];
  const counts: Record<string, number> = {};
  let isOver = false;
  let sent = 0;
  const count = (kind: string): void => {
    counts[kind] = (counts[kind] ?? 0) + 1;
  };
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  const any = (): Rest => rests[sent % rests.length]!;
  const contractsOf = (role: string): readonly string[] => ids.get(role) ?? [];

  async function call(id: string, from: Sender, timestamp: number, kind: string): Promise<void> {
    const tx = nthCall(0, base58.decode(id), [], [from], timestamp, scheme);
    sent++;
    const { status } = await any().post('/transactions/broadcast', txToJson(tx, scheme));
    count(`${kind} ${status}`);
  }

  /** Each contract has a call that waits. */
  async function calls(): Promise<void> {
    while (!isOver) {
      const now = Date.now();
      const all = [...ids.values()].flat();
      await Promise.all(all.map((id, i) => call(id, caller!, now + i, 'calls')));
      await pause(BETWEEN_CALLS_MS);
    }
  }

  /** Calls that are older than those of others. */
  async function flood(from: Sender, ids: readonly string[]): Promise<void> {
    const began = Date.now() - FLOOD_AGE_MS;
    for (let i = 0; !isOver; ) {
      const some = Array.from({ length: FLOOD_AT_ONCE }, () => i++);
      await Promise.all(
        some.map((n) => call(ids[n % ids.length]!, from, began + n, 'older calls')),
      );
    }
  }

  async function reads(rest: Rest, id: string): Promise<void> {
    const path = `/contracts/${id}?matches=${encodeURIComponent(PATTERN)}`;
    while (!isOver) count(`patterns ${(await rest.get(path)).status}`);
  }

  async function updates(id: string): Promise<void> {
    while (!isOver) {
      const image = { image: `lost:${sent}`, imageHash: 'cd'.repeat(32) };
      const tx = { type: 107, version: 1, sender: address, contractId: id, ...image };
      const { status } = await rest.post('/transactions/signAndBroadcast', tx);
      count(`updates ${status}`);
      await pause(BETWEEN_CALLS_MS);
    }
  }

  /** Images that start and never connect, and some that nobody has. */
  async function images(): Promise<void> {
    for (let i = 0; !isOver; i++) {
      const image = { image: `lost:${i}`, imageHash: 'ab'.repeat(32) };
      lost.push(await create(image, other));
      if (i < SILENT) await create(await hostileImage(engine, 'silent', addresses, i), author);
      count('creations');
      await pause(BETWEEN_CALLS_MS);
    }
  }

  async function slowPulls(): Promise<void> {
    for (const image of pulls) {
      await create(image, author);
      count('slow pulls');
    }
  }

  const [rows] = contractsOf('rows');
  const slow = contractsOf('slow');
  const all = Promise.all([
    calls(),
    images(),
    slowPulls(),
    ...floods.map((from, i) => flood(from, i % 2 === 0 ? slow : contractsOf('again'))),
    ...Array.from({ length: READERS }, (_, i) => reads(rests[i % rests.length]!, rows!)),
    ...slow.slice(0, 3).map(updates),
  ]);
  // A failure is told by `end`.
  all.catch(() => undefined);
  return {
    counts,
    lost,
    async end() {
      isOver = true;
      await all;
    },
  };
}

const PATTERN = `(${'(a|b|k)?'.repeat(40)}k?[0-9]*)*`;
