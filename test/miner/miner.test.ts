// A slot is checked again when it begins, because much time may have passed since its timer was
// set.
import t from 'tap';
import type { Slot } from '../../src/consensus/consensus.ts';
import type { Coming } from '../../src/miner/free-slots.ts';
import { type MinerPorts, SlotMiner } from '../../src/miner/miner.ts';
import { quiet } from '../chain/chain-harness.ts';
import { fakeClock } from '../node/fake-clock.ts';

const START = 1_700_000_000_000;
const STALE_MS = 30_000;
const SLOT: Slot = { start: START + 20_000, from: START + 20_000, until: START + 25_000 };

/** A miner that waits for its slot; its world can be changed meanwhile. */
function armed(tipAgeMs: number) {
  const clock = fakeClock(START);
  const forged: number[] = [];
  const world = {
    slot: SLOT as Slot | undefined,
    used: false,
    shutOut: false,
    lacksVotes: false,
    lacksSigner: false,
    tip: { height: 5, timestamp: START - tipAgeMs },
    produceBlock: async (timestamp: number): Promise<void> => void forged.push(timestamp),
    headMoved: (): void => {},
    coming: undefined as Coming | undefined,
    /** Commits the block that waits, if one does. */
    unfinished: undefined as (() => void) | undefined,
  };
  const chain: MinerPorts['chain'] = {
    tip: () => world.tip,
    nextSlot: (now) => {
      const { slot } = world;
      if (slot === undefined || now >= slot.until) return undefined;
      return { ...slot, from: Math.max(now, slot.from) };
    },
    isUsed: () => world.used,
    async produceBlock(timestamp) {
      await world.produceBlock(timestamp);
      world.used = true;
    },
    unfinished: {
      waits: () => world.unfinished !== undefined,
      finish: async () => world.unfinished?.(),
    },
    onHead: (listener) => {
      world.headMoved = listener;
      return () => {};
    },
    coming: () => world.coming,
  };
  const miner = new SlotMiner(
    { enabled: true, quorum: 0, noQuorumDelayMs: 1000, staleTipMs: STALE_MS },
    {
      clock,
      log: quiet,
      chain,
      connectedMiners: () => 0,
      lacksVotes: () => world.lacksVotes,
      lacksSigner: () => world.lacksSigner,
      majority: () => 0,
      isRemovedFromNetwork: () => world.shutOut,
    },
  );
  miner.start();
  return { clock, forged, world, miner };
}

t.test('no block is made before the votes for its chain are there', async (t) => {
  const { clock, forged, miner, world } = armed(0);
  t.teardown(() => miner.stop());
  world.lacksVotes = true;
  world.slot = { ...SLOT, until: START + 60_000 };
  await clock.advance(24_000);
  t.equal(miner.state(), 'no-votes');
  t.strictSame(forged, []);
  world.lacksVotes = false;
  await clock.advance(30_000);
  t.equal(forged.length, 1);
});

t.test('no block is made while nobody signs it', async (t) => {
  const { clock, forged, miner, world } = armed(0);
  t.teardown(() => miner.stop());
  world.lacksSigner = true;
  world.slot = { ...SLOT, until: START + 60_000 };
  await clock.advance(24_000);
  t.equal(miner.state(), 'no-signer');
  t.strictSame(forged, []);
  world.lacksSigner = false;
  await clock.advance(30_000);
  t.equal(forged.length, 1);
});

t.test('an armed slot is used when it comes, once', async (t) => {
  const { clock, forged, miner } = armed(0);
  t.equal(miner.state(), 'waiting');
  await clock.advance(24_000);
  t.equal(forged.length, 1);
  t.ok(forged[0]! >= SLOT.from && forged[0]! < SLOT.until);
  await miner.stop();
});

t.test('a tip that has become too old meanwhile', async (t) => {
  const { clock, forged, miner } = armed(STALE_MS - 1000);
  t.equal(miner.state(), 'waiting', 'it was young enough when the slot was armed');
  await clock.advance(24_000);
  t.equal(miner.state(), 'stale-tip');
  t.strictSame(forged, []);
  await miner.stop();
});

t.test('a sealed block comes back onto a tip of any age', async (t) => {
  const { clock, world, miner } = armed(STALE_MS + 1000);
  await clock.advance(2_000);
  t.equal(miner.state(), 'stale-tip');
  let finished = 0;
  world.unfinished = async () => {
    finished++;
    world.unfinished = undefined;
  };
  await clock.advance(2_000);
  t.equal(finished, 1);
  await miner.stop();
});

t.test('a node that the network removes meanwhile, and registers again', async (t) => {
  const { clock, forged, world, miner } = armed(0);
  world.shutOut = true;
  await clock.advanceTo(SLOT.from + 1_500);
  t.equal(miner.state(), 'shut-out');
  t.strictSame(forged, []);
  world.shutOut = false;
  await clock.advance(2_500);
  t.equal(forged.length, 1, 'in what is left of its slot');
  await miner.stop();
});

