// What a search for the next slot reads, and that it finds what a walk round by round finds, also where the
// queue changes with time and where bans stop to count.
import fc from 'fast-check';
import t from 'tap';
import { type BanHistory, NO_BANS, withBan } from '../../src/consensus/ban-history.ts';
import type { ConsensusView } from '../../src/consensus/consensus.ts';
import { minerAfter, rotationAfter } from '../../src/consensus/miner-rotation.ts';
import { createPoa } from '../../src/consensus/poa.ts';
import { feature } from '../../src/tx/rules/features.ts';
import { scheme } from '../block/sample.ts';
import { address, createNetwork, G, minerIdentity, poaSettings, R } from './network.ts';

const settings = { ...poaSettings, preActivatedFeatures: new Map([[feature.liveness, 0]]) };
const HEIGHT = 50;
const parent = {
  height: HEIGHT,
  header: { timestamp: G + HEIGHT * R, consensus: { kind: 'poa', skippedRounds: 0 } as const },
};

/** The miners whose role is in force from round `since` until round `due`, after the parent. */
type Span = readonly [since: number, due: number];
const at = (round: number): number => G + (HEIGHT + round) * R;

function viewOf(spans: readonly Span[], bans: readonly boolean[] = []) {
  const asked = { queues: 0, histories: 0 };
  const isIn = ([since, due]: Span, time: number) => at(since) <= time && time < at(due);
  const history: BanHistory = withBan(NO_BANS, { timestamp: G, height: HEIGHT - 1 });
  const view: ConsensusView = {
    ...createNetwork([0]).view,
    minersAt(time) {
      asked.queues += 1;
      const changes = spans.flat().map(at);
      return {
        members: spans.flatMap((span, i) => (isIn(span, time) ? [address(i)] : [])),
        until: Math.min(Infinity, ...changes.filter((one) => one > time)),
      };
    },
    isMiner: (account, time) => isIn(spans[account[0]!]!, time),
    banHistory: (account) => {
      asked.histories += 1;
      return bans[account[0]!] === true ? history : undefined;
    },
    generatorAt: (height) => address(height % spans.length),
    lastBlockBy: () => undefined,
  };
  return { view, asked };
}

t.test('a head that is asked every second reads its queue once', async (t) => {
  const size = 200;
  const poa = createPoa(settings, scheme);
  const { view, asked } = viewOf(Array.from({ length: size }, () => [0, Infinity] as const));
  for (let second = 1; second <= 20; second++) {
    for (const miner of [0, 7, size]) {
      poa.nextSlot(parent, minerIdentity(miner), at(0) + second * 1000, view);
    }
  }
  t.equal(asked.queues, 1);
  t.equal(asked.histories, size);
});

t.test('a queue that changes with every round costs a bounded search', async (t) => {
  const poa = createPoa(settings, scheme);
  const spans = Array.from({ length: 200 }, (_, i): Span => [0, i + 1]);
  const { view, asked } = viewOf(spans);
  for (let i = 0; i < 100; i++) poa.nextSlot(parent, minerIdentity(250), at(1), view);
  t.ok(asked.queues <= 20, `${asked.queues} queues`);
});

const spans = fc.array(fc.tuple(fc.nat(6), fc.integer({ min: 2, max: 20 })), {
  minLength: 1,
  maxLength: 6,
});

t.test('the slot is the first round in which the miner has the turn', async () => {
  fc.assert(
    fc.property(
      spans,
      fc.array(fc.boolean(), { maxLength: 6 }),
      fc.nat(5),
      (list, banned, miner) => {
        const poa = createPoa(settings, scheme);
        const { view } = viewOf(list, banned);
        const slot = poa.nextSlot(parent, minerIdentity(miner), at(0) + 1, view);
        const until = slot === undefined ? 1 : (slot.from - at(0)) / R;
        for (let round = 1; round <= until; round++) {
          const { members } = view.minersAt(at(round));
          const turns = rotationAfter(members, HEIGHT, 100, true, view);
          const due = minerAfter(turns, round - 1);
          const isDue = due !== undefined && due[0] === miner;
          if (isDue !== (slot !== undefined && round === until)) return false;
        }
        return true;
      },
    ),
    { numRuns: 500 },
  );
});

t.test('in a queue that stays, every miner has a slot', async () => {
  const flags = fc.array(fc.boolean(), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(flags, fc.nat(20), (banned, later) => {
      const poa = createPoa(settings, scheme);
      const { view } = viewOf(
        banned.map(() => [0, Infinity] as const),
        banned,
      );
      const now = at(later) + 1;
      return banned.every(
        (_, i) => poa.nextSlot(parent, minerIdentity(i), now, view) !== undefined,
      );
    }),
    { numRuns: 300 },
  );
});

t.test(
  'somebody always has a turn, whoever is banned, for as long as there is a miner',
  async () => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }),
        fc.nat(200),
        (banned, from) => {
          const queue = banned.map((_, i) => address(i));
          const { view } = viewOf(
            banned.map(() => [0, Infinity] as const),
            banned,
          );
          const turns = rotationAfter(queue, HEIGHT, 100, true, view);
          const able = (skipped: number) => minerAfter(turns, skipped);
          const found = new Set<number>();
          for (let s = from; s < from + 2 * queue.length; s++) found.add(able(s)?.[0] ?? -1);
          // Within two times the length of the queue everybody has had a turn, at the latest.
          found.delete(-1);
          return from < queue.length && banned.some((is) => !is)
            ? found.size >= 1
            : found.size === queue.length;
        },
      ),
      { numRuns: 500 },
    );
  },
);
