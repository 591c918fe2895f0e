// Warnings and bans, with the vector of consensus.md#warnings-and-bans.
import fc from 'fast-check';
import t from 'tap';
import { CodecError } from '../../src/codec/codec.ts';
import {
  BANS_KEPT,
  decodeBanHistory,
  encodeBanHistory,
  isBanned,
  NO_BANS,
  withBan,
} from '../../src/consensus/ban-history.ts';
import { scheme } from '../block/sample.ts';
import { createNetwork, G, type Network, R } from './network.ts';

const counts = (network: Network): number[] => {
  const found = network.queue.map(() => 0);
  for (const { miner } of network.blocks.slice(1)) found[network.queue.indexOf(miner)]! += 1;
  return found;
};

const bansOf = (network: Network): [miner: number, height: number, round: number][] =>
  [...network.bans]
    .flatMap(([miner, { bans }]) =>
      bans.map((ban): [number, number, number] => [miner, ban.height, (ban.timestamp - G) / R]),
    )
    .sort((a, b) => a[1] - b[1] || a[0] - b[0]);

const marks = (network: Network): number =>
  [...network.bans.values()].reduce(
    (sum, { warnings, bans }) => sum + warnings.length + bans.length,
    0,
  );

t.test('vector of consensus.md#warnings-and-bans: nobody down', async (t) => {
  const network = createNetwork([0, 1, 2, 3, 4]);
  network.run(1, 400);
  t.equal(network.height, 401);
  t.equal(marks(network), 0);
});

t.test('vector of consensus.md#warnings-and-bans: miner 1 down', async (t) => {
  const network = createNetwork([0, 1, 2, 3, 4]);
  network.run(1, 400, (miner) => miner === 1);
  t.strictSame(bansOf(network), [
    [1, 14, 17],
    [1, 126, 132],
    [1, 238, 247],
    [1, 350, 362],
  ]);
  t.equal(network.height - 1, 387);
  t.strictSame(counts(network).sort(), [0, 96, 97, 97, 97]);
});

t.test(
  'vector of consensus.md#warnings-and-bans and scenario 15: miners 1, 2, 3 down, never more than 2 banned',
  async (t) => {
    const network = createNetwork([0, 1, 2, 3, 4]);
    network.run(1, 400, (miner) => miner >= 1 && miner <= 3);
    t.strictSame(bansOf(network), [
      [1, 8, 19],
      [2, 8, 19],
      [3, 108, 269],
      [1, 114, 281],
    ]);
    t.equal(network.height - 1, 172);
    t.strictSame(counts(network), [86, 0, 0, 0, 86]);
    for (let height = 1; height <= network.height; height++) {
      const banned = [...network.bans.values()].filter((history) => isBanned(history, height, 100));
      if (banned.length > 2) t.fail(`${banned.length} banned at ${height}`);
    }
  },
);

t.test('scenario 13: a miner is warned and cleared by its next block', async (t) => {
  const network = createNetwork([10, 11, 12, 13]);
  network.run(1, 4);
  network.run(5, 8, (miner) => miner === 11);
  const after = network.blocks.findIndex(({ skipped }) => skipped === 1);
  t.equal(network.blocks[after]?.miner, 12, 'the next miner of the queue');
  t.match(network.parent.header.consensus, { kind: 'poa', skippedRounds: 1 });
  t.strictSame(network.bans.get(11)?.warnings.length, 1);
  network.run(9, 12);
  t.notOk(network.bans.has(11), 'the row is gone with its last warning');
});

t.test('scenario 14: the third missed turn bans for 100 blocks', async (t) => {
  const network = createNetwork([0, 1, 2, 3, 4]);
  network.run(1, 200, (miner) => miner === 1);
  const history = network.bans.get(1);
  const height = history?.bans[0]?.height ?? 0;
  t.equal(height, 126, 'the second ban');
  const first = history?.bans[1]?.height ?? 0;
  t.equal(first, 14);
  t.notOk(isBanned(history, first - 1, 100));
  t.ok(isBanned(history, first, 100));
  t.ok(isBanned(history, first + 99, 100));
  t.notOk(isBanned(history, first + 100, 100));
  const skips = network.blocks.slice(first, first + 100).map(({ skipped }) => skipped);
  t.ok(
    skips.every((skipped) => skipped === 0),
    'no round is lost while it is banned',
  );
});

t.test('scenario 16: max-bans 0 leaves no marks', async (t) => {
  const network = createNetwork([0, 1, 2, 3, 4], { maxBansPercentage: 0 });
  network.run(1, 100, (miner) => miner > 0);
  t.equal(marks(network), 0);
  t.strictSame(counts(network), [20, 0, 0, 0, 0]);
});

t.test('scenario 17: one miner is left and makes blocks at its turns', async (t) => {
  const network = createNetwork([0, 1, 2, 3]);
  network.run(1, 50, (miner) => miner !== 2);
  t.ok(network.height > 12);
  t.ok(network.blocks.slice(1).every(({ miner }) => miner === 2));
  t.equal(bansOf(network).length, 1, 'a limit of one');
  network.run(51, 70);
  const alive = new Set(network.blocks.slice(-12).map(({ miner }) => miner));
  t.equal(alive.size, 3, 'the others return, but for the banned one');
});

t.test('scenario 18: after 1000 lost rounds every miner is marked at most once', async (t) => {
  for (const size of [1, 4, 5, 7]) {
    const network = createNetwork(Array.from({ length: size }, (_, i) => i));
    network.run(1, 8);
    t.equal(marks(network), 0);
    network.run(1009, 1008 + 2 * size);
    const first = network.blocks.find(({ skipped }) => skipped > 0);
    t.equal(first?.skipped, 1000);
    for (const { warnings, bans } of network.bans.values()) {
      t.ok(warnings.length + bans.length <= 1);
    }
  }
});

t.test('the block after genesis marks nobody', async (t) => {
  const network = createNetwork([0, 1, 2]);
  network.append(1, G + 1000 * R);
  t.equal(marks(network), 0);
});

t.test('with one warning for a ban the first miss bans', async (t) => {
  const network = createNetwork([0, 1, 2, 3, 4], { warningsForBan: 1 });
  network.run(1, 2);
  network.run(3, 6, (miner) => miner === 3);
  t.strictSame(
    bansOf(network).map(([miner]) => miner),
    [3],
  );
});

t.test('a history survives a round trip, and no other bytes do', async (t) => {
  const time = fc.maxSafeNat();
  const plain = { noNullPrototype: true } as const;
  const ban = fc.record({ timestamp: time, height: fc.nat() }, plain);
  const marks = {
    warnings: fc.array(time, { maxLength: 5 }),
    bans: fc.array(ban, { maxLength: 5 }),
  };
  const history = fc.record(marks, plain);
  fc.assert(
    fc.property(history, (value) => {
      const bytes = encodeBanHistory(value, scheme);
      t.strictSame(decodeBanHistory(bytes, scheme), value);
      for (let end = 0; end < bytes.length; end++) {
        t.throws(() => decodeBanHistory(bytes.subarray(0, end), scheme), CodecError);
      }
    }),
    { numRuns: 20 },
  );
  t.throws(() => decodeBanHistory(new Uint8Array(5), scheme), CodecError);
});

t.test('old bans are forgotten', async (t) => {
  let history = NO_BANS;
  for (let height = 1; height <= BANS_KEPT + 5; height++) {
    history = withBan(history, { timestamp: height, height });
  }
  t.equal(history.bans.length, BANS_KEPT);
  t.equal(history.bans[0]?.height, BANS_KEPT + 5);
});
