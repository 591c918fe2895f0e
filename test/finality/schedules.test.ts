// The schedules of finality.md#why, played with real voters: each rule taken out alone lets one through.
import t from 'tap';
import type { Rules } from '../../src/finality/rules.ts';
import { setOf } from './network/toy-chain.ts';
import { Schedule } from './schedule.ts';

const four = setOf(1, 2, 3, 4);
const others = setOf(1, 5, 6, 7);

type Play = (changed?: Partial<Rules>) => Promise<Schedule>;

const twoTargets: Play = async (changed) => {
  const s = new Schedule(four, [1], changed);
  const [a, b] = [s.block(s.root), s.block(s.root)];
  await s.head(a, 2, 3);
  await s.head(b, 2, 3);
  return s;
};

const lowerSource: Play = async (changed) => {
  const s = new Schedule(four, [1], changed);
  const [a2, b2] = [s.block(s.root), s.block(s.root)];
  await s.head(a2, 2, 3);
  const a3 = s.block(a2, { carried: a2 });
  const b3 = s.block(b2);
  await s.head(a3, 2, 3);
  t.equal(s.checks.finalHeight, 2);
  const b4 = s.block(b3);
  await s.head(b4, 2, 4);
  const b5 = s.block(b4, { carried: b4 });
  await s.head(b5, 2, 4);
  return s;
};

const newSetAlone: Play = async (changed) => {
  const s = new Schedule(four, [], changed);
  const [a2, b2] = [s.block(s.root), s.block(s.root, { entitled: others })];
  await s.head(s.block(a2), 2, 3, 4);
  await s.head(s.block(b2), 5, 6, 7);
  return s;
};

const oldSetAlone: Play = async (changed) => {
  const s = new Schedule(four, [], changed);
  const b2 = s.block(s.root, { entitled: others });
  await s.head(b2, 2, 3, 4);
  const b3 = s.block(b2, { carried: b2 });
  await s.head(b3, 2, 3, 4);
  const b4 = s.block(b3, { carried: b3 });
  const a4 = s.block(b3);
  await s.head(s.block(a4), 2, 3, 4);
  await s.head(s.block(b4), 5, 6, 7);
  return s;
};

const forgetfulVoter: Play = async (changed) => {
  const s = new Schedule(four, [1], changed);
  const [a, b] = [s.block(s.root), s.block(s.root)];
  await s.head(a, 2, 3);
  s.forget(2, 1);
  await s.head(b, 2, 4);
  return s;
};

/** The final block is older than the loss. */
const oldFinal: Play = async (changed) => {
  const s = new Schedule(four, [1], changed);
  const a2 = s.block(s.root);
  await s.head(a2, 2, 3);
  const a3 = s.block(a2, { carried: a2 });
  await s.head(a3, 2, 3);
  const [a4, b4] = [s.block(a3, { carried: a3 }), s.block(a3, { carried: a3 })];
  await s.head(a4, 2, 3);
  s.forget(2, 2);
  await s.head(b4, 2, 4);
  return s;
};

const schedules: readonly (readonly [string, Play, Partial<Rules>, string])[] = [
  [
    'the lock of the target',
    twoTargets,
    { mayVote: (last, next) => next.source >= last.source },
    'two justified',
  ],
  [
    'the lock of the source',
    lowerSource,
    { mayVote: (last, next) => next.target > last.target },
    'two final',
  ],
  [
    'the quorum of the old set',
    newSetAlone,
    { decidingSets: ({ current, next }) => [next?.voters ?? current] },
    'two justified',
  ],
  [
    'the quorum of the new set',
    oldSetAlone,
    { decidingSets: ({ current }) => [current] },
    'two justified',
  ],
  [
    'the rule of lost notes',
    forgetfulVoter,
    { noteAfterLoss: () => ({ source: 0, target: 0 }) },
    'two justified',
  ],
  [
    'the age of the final block in it',
    oldFinal,
    { noteAfterLoss: (_, final) => ({ source: final, target: final + 1 }) },
    'two justified',
  ],
];

for (const [rule, play, changed, problem] of schedules) {
  t.test(`${rule} stops a schedule, and nothing else does`, async (t) => {
    t.strictSame((await play()).problems(), []);
    t.strictSame((await play(changed)).problems(), [problem]);
  });
}
