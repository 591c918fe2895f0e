// Subscriptions over gRPC: few read the past at a time, clients take turns, and their number is known.
import t from 'tap';
import { eventLimits } from '../../src/base/limits/event-limits.ts';
import type { Subscriber } from '../../src/base/ports/event-service.ts';
import { ChainFeed } from '../../src/events/chain-feed.ts';
import { createEventService } from '../../src/events/event-service.ts';
import { mine, newChain } from '../chain/chain-harness.ts';

const settled = async (): Promise<void> => {
  for (let i = 0; i < 30; i++) await new Promise(setImmediate);
};

/** The feed of a chain, whose reading goes on when the test says so. */
async function held() {
  const chain = await newChain();
  for (let i = 0; i < 3; i++) await mine(chain, []);
  const { blockchain, clock } = chain;
  const feed = new ChainFeed({ chain: blockchain, clock });
  const reading: (() => void)[] = [];
  const most: number[] = [];
  const slowly: ChainFeed = Object.create(feed, {
    next: {
      async value(...of: Parameters<ChainFeed['next']>) {
        await new Promise<void>((resolve) => {
          reading.push(resolve);
          most.push(reading.length);
        });
        return feed.next(...of);
      },
    },
  });
  const go = async (): Promise<void> => {
    for (const resolve of reading.splice(0)) resolve();
    await settled();
  };
  return { feed: slowly, clock, reading, most, go };
}

function subscriber(client: string) {
  const left = new AbortController();
  const heights: number[] = [];
  const made: Subscriber = {
    client,
    signal: left.signal,
    async write(event) {
      const { height } = (event['appendedBlockHistory'] ?? {}) as { height?: number };
      if (height !== undefined) heights.push(height);
    },
  };
  return { made, heights, leave: () => left.abort() };
}

t.test('readers of the past', async (t) => {
  const { feed, clock, most, go } = await held();
  const ended: string[] = [];
  const service = createEventService(feed, clock, (reason) => ended.push(reason));
  const greedy = Array.from({ length: 6 }, () => subscriber('greedy'));
  const other = subscriber('other');
  const all = [...greedy, other];
  const done = all.map(({ made }) => service.subscribe({ from: 'genesis', filters: [] }, made));
  await settled();
  t.equal(service.count(), all.length);
  for (let i = 0; i < 40 && other.heights.length === 0; i++) await go();
  const served = greedy.filter(({ heights }) => heights.length > 0);
  t.ok(served.length < greedy.length / 2, 'who asks once does not wait for all of another client');
  for (let i = 0; i < 40; i++) await go();
  for (const { heights } of all) t.strictSame(heights, [1, 2, 3, 4]);
  t.equal(Math.max(...most), eventLimits.apart.value);
  service.endedSlow();
  t.strictSame(ended, ['slow']);
  for (const { leave } of all) leave();
  await Promise.allSettled(done);
  t.equal(service.count(), 0);
});