t.test('a node that has fallen behind meanwhile', async (t) => {
  const { clock, forged, world, miner } = armed(0);
  world.slot = undefined;
  await clock.advance(24_000);
  t.strictSame(forged, []);
  t.equal(miner.state(), 'idle');
  await miner.stop();
});

t.test('a turn that an earlier life has used', async (t) => {
  const { clock, forged, world, miner } = armed(0);
  world.used = true;
  await clock.advance(24_000);
  t.strictSame(forged, []);
  await miner.stop();
});

t.test('a slot that is far away comes nearer, since the clock was set', async (t) => {
  const { clock, forged, world, miner } = armed(0);
  world.slot = { ...SLOT, start: START + 600_000, from: START + 600_000, until: START + 605_000 };
  world.headMoved();
  world.slot = SLOT;
  await clock.advanceTo(SLOT.until);
  t.strictSame(forged, [SLOT.from + 200], 'no new head has told');
  await miner.stop();
});

t.test('a failure is tried again after a pause, and not at once', async (t) => {
  const { clock, forged, world, miner } = armed(0);
  let failures = 0;
  const { produceBlock } = world;
  world.produceBlock = async (timestamp) => {
    if (++failures < 3) throw new Error('the store is busy');
    await produceBlock(timestamp);
  };
  await clock.advanceTo(SLOT.from + 200);
  t.equal(failures, 1);
  await clock.advance(4_000);
  t.equal(failures, 3);
  t.equal(forged.length, 1);
  await miner.stop();
});

t.test(
  'a sealed block comes before a new one, and is tried until it is in the chain',
  async (t) => {
    const { clock, forged, world, miner } = armed(0);
    let tries = 0;
    await clock.advanceTo(SLOT.from - 1);
    world.unfinished = () => {
      if (++tries < 3) throw new Error('the disk is full');
      world.unfinished = undefined;
    };
    await clock.advanceTo(SLOT.from + 1_500);
    t.equal(tries, 2);
    t.strictSame(forged, []);
    await clock.advanceTo(SLOT.from + 2_500);
    t.equal(tries, 3);
    t.equal(forged.length, 1, 'then the slot is used');
    await miner.stop();
  },
);

const QUARTER_MS = (SLOT.until - SLOT.start) / 4;

t.test('a slot waits for a better block that is on its way', async (t) => {
  const { clock, forged, world, miner } = armed(0);
  world.coming = 'announced';
  await clock.advanceTo(SLOT.start + 700);
  t.strictSame(forged, [], 'it would be lost');
  t.equal(miner.state(), 'waiting');
  world.coming = undefined;
  world.headMoved();
  await clock.advance(0);
  t.strictSame(forged, [SLOT.start + 700], 'on the new head, at once');
  await clock.advanceTo(SLOT.until + 1_000);
  t.equal(forged.length, 1);
  await miner.stop();
});

t.test('the block does not come, since it was no good', async (t) => {
  const { clock, forged, world, miner } = armed(0);
  world.coming = 'announced';
  await clock.advanceTo(SLOT.start + 700);
  world.coming = undefined;
  await clock.advance(30);
  t.equal(forged.length, 1);
  await miner.stop();
});

t.test('headers without blocks cost a quarter of the turn, however many', async (t) => {
  const { clock, forged, world, miner } = armed(0);
  world.coming = 'announced';
  // Each might begin a wait of its own.
  for (let ms = 0; ms < QUARTER_MS; ms += 250) {
    await clock.advanceTo(SLOT.start + ms);
    world.headMoved();
  }
  t.strictSame(forged, []);
  await clock.advanceTo(SLOT.until);
  t.strictSame(forged, [SLOT.start + QUARTER_MS]);
  await miner.stop();
});

t.test('and the next turn begins when it would have begun', async (t) => {
  const { clock, forged, world, miner } = armed(0);
  world.coming = 'announced';
  await clock.advanceTo(SLOT.until);
  const [start, until] = [SLOT.start + 20_000, SLOT.until + 20_000];
  const tip = { height: 6, timestamp: SLOT.until };
  Object.assign(world, { used: false, slot: { start, from: start, until }, tip });
  await clock.advanceTo(until);
  t.strictSame(
    forged.map((at) => at - SLOT.start),
    [QUARTER_MS, 20_000 + QUARTER_MS],
  );
  await miner.stop();
});

t.test('a block that is here and not judged yet holds up half of the turn', async (t) => {
  const { clock, forged, world, miner } = armed(0);
  world.coming = 'complete';
  await clock.advanceTo(SLOT.until);
  t.strictSame(forged, [SLOT.start + 2 * QUARTER_MS]);
  await miner.stop();
});

t.test('a turn that never ends waits for nothing', async (t) => {
  const { clock, forged, world, miner } = armed(0);
  world.slot = { ...SLOT, until: Number.POSITIVE_INFINITY };
  world.coming = 'complete';
  world.headMoved();
  await clock.advanceTo(SLOT.start);
  t.strictSame(forged, [SLOT.start]);
  await miner.stop();
});
