/**
 * Members that are silent, fail, lack items, go, come, and announce what they may not have, in any
 * order, while items come and go: none is asked for more than it answers, and when all have the
 * items and answer, each item arrives.
 */
import t from 'tap';
import { latin1 } from '../../../src/base/bytes.ts';
import { createOverlay } from '../../../src/ledger/overlay.ts';
import { addMembers, createPolicy, RECIPIENT } from '../../../src/ledger/policies.ts';
import { Backlog } from '../../../src/privacy/fetching/fetch-backlog.ts';
import { FetchQueue } from '../../../src/privacy/fetching/fetch-queue.ts';
import { Sources } from '../../../src/privacy/fetching/item-sources.ts';
import type { Received } from '../../../src/privacy/fetching/receive-item.ts';
import { type ItemId, itemKey } from '../../../src/privacy/protocol/item-id.ts';
import type { Peer } from '../../../src/privacy/protocol/peer-ports.ts';
import { account, newChain, quiet } from '../../chain/chain-harness.ts';
import { seededRandom } from '../../crypto/random.ts';
import { fakeClock } from '../../node/fake-clock.ts';
import { createMemoryStore } from '../../simulated/memory-store.ts';

const SEEDS = 6;
const STEPS = 500;
const MEMBERS = 4;
const ASKED_AT_ONCE = 2;
const SILENCE_MS = 120_000;
const options = { parallelism: 16, lostEveryMs: 600_000, attemptsMax: 6, firstDelayMs: 5_000 };
const MANNERS: readonly Received[] = [
  'stored',
  'busy',
  'busy',
  'nothing',
  'nothing',
  'failed',
  'slow',
];

/** One member of the policies, as this node sees it. */
interface Neighbour {
  readonly owner: Uint8Array;
  /** What comes of a request to it; `busy` comes after the time-out. */
  manner: Received;
  /** Ends requests when the connection ends. */
  readonly running: Set<() => void>;
}

async function opened(seed: number) {
  const random = seededRandom(`any order ${seed}`);
  const below = (count: number): number => {
    const [high, low] = random.bytes(2) as unknown as [number, number];
    return (high * 256 + low) % count;
  };
  const view = createOverlay((await newChain()).blockchain.view);
  const neighbours = Array.from({ length: MEMBERS }, (_, i): Neighbour => {
    return { owner: account(`neighbour ${i}`).address, manner: 'stored', running: new Set() };
  });
  const policies = [0, 90, 200].map((byte) => new Uint8Array(32).fill(byte));
  for (const [p, id] of policies.entries()) {
    createPolicy(view, id, { name: 'papers', description: '' });
    const recipients = neighbours.filter((_, i) => (i + p) % 3 !== 2);
    addMembers(
      view,
      id,
      RECIPIENT,
      recipients.map(({ owner }) => owner),
    );
  }
  const clock = fakeClock(0);
  const backlog = new Backlog({ store: createMemoryStore(), clock, log: quiet });
  const online = new Set(neighbours);
  const wanted = new Set<string>();
  let mostAtOnce = 0;
  const sources: Sources = new Sources(
    { failedMax: 100, failedMs: 600_000, askedAtOnce: ASKED_AT_ONCE },
    {
      ...{ view, clock, random },
      peers: { all: () => [...online].map(({ owner }) => ({ owner, mode: 'default' }) as Peer) },
      onFree: (owner, count) => queue.retryHeld(owner, count),
    },
  );

  function ask({ manner, running }: Neighbour): Promise<Received> {
    const { promise, resolve } = Promise.withResolvers<Received>();
    const end = (received: Received): void => {
      cancel();
      running.delete(broken);
      resolve(received);
    };
    const broken = (): void => end('busy');
    const ms = manner === 'busy' ? SILENCE_MS : 20 + below(2_000);
    const cancel = clock.after(ms, () => end(manner));
    running.add(broken);
    mostAtOnce = Math.max(mostAtOnce, running.size);
    return promise;
  }

  const queue: FetchQueue = new FetchQueue(options, {
    ...{ backlog, clock, random, log: quiet, onLost: () => {} },
    free: () => sources.free(),
    isBusy: (owner) => sources.isBusy(owner),
    async fetch(item, only) {
      const heldBy = new Set<string>();
      for (const { owner } of sources.of(item)) {
        if (!wanted.has(itemKey(item))) return 'settled';
        if (only?.has(latin1(owner)) === false) continue;
        const end = sources.ask(item, owner);
        if (end === undefined) {
          heldBy.add(latin1(owner));
          continue;
        }
        const asked = [...online].find((one) => one.owner === owner);
        const received = asked === undefined ? 'busy' : await ask(asked);
        end(received);
        if (received === 'stored') wanted.delete(itemKey(item));
        if (received === 'stored') return 'settled';
      }
      return heldBy.size > 0 ? { heldBy } : 'missing';
    },
  });
  await queue.start();

  return {
    ...{ queue, clock, wanted, neighbours, below },
    mostAtOnce: () => mostAtOnce,
    free: () => [...sources.free().values()],
    newItem: (): ItemId => ({ policyId: policies[below(3)]!, hash: random.bytes(32) }),
    announce(item: ItemId, { owner }: Neighbour) {
      sources.announced(item, owner);
      queue.retryNow(item, owner);
    },
    leave(one: Neighbour) {
      online.delete(one);
      for (const broken of [...one.running]) broken();
    },
    connect(one: Neighbour) {
      if (online.has(one)) return;
      online.add(one);
      sources.clearFailure(one.owner);
      queue.retryAllNow(one.owner, () => true);
    },
  };
}

for (let seed = 0; seed < SEEDS; seed++) {
  t.test(`members in any order, ${seed}`, async (t) => {
    const at = await opened(seed);
    const { queue, clock, wanted, below } = at;
    const items = [at.newItem()];
    const add = (item: ItemId): void => {
      wanted.add(itemKey(item));
      queue.add(item, below(2) * 3_000);
    };
    add(items[0]!);
    for (let step = 0; step < STEPS; step++) {
      const one = at.neighbours[below(MEMBERS)]!;
      const some = items[below(items.length)]!;
      const acts = [
        () => add(items[items.push(at.newItem()) - 1]!),
        () => add(items[items.push(at.newItem()) - 1]!),
        () => void Object.assign(one, { manner: MANNERS[below(MANNERS.length)]! }),
        () => at.leave(one),
        () => at.connect(one),
        () => at.announce(some, one),
        () => wanted.has(itemKey(some)) && queue.want(some),
        // Its block is taken back, and comes again.
        () => (wanted.delete(itemKey(some)) ? queue.drop(some) : add(some)),
      ];
      acts[below(acts.length)]!();
      await clock.advance(below(4) === 0 ? below(300_000) : below(3_000));
    }
    t.ok(wanted.size > 0, 'the members have kept some items back');
    t.ok(at.mostAtOnce() <= ASKED_AT_ONCE);
    for (const one of at.neighbours) {
      one.manner = 'stored';
      at.connect(one);
    }
    // The longest delays are those of lost items, and of members that have failed.
    await clock.advance(3 * options.lostEveryMs);
    t.equal(wanted.size, 0, 'each item has come');
    await clock.advance(options.lostEveryMs);
    t.strictSame(queue.sizes(), { new: 0, pending: 0, lost: 0, transfers: 0 });
    t.strictSame(at.free(), Array(MEMBERS).fill(ASKED_AT_ONCE), 'all that was taken is given back');
    await queue.stop();
  });
}
