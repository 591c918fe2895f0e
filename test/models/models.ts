/** The models of finality (finality.md#models), in their full and their short form. */
import { branches, type World } from './branches.ts';
import { bit, type Voters } from './chain.ts';
import { rules } from './rules.ts';
import { type Findings, search } from './search.ts';
import { type Network, sides } from './sides.ts';

export const voters = (...names: number[]): Voters => names.reduce((all, n) => all | bit(n), 0);

const four = voters(1, 2, 3, 4);
/** Shares only voter 1 with the first four: two sets with hardly anything in common. */
const others = voters(1, 5, 6, 7);
const seven = voters(1, 2, 3, 4, 5, 6, 7);

export const fixed: World = {
  rules,
  heights: 0,
  sets: [four],
  liars: voters(1),
  canForget: false,
  mustLive: false,
};
export const toOthers: World = { ...fixed, sets: [four, others], liars: 0 };
export const toSeven: World = { ...fixed, sets: [four, seven], liars: 0 };
const inARow: World = { ...fixed, sets: [four, others, seven], liars: 0 };
export const live: World = { ...fixed, mustLive: true };
export const toNobody: World = { ...live, sets: [voters(1), 0], liars: 0 };
export const forgetful: World = { ...fixed, canForget: true };
export const parted: Network = { rules, heights: 0, maxRollback: 2, members: four, liars: 0 };

export interface ModelEntry {
  readonly name: string;
  /** Greatest height in the full form, and in the short one; none where it is left out there. */
  readonly heights: readonly [full: number, short: number | undefined];
  run(heights: number): Findings;
}

const onBranches = (name: string, world: World, ...heights: ModelEntry['heights']): ModelEntry => ({
  name,
  heights,
  run: (most) => search(branches({ ...world, heights: most })),
});
const onSides = (
  name: string,
  network: Network,
  ...heights: ModelEntry['heights']
): ModelEntry => ({
  name,
  heights,
  run: (most) => search(sides({ ...network, heights: most })),
});

export const models: readonly ModelEntry[] = [
  onBranches('A: four voters, one liar', fixed, 7, 5),
  onBranches('B: four voters, then four of which three are new', toOthers, 6, 4),
  onBranches('… the common one lies', { ...toOthers, liars: voters(1) }, 6, 4),
  onBranches('… an old one lies', { ...toOthers, liars: voters(2) }, 5, undefined),
  onBranches('… a new one lies', { ...toOthers, liars: voters(5) }, 5, undefined),
  onBranches('B: four voters, then seven', toSeven, 6, 4),
  onBranches('… an old one lies', { ...toSeven, liars: voters(1) }, 5, undefined),
  onBranches('B: any of these three sets, in a row', inARow, 5, 3),
  onBranches('… the one in all sets lies', { ...inARow, liars: voters(1) }, 5, undefined),
  onBranches('C: A with a liar that falls silent', live, 6, 4),
  onBranches('C: B, four of which three are new', { ...live, sets: [four, others] }, 4, 3),
  onBranches('C: B, seven', { ...live, sets: [four, seven] }, 4, undefined),
  onBranches('C: one voter, whom a block may leave without a right', toNobody, 6, 4),
  onBranches('D: A with voters that lose their notes', forgetful, 8, 5),
  onSides('E: four voters on two sides', parted, 7, 5),
  onSides('… one of them a liar that talks to both', { ...parted, liars: voters(1) }, 7, 5),
];
