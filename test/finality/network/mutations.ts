/**
 * Rules that are simpler, each with a seed in which it goes wrong, and the rule itself does not. The lock of the source and
 * the quorum of the new set need rarer orders: test/finality/schedules.test.ts plays them.
 */
import { type Rules, rules } from '../../../src/finality/rules.ts';
import type { Kind } from './checks.ts';
import type { SeedOptions } from './seeds.ts';

export interface Mutation {
  readonly name: string;
  readonly changed: Partial<Rules>;
  readonly kind: Kind;
  readonly seed: number;
  readonly options: SeedOptions;
}

const FOUR = { isWild: false, kind: 0 };
const ONE_LIES = { isWild: true, kind: 1 };
const TO_OTHERS_ONE_LIES = { isWild: true, kind: 5 };

export const mutations: readonly Mutation[] = [
  {
    name: 'nobody waits',
    changed: { mayMakeBlock: () => true },
    kind: 'two sides ahead',
    seed: 2,
    options: FOUR,
  },
  {
    name: 'a quorum that has voted need not be connected',
    changed: {
      mayMakeBlock: (made) => rules.mayMakeBlock({ ...made, isQuorumConnected: true }),
    },
    kind: 'two sides ahead',
    seed: 8,
    options: FOUR,
  },
  {
    name: 'no block above final + R',
    changed: { mayMakeBlock: (made) => made.height <= made.final + made.maxRollback },
    kind: 'standstill',
    seed: 1,
    options: FOUR,
  },
  {
    name: 'a voter votes twice at a height',
    changed: { mayVote: (last, next) => next.source >= last.source },
    kind: 'two justified',
    seed: 2,
    options: ONE_LIES,
  },
  {
    name: 'the new set decides alone',
    changed: { decidingSets: ({ current, next }) => [next?.voters ?? current] },
    kind: 'two justified',
    seed: 5,
    options: TO_OTHERS_ONE_LIES,
  },
  {
    name: 'a voter without its note votes at once',
    changed: { noteAfterLoss: () => ({ source: 0, target: 0 }) },
    kind: 'two justified',
    seed: 79,
    options: ONE_LIES,
  },
  {
    name: 'any final block makes up for a lost note',
    changed: { noteAfterLoss: (_, final) => ({ source: final, target: final + 1 }) },
    kind: 'two justified',
    seed: 79,
    options: ONE_LIES,
  },
];
