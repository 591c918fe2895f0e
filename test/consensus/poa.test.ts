// Rounds, turns and the rules for blocks under proof of authority.
import fc from 'fast-check';
import t from 'tap';
import { genesisTransactions } from '../../src/block/genesis.ts';
import type { ConsensusView } from '../../src/consensus/consensus.ts';
import { determineMiner, rotationAfter } from '../../src/consensus/miner-rotation.ts';
import { createPoa, scorePoa } from '../../src/consensus/poa.ts';
import { createRounds, skippedRounds } from '../../src/consensus/poa-rounds.ts';
import { viewOf } from '../../src/ledger/committed-view.ts';
import { minerQueue } from '../../src/ledger/miner-queue.ts';
import { createOverlay } from '../../src/ledger/overlay.ts';
import { recordRoleOp } from '../../src/ledger/permissions.ts';
import { scheme } from '../block/sample.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import { address, createNetwork, G, minerIdentity, poaSettings, publicKey, R } from './network.ts';

t.test('the example of consensus.md#rounds', async (t) => {
  const rounds = createRounds(poaSettings);
  const round = rounds.numberAt(G + 45_000);
  t.equal(rounds.start(round), 1_573_472_618_702);
  t.equal(rounds.syncStart(round), 1_573_472_635_702);
  t.equal(rounds.end(round), 1_573_472_638_701);
  t.equal(rounds.start(round + 1), 1_573_472_638_702);
  t.equal(skippedRounds(rounds, G, G + 45_000), 1);
  t.equal(skippedRounds(rounds, G, G + R), 0);
});

t.test('skipped rounds follow the formula of consensus.md#rounds', async () => {
  const time = fc.integer({ min: 0, max: 2 ** 42 });
  const duration = fc.integer({ min: 1, max: 100_000 });
  fc.assert(
    fc.property(
      time,
      time,
      time,
      duration,
      duration,
      (g, p, c, roundDurationMs, syncDurationMs) => {
        const rounds = createRounds({ genesisTimestamp: g, roundDurationMs, syncDurationMs });
        const length = roundDurationMs + syncDurationMs;
        const big = BigInt;
        const floor = (a: bigint, b: bigint) => (a - (((a % b) + b) % b)) / b;
        const next = (floor(big(p - g), big(length)) + 1n) * big(length) + big(g);
        const expected = Number(floor(big(c) - next, big(length)));
        t.equal(skippedRounds(rounds, p, c), expected);
      },
    ),
    { numRuns: 200 },
  );
});

t.test('scenario 11: 4 miners make 10 blocks each in queue order', async (t) => {
  const network = createNetwork([3, 1, 4, 2]);
  network.run(1, 40);
  const made = network.blocks.slice(1);
  t.equal(made.length, 40);
  t.strictSame(
    made.slice(0, 8).map(({ miner }) => miner),
    [1, 4, 2, 3, 1, 4, 2, 3],
  );
  for (const miner of network.queue) t.equal(made.filter((b) => b.miner === miner).length, 10);
  t.ok(made.every(({ skipped }) => skipped === 0));
  t.strictSame(network.parent.header.consensus, { kind: 'poa', skippedRounds: 0 });
});

t.test('scenario 12: the miner listed last is first in the queue', async (t) => {
  const MINER = 1;
  const participants = [1, 2, 3].map((n) => ({ publicKey: publicKey(n), roles: [MINER] }));
  const found = genesisTransactions(
    { timestamp: G, transactions: [], networkParticipants: participants },
    scheme,
  );
  const ledger = createOverlay(viewOf(createMemoryStore(), scheme));
  for (const bytes of found.filter((bytes) => bytes[0] === 101)) {
    const timestamp = Number(Buffer.from(bytes).readBigInt64BE(28));
    const target = bytes.subarray(1, 27);
    recordRoleOp(ledger, target, { role: bytes[27]!, timestamp, add: true, due: undefined });
  }
  const queue = minerQueue(ledger, G).members.map((account) => account[0]!);
  t.strictSame(queue, [3, 2, 1]);
  for (let skipped = 0; skipped < 7; skipped++) {
    const network = createNetwork(queue);
    network.run(1 + skipped, 6 + skipped);
    const order = network.blocks.slice(1).map(({ miner }) => miner);
    const first = (1 + skipped) % 3;
    t.strictSame(
      order,
      [0, 1, 2, 3, 4, 5].map((i) => queue[(first + i) % 3]),
    );
  }
  const network = createNetwork(queue);
  network.run(1, 2);
  const again = { role: MINER, timestamp: G + 30_000, add: true, due: undefined };
  recordRoleOp(ledger, address(2), again);
  network.queue = minerQueue(ledger, G + 2 * R).members.map((account) => account[0]!);
  t.strictSame(network.queue, [3, 1, 2]);
  network.run(3, 8);
  t.strictSame(
    network.blocks.slice(2).map(({ miner }) => miner),
    [1, 2, 3, 1, 2, 3, 1],
  );
});

