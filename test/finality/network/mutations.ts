/** Rules that are left out or simpler, and what goes wrong then. */
import type { Rules } from '../../../src/finality/rules.ts';
import { rules } from '../../../src/finality/rules.ts';
import type { Kind } from './checks.ts';
import type { SeedOptions } from './seeds.ts';

export interface NetworkMutation {
  readonly name: string;
  readonly changed: Partial<Rules>;
  /** What shows it; contradictions of a voter alone would be no harm. */
  readonly kinds: readonly Kind[];
  readonly options: SeedOptions;
}

const SAFETY: readonly Kind[] = ['two final', 'two justified'];

export const mutations: readonly NetworkMutation[] = [
  {
    name: 'no lock of the target',
    changed: { mayVote: (last, next) => next.source >= last.source },
    kinds: SAFETY,
    options: { isWild: true, kind: 1 },
  },
  {
    name: 'no lock of the source',
    changed: { mayVote: (last, next) => next.target > last.target },
    kinds: SAFETY,
    options: { isWild: true, kind: 1 },
  },
  {
    name: 'the new set alone decides during a change',
    changed: { decidingSets: ({ current, next }) => [next?.voters ?? current] },
    kinds: SAFETY,
    options: { isWild: true, kind: 4 },
  },
  {
    name: 'the old set alone decides during a change',
    changed: { decidingSets: ({ current }) => [current] },
    kinds: SAFETY,
    options: { isWild: true, kind: 4 },
  },
  {
    name: 'nobody waits',
    changed: { mayMakeBlock: () => true },
    kinds: ['two sides ahead'],
    options: { isWild: false, kind: 0 },
  },
  {
    name: 'no block above final + R',
    changed: { mayMakeBlock: (made) => made.height <= made.final + made.maxRollback },
    kinds: ['standstill'],
    options: { isWild: false, kind: 0 },
  },
  {
    name: 'above final + R it is enough that a quorum has voted',
    changed: { mayMakeBlock: (made) => rules.mayMakeBlock({ ...made, isQuorumConnected: true }) },
    kinds: ['two sides ahead'],
    options: { isWild: false, kind: 0 },
  },
  {
    name: 'a new justification is no reason for a block',
    changed: {
      mayMakeBlock: (made) => rules.mayMakeBlock({ ...made, carriesJustification: false }),
    },
    kinds: ['standstill'],
    options: { isWild: false, kind: 1 },
  },
  {
    name: 'a voter without a note votes at once',
    changed: { noteAfterLoss: () => ({ source: 0, target: 0 }) },
    kinds: SAFETY,
    options: { isWild: true, kind: 1 },
  },
];
