/** What each rule is for: without it, or with a simpler one, a model finds a schedule (finality.md#why). */
import { branches, type World } from './branches.ts';
import { fixed, forgetful, live, parted, toNobody, toOthers, toSeven, voters } from './models.ts';
import { type Rules, rules } from './rules.ts';
import { type Findings, search } from './search.ts';
import { type Network, sides } from './sides.ts';

export interface Mutation {
  readonly name: string;
  readonly model: string;
  run(): Findings;
}

function onBranches(
  model: string,
  name: string,
  world: World,
  heights: number,
  changed: Partial<Rules>,
): Mutation {
  const run = (): Findings =>
    search(branches({ ...world, heights, rules: { ...rules, ...changed } }));
  return { model, name, run };
}

function onSides(name: string, network: Network, mayMakeBlock: Rules['mayMakeBlock']): Mutation {
  const run = (): Findings =>
    search(sides({ ...network, heights: 7, rules: { ...rules, mayMakeBlock } }));
  return { model: 'E', name, run };
}

export const mutations: readonly Mutation[] = [
  onBranches('A', 'no lock of the target', fixed, 2, {
    mayVote: (last, next) => next.source >= last.source,
  }),
  onBranches('A', 'no lock of the source', fixed, 3, {
    mayVote: (last, next) => next.target > last.target,
  }),
  onBranches('A', 'the root is the block at the height of activation', fixed, 3, {
    hasOwnRoots: true,
  }),
  onBranches('B', 'the new set alone decides during a change', toOthers, 3, {
    decidingSets: ({ current, next }) => [next?.voters ?? current],
  }),
  onBranches('B', 'the old set alone decides during a change', toOthers, 4, {
    decidingSets: ({ current }) => [current],
  }),
  onBranches('B', 'a change is given up where roles are as before', toOthers, 4, {
    setsAfter(sets, block, isSame) {
      const isUndone = sets.next !== undefined && isSame(block.entitled, sets.current);
      return isUndone ? { ...sets, next: undefined } : rules.setsAfter(sets, block, isSame);
    },
  }),
  onBranches('B', 'a final block below the change completes it', toOthers, 3, {
    setsAfter: ({ next, ...sets }, block, isSame) =>
      rules.setsAfter({ ...sets, next: next && { ...next, since: 0 } }, block, isSame),
  }),
  onBranches('C', 'a change to nobody begins', toNobody, 3, {
    changesTo: (_, entitled) => entitled,
  }),
  onBranches('B', 'checkpoints are farther apart where there are more voters', toSeven, 5, {
    spacing: (count) => Math.ceil(count / 4),
  }),
  onBranches('C', 'the source is what the voter itself knows to be justified', live, 3, {
    hasLocalSources: true,
  }),
  onBranches('D', 'a voter without a note votes at once', forgetful, 3, {
    noteAfterLoss: () => ({ source: 0, target: 0 }),
  }),
  onBranches('D', '… or after a final block that is older than the loss', forgetful, 4, {
    noteAfterLoss: (_, final) => (final > 0 ? { source: final, target: final + 1 } : undefined),
  }),
  onSides(
    'no block above final + R',
    parted,
    (made) => made.height <= made.final + made.maxRollback,
  ),
  onSides(
    'R more where a quorum is connected, and none above final + 2R',
    parted,
    (made) =>
      made.height <= made.final + made.maxRollback ||
      (made.height <= made.final + 2 * made.maxRollback && made.isQuorumConnected),
  ),
  onSides(
    '… and has voted, and none above final + 2R',
    parted,
    (made) => rules.mayMakeBlock(made) && made.height <= made.final + 2 * made.maxRollback,
  ),
  onSides('above final + R it is enough that a quorum is connected', parted, (made) =>
    rules.mayMakeBlock({ ...made, hasQuorumVoted: true }),
  ),
  onSides('… or that a quorum has voted', parted, (made) =>
    rules.mayMakeBlock({ ...made, isQuorumConnected: true }),
  ),
  onSides('… a new justification is no reason', { ...parted, liars: voters(1) }, (made) =>
    rules.mayMakeBlock({ ...made, carriesJustification: false }),
  ),
];
