/** A queue of items to fetch, and the members that it asks. */
import { latin1 } from '../../../src/base/bytes.ts';
import { Backlog } from '../../../src/privacy/fetching/fetch-backlog.ts';
import { FetchQueue } from '../../../src/privacy/fetching/fetch-queue.ts';
import { type ItemId, itemKey } from '../../../src/privacy/protocol/item-id.ts';
import { quiet } from '../../chain/chain-harness.ts';
import { seededRandom } from '../../crypto/random.ts';
import { fakeClock } from '../../node/fake-clock.ts';
import { createMemoryStore } from '../../simulated/memory-store.ts';

export const options = {
  parallelism: 100,
  lostEveryMs: 600_000,
  attemptsMax: 24,
  firstDelayMs: 5_000,
};
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
const random = seededRandom('held items');
export const [silent, other, third] = [7, 8, 9].map((byte) => new Uint8Array(26).fill(byte)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
];

export const items = (policy: number, count: number): ItemId[] => {
  const policyId = new Uint8Array(32).fill(policy);
  return Array.from({ length: count }, () => ({ policyId, hash: random.bytes(32) }));
};

/** `full`: has enough to answer; `mute`: says nothing until `speak`. */
type Manner = 'full' | 'mute' | 'nothing' | 'has';

/** A queue and the members that it asks, in this order. */
export function opened(manners: [member: Uint8Array, manner: Manner][]) {
  const clock = fakeClock(0);
  const backlog = new Backlog({ store: createMemoryStore(), clock, log: quiet });
  const how = new Map(manners.map(([member, manner]) => [latin1(member), manner]));
  const free = new Map<string, number>();
  const busy = new Set<string>();
  const lost: ItemId[] = [];
  const tried: string[] = [];
  const asked: [member: string, item: string][] = [];
  let silence = Promise.withResolvers<void>();
  const queue = new FetchQueue(options, {
    ...{ backlog, clock, random, log: quiet, onLost: (item) => void lost.push(item) },
    free: () => free,
    isBusy: (member) => busy.has(member),
    async fetch(item, only) {
      tried.push(itemKey(item));
      const heldBy = new Set<string>();
      for (const [member, manner] of how) {
        if (only?.has(member) === false) continue;
        if (manner === 'full') heldBy.add(member);
        else asked.push([member, itemKey(item)]);
        if (manner === 'mute') await silence.promise;
        if (manner === 'has') return 'settled';
      }
      return heldBy.size > 0 ? { heldBy } : 'missing';
    },
  });
  return {
    ...{ queue, clock, backlog, lost, tried, asked, free, busy },
    set: (member: Uint8Array, manner: Manner) => void how.set(latin1(member), manner),
    speak() {
      silence.resolve();
      silence = Promise.withResolvers<void>();
    },
    /** What is tried meanwhile. */
    async since(act: () => void): Promise<string[]> {
      tried.length = 0;
      act();
      await queue.idle();
      return [...tried];
    },
    askedOf: (member: Uint8Array) => asked.filter(([one]) => one === latin1(member)).length,
  };
}
