/** Rules of waiting that are simpler, each with a seed in which it goes wrong. */
import { type Rules, rules } from '../../../src/finality/rules.ts';
import type { Kind } from './checks.ts';

export interface WaitingMutation {
  readonly name: string;
  readonly mayMakeBlock: Rules['mayMakeBlock'];
  readonly kind: Kind;
  readonly seed: number;
}

export const mutations: readonly WaitingMutation[] = [
  { name: 'nobody waits', mayMakeBlock: () => true, kind: 'two sides ahead', seed: 2 },
  {
    name: 'a quorum that has voted need not be connected',
    mayMakeBlock: (made) => rules.mayMakeBlock({ ...made, isQuorumConnected: true }),
    kind: 'two sides ahead',
    seed: 8,
  },
  {
    name: 'no block above final + R',
    mayMakeBlock: (made) => made.height <= made.final + made.maxRollback,
    kind: 'standstill',
    seed: 1,
  },
];