t.test('scenario 19: a block in the sync part of its round is refused', async (t) => {
  const network = createNetwork([0, 1, 2]);
  network.run(1, 3);
  const { poa, parent, view } = network;
  const start = G + 4 * R;
  const judge = (timestamp: number) => poa.verify(network.block(1, timestamp), parent, view);
  judge(start);
  judge(start + 16_999);
  for (const late of [17_000, 19_999]) {
    t.throws(() => judge(start + late), {
      message: new RegExp(
        `^Block's \\w+ timestamp is after sync start \\(${start + late} >= ${start + 17_000}\\)$`,
      ),
    });
  }
});

t.test('a round without sync part ends one millisecond early', async (t) => {
  const network = createNetwork([0, 1, 2], { syncDurationMs: 0 });
  const { poa, parent, view } = network;
  const judge = (timestamp: number) => poa.verify(network.block(1, timestamp), parent, view);
  judge(G + 2 * 17_000 - 2);
  t.throws(() => judge(G + 2 * 17_000 - 1), /timestamp is after round end/);
  t.strictSame(poa.nextSlot(parent, minerIdentity(1), G, view), {
    start: G + 17_000,
    from: G + 17_000,
    until: G + 2 * 17_000 - 1,
  });
});

t.test('scenario 21: not its turn, no miner, banned, role expired', async (t) => {
  const network = createNetwork([0, 1, 2, 3, 4]);
  network.run(1, 5);
  const { poa, view } = network;
  const last = network.blocks.at(-1)!;
  t.equal(last.miner, 0);
  const judge = (miner: number, round: number) => {
    poa.verify(network.block(miner, G + round * R), network.parent, view);
  };
  const text = (account: number) => scheme.addressToText(address(account));

  t.throws(() => judge(1, 5), { message: 'Block is in the same round as its referenced block' });
  t.throws(() => judge(1, 4), /timestamp is before the end of its parent's round/);
  judge(1, 6);
  t.throws(() => judge(2, 6), {
    message: `Block signer ${text(2)} isn't a valid miner for height 6; Expected ${text(1)}`,
  });
  judge(2, 7);
  t.throws(() => judge(9, 6), { message: `Address ${text(9)} is not a miner` });

  // Its role ended at the very time of the block: it is in neither the queue nor the role.
  const ledger = createOverlay(viewOf(createMemoryStore(), scheme));
  const due = G + 6 * R;
  recordRoleOp(ledger, address(1), { role: 1, timestamp: G - 1, add: true, due });
  t.equal(minerQueue(ledger, due - 1).members.length, 1);
  t.equal(minerQueue(ledger, due).members.length, 0);
  network.queue = [0, 2, 3, 4];
  t.throws(() => judge(1, 6), { message: `Address ${text(1)} is not a miner` });
  // Banned by role: still in the queue, so the round is lost.
  network.queue = [0, 1, 2, 3, 4];
  network.roles = [0, 2, 3, 4];
  t.throws(() => judge(1, 6), { message: `Address ${text(1)} is not a miner` });
  network.roles = undefined;

  network.run(6, 25, (miner) => miner === 1);
  const banned = network.bans.get(1)?.bans[0];
  t.ok(banned);
  const round = (network.blocks.at(-1)!.timestamp - G) / R;
  const order = [0, 1, 2, 3, 4].map((i) => round + 1 + i);
  for (const r of order) {
    t.throws(() => judge(1, r), new RegExp(`Block signer ${text(1)} isn't a valid miner`));
  }
});

t.test('scenario 23: understated skipped rounds are refused', async (t) => {
  const network = createNetwork([0, 1, 2]);
  network.run(1, 3);
  network.run(4, 6, (miner) => miner === 1);
  const { poa, parent, view } = network;
  const timestamp = G + 9 * R;
  const miner = [0, 1, 2].find(
    (n) => poa.nextSlot(parent, minerIdentity(n), timestamp, view)?.from === timestamp,
  )!;
  const expected = network.block(miner, timestamp);
  t.strictSame(expected.consensus, { kind: 'poa', skippedRounds: 1 + 2 });
  poa.verify(expected, parent, view);
  for (const skippedRounds of [0, 2, 4]) {
    const false_ = network.block(miner, timestamp, { consensus: { kind: 'poa', skippedRounds } });
    t.throws(() => poa.verify(false_, parent, view), /overall skipped rounds/);
  }
  const pos = {
    kind: 'pos' as const,
    baseTarget: 1n,
    generationSignature: new Uint8Array(32),
  };
  t.throws(() => poa.verify(network.block(miner, timestamp, { consensus: pos }), parent, view), {
    message: 'Expected PoA consensus block data, but got PoS instead',
  });
});

t.test('the walk back reaches any depth', async (t) => {
  const generators: number[] = Array.from({ length: 5000 }, (_, i) =>
    i === 99 ? 7 : i === 50 ? 8 : 200,
  );
  const view: ConsensusView = {
    ...createNetwork([0]).view,
    generatorAt: (height) => address(generators[height - 1]!),
    lastBlockBy: (account, height) => {
      const at = generators.lastIndexOf(account[0]!, height - 1);
      return at < 0 ? undefined : at + 1;
    },
  };
  const due = (queue: number[], height: number, skipped = 0) =>
    determineMiner(rotationAfter(queue.map(address), height, 100, false, view), skipped)[0];
  t.equal(due([6, 7, 8], 5000), 8, 'behind miner 7, who made block 100');
  t.equal(due([6, 7, 8], 99), 6, 'behind miner 8, who made block 51');
  t.equal(due([6, 8], 5000), 6);
  t.equal(due([5, 6, 9], 5000), 6, 'none of them ever mined: (1 + 0) mod 3');
  t.equal(due([5, 6, 9], 5000, 4), 9);
});

t.test('texts where it is nobody’s turn', async (t) => {
  const { view } = createNetwork([0, 1]);
  t.throws(() => determineMiner(rotationAfter([], 1, 100, false, view), 0), {
    message: "Couldn't determine miner: miner queue is empty!",
  });
  const rotation = {
    queue: [address(0), address(1)],
    last: 0,
    banned: [true, true],
    pardonFrom: Infinity,
  };
  t.throws(() => determineMiner(rotation, 0), { message: 'All miners are banned' });
  t.strictSame(determineMiner({ ...rotation, last: undefined }, 0), address(1), 'at start no bans');
});

t.test('determineMiner is the list of consensus.md#whose-turn-it-is', async () => {
  const queueSize = fc.integer({ min: 1, max: 8 });
  fc.assert(
    fc.property(
      queueSize,
      fc.nat(),
      fc.nat(50),
      fc.infiniteStream(fc.boolean()),
      (n, l, s, bits) => {
        const queue = Array.from({ length: n }, (_, i) => address(i));
        const last = l % n;
        const banned = queue.map(() => bits.next().value as boolean);
        const candidates = [...queue.slice(last), ...queue].slice(1 + (s % n));
        const expected = candidates.find((account) => !banned[account[0]!]);
        const rotation = { queue, last, banned, pardonFrom: Infinity };
        if (expected === undefined) t.throws(() => determineMiner(rotation, s));
        else t.strictSame(determineMiner(rotation, s), expected);
      },
    ),
    { numRuns: 300 },
  );
});

t.test('a block is valid exactly in the slots of its miner', async () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: 0, max: 10 * R }),
      fc.nat(5),
      (size, before, ahead, down) => {
        const network = createNetwork(Array.from({ length: size }, (_, i) => i));
        network.run(1, before, (miner) => miner === down);
        const { poa, parent, view } = network;
        const now = parent.header.timestamp + ahead;
        for (const miner of network.queue) {
          const slot = poa.nextSlot(parent, minerIdentity(miner), now, view);
          const judge = (timestamp: number) =>
            poa.verify(network.block(miner, timestamp), parent, view);
          if (slot !== undefined) {
            judge(slot.from);
            judge(slot.until - 1);
            t.throws(() => judge(slot.until));
            if (slot.from > now) t.throws(() => judge(slot.from - 1));
          }
          if (slot?.from !== now) t.throws(() => judge(now));
        }
      },
    ),
    { numRuns: 60 },
  );
});

t.test('scores are integers that fall with skipped rounds', async (t) => {
  const score = (skipped: number) => scorePoa({ kind: 'poa', skippedRounds: skipped });
  t.equal(score(0), 2n ** 64n / 99n);
  t.equal(score(0), 186_330_748_219_288_400n);
  t.equal(score(5), 177_372_539_170_284_150n);
  t.equal(score(123), 83_093_441_773_466_448n);
  t.equal(
    createPoa(poaSettings, scheme).score({ kind: 'poa', skippedRounds: 1 }),
    2n ** 64n / 100n,
  );
});
