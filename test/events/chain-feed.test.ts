// What a reader gets of a block that leaves the chain and comes back, and what passing over one costs.
import t from 'tap';
import { ChainFeed } from '../../src/events/chain-feed.ts';
import { mine, newChain, payment, users } from '../chain/chain-harness.ts';

const filter = { kinds: new Set(['transaction'] as const) };

t.test('a block that comes back while another reader loads it', async (t) => {
  const { blockchain, ...rest } = await newChain();
  const chain = { blockchain, ...rest };
  for (let i = 0; i < 3; i++) await mine(chain, []);
  const [alice, bob] = users;
  const { height, header } = blockchain.tip();
  const txs = [1n, 2n].map((amount) =>
    payment(alice, bob, amount, header.timestamp + Number(amount)),
  );
  const block = await mine(chain, txs);
  const waiting: (() => void)[] = [];
  let isHeld = true;
  let step = 3;
  let ms = 0;
  const clock = {
    monotonic: () => (ms += step),
    turn: () =>
      isHeld ? new Promise<void>((resolve) => waiting.push(resolve)) : Promise.resolve(),
  };
  const feed = new ChainFeed({ chain: blockchain, clock });
  const from = feed.before(height + 1)!;
  const first = feed.blocks.load(height + 1);
  await new Promise(setImmediate);
  t.ok(waiting.length > 0, 'a reader loads the block');
  await blockchain.rollback(height);
  await blockchain.append(block);
  step = 0;
  const second = feed.next(from, filter);
  isHeld = false;
  for (const go of waiting) go();
  await first;
  let place = (await second)!.place;
  const seen = [...(await second)!.events];
  while (seen.length === 0 && place.height <= height) {
    const next = (await feed.next(place, filter))!;
    seen.push(...next.events);
    place = next.place;
  }
  t.equal(seen.length, 2, 'the other one misses nothing of it');
});
