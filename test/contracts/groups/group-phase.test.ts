// Which atomic transaction with contracts is executed next.
import t from 'tap';
import {
  createGroupPhase,
  DEBT_STEP_MS,
  GROUPS_OF_ONE_SHARE,
  WASTED_SHARE,
} from '../../../src/contracts/groups/group-phase.ts';
import {
  createGroupTurns,
  GroupWaste,
  HALF_LIFE,
  QUICK_MS,
} from '../../../src/contracts/groups/group-turns.ts';
import type { PoolEntry } from '../../../src/mempool/entries/entry.ts';
import { fakeClock } from '../../node/fake-clock.ts';

const PART_MS = 1_000;

interface Round {
  /** The time that each run takes. */
  readonly ms?: number | ((entry: PoolEntry) => number);
  readonly failing?: (entry: PoolEntry) => boolean;
  /** Of the contracts of a transaction. */
  readonly creators?: (entry: PoolEntry) => readonly string[];
  readonly maySign?: (ran: readonly string[]) => boolean;
  readonly before?: (entry: PoolEntry) => PoolEntry | undefined;
}

const entryOf = (key: string): PoolEntry => ({ key, sender: key[0]! }) as PoolEntry;

const entriesOf = (...keys: readonly string[]): PoolEntry[] => keys.map(entryOf);

function rounds() {
  const clock = fakeClock(0);
  const turns = createGroupTurns();
  const failed = new Set<string>();
  /** The keys of what is executed, in order. */
  return async (entries: readonly PoolEntry[], round: Round = {}): Promise<readonly string[]> => {
    const { ms = 1, failing = () => false, creators = () => [], maySign = () => true } = round;
    const { before = () => undefined } = round;
    const ran: string[] = [];
    turns.roundBegan();
    const phase = createGroupPhase(entries, clock.now() + PART_MS, {
      clock,
      async runGroup(entry) {
        ran.push(entry.key);
        turns.began(entry.sender);
        const took = typeof ms === 'number' ? ms : ms(entry);
        await clock.advance(took);
        if (!failing(entry)) return turns.added(entry.sender);
        failed.add(entry.key);
        const waste = new GroupWaste();
        for (const owner of creators(entry)) waste.took({ owner }, took);
        turns.wasted(entry.sender, took, waste.byCreator);
      },
      maySign: () => maySign(ran),
      isDue: () => true,
      before,
      hasFailed: ({ key }) => failed.has(key),
      debtOf: (entry) =>
        Math.max(turns.debtOf(entry.sender), ...creators(entry).map(turns.debtOfCreator)),
      lastTurnOf: turns.lastOf,
      wastedMs: turns.wastedMs,
      isProven: turns.isProven,
    });
    await phase.run();
    return ran;
  };
}

t.test('senders take turns, also from round to round', async (t) => {
  const run = rounds();
  const ran = await run(entriesOf('a1', 'a2', 'a3', 'b1', 'c1', 'c2'));
  t.strictSame(ran, ['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  // Each round has time for one.
  const one = { ms: PART_MS };
  const next = entriesOf('a4', 'a5', 'b2', 'c3');
  t.strictSame(await run(next, one), ['b2']);
  t.strictSame(await run(entriesOf('a4', 'a5', 'b3', 'c3'), one), ['c3']);
  t.strictSame(await run(entriesOf('a4', 'a5', 'b3', 'c4'), one), ['a4']);
  t.strictSame(await run(entriesOf('a5', 'b3', 'c4'), one), ['b3']);
});

t.test(
  'a sender that has wasted time gives way with new ones, until it is forgotten',
  async (t) => {
    const run = rounds();
    const failing = ({ sender }: PoolEntry): boolean => sender === 'a';
    const slow = (entry: PoolEntry): number => (failing(entry) ? 2 * DEBT_STEP_MS : 1);
    const first = await run(entriesOf('a1', 'a2', 'b1', 'b2'), { failing, ms: slow });
    t.strictSame(first, ['a1', 'b1', 'b2', 'a2']);
    t.strictSame(await run(entriesOf('a3', 'b3', 'b4')), ['b3', 'b4', 'a3']);
    t.strictSame(
      await run(entriesOf('b5', 'a4', 'b6')),
      ['b5', 'b6', 'a4'],
      'in spite of a success',
    );
    // Less than a step is left of it.
    for (let i = 0; i < 3 * HALF_LIFE; i++) await run([]);
    t.strictSame(await run(entriesOf('b7', 'a5', 'b8')), ['b7', 'a5', 'b8']);
  },
);

t.test('who owes less comes first, and trifles do not count', async (t) => {
  const run = rounds();
  const ms = ({ sender }: PoolEntry): number =>
    ({ a: 3 * DEBT_STEP_MS, b: 2 * DEBT_STEP_MS, c: DEBT_STEP_MS / 2 })[sender] ?? 1;
  await run(entriesOf('a1', 'b1', 'c1'), { ms, failing: () => true });
  await run(entriesOf('d1'));
  t.strictSame(await run(entriesOf('a2', 'b2', 'd2', 'c2')), ['c2', 'd2', 'b2', 'a2']);
});

t.test('a sender that has used its share waits for all others', async (t) => {
  const run = rounds();
  const share = PART_MS / GROUPS_OF_ONE_SHARE;
  const slow = ({ sender }: PoolEntry): number => (sender === 'a' ? share : 1);
  const ran = await run(entriesOf('a1', 'a2', 'a3', 'b1', 'b2', 'b3'), { ms: slow });
  t.strictSame(ran, ['a1', 'b1', 'b2', 'b3', 'a2', 'a3'], 'and then takes what is left');
});

t.test('a miner that may no longer sign executes no more of them', async (t) => {
  const maySign = (ran: readonly string[]): boolean => ran.length < 2;
  t.strictSame(await rounds()(entriesOf('a1', 'b1', 'c1'), { maySign }), ['a1', 'b1']);
});

t.test('of one sender, what has not failed comes first', async (t) => {
  const run = rounds();
  // Each round has time for one.
  const one = { ms: PART_MS };
  t.strictSame(await run(entriesOf('a1', 'a2'), { ...one, failing: () => true }), ['a1']);
  t.strictSame(await run(entriesOf('a1', 'a2'), one), ['a2']);
  t.strictSame(await run(entriesOf('a1'), one), ['a1']);
});

t.test('new and known accounts with slow contracts of a creator', async (t) => {
  const run = rounds();
  const creators = ({ sender }: PoolEntry): readonly string[] => [
    ['h', 'n'].includes(sender) ? 'good' : 'bad',
  ];
  const failing = (entry: PoolEntry): boolean => creators(entry)[0] === 'bad';
  const round = { ms: PART_MS, creators, failing };
  const good = { creators };
  t.strictSame(await run(entriesOf('h1', 'b1', 'c1', 'd1'), good), ['h1', 'b1', 'c1', 'd1']);
  t.strictSame(await run(entriesOf('a1'), round), ['a1'], 'nothing is known of it yet');
  for (const sender of ['b', 'c', 'x', 'y']) {
    await run(entriesOf('z1'), good);
    const ran = await run(entriesOf(`${sender}2`, `h-${sender}`), round);
    t.strictSame(ran, [`h-${sender}`], 'a success of its contracts clears nothing');
  }
  t.strictSame(await run(entriesOf('e1', 'n1'), round), ['n1'], 'as others without a turn do');
});

t.test('new accounts come behind all that wait, in each round', async (t) => {
  const run = rounds();
  // Each part has time for three.
  const round = { ms: PART_MS / 3, failing: ({ sender }: PoolEntry) => sender !== 'n' };
  const waiting = entriesOf('d1', 'n1');
  t.strictSame(await run([...entriesOf('a1', 'b1', 'c1'), ...waiting], round), ['a1', 'b1', 'c1']);
  const ran = await run([...entriesOf('e1', 'f1', 'g1'), ...waiting], round);
  t.strictSame(ran.slice(0, 2), ['d1', 'n1']);
});

t.test('many accounts that waste little each', async (t) => {
  const run = rounds();
  const accounts = Array.from({ length: 50 }, (_, i) => String.fromCharCode(0x400 + i));
  const of = (from: number, turn: number): PoolEntry[] =>
    accounts.slice(from, from + 25).map((account) => entryOf(`${account}${turn}`));
  const failing = ({ sender }: PoolEntry): boolean => sender !== 'h';
  const round = { ms: 40, failing };
  await run([...of(0, 1), ...of(25, 1)], { ms: 1, failing });
  t.strictSame(await run(entriesOf('h1')), ['h1']);
  const ran = await run([...of(0, 2), ...entriesOf('h2')], round);
  t.equal(ran.indexOf('h2'), Math.ceil(PART_MS / WASTED_SHARE / 40), 'they have had their share');
  const next = await run([...of(25, 2), ...entriesOf('h3')], round);
  t.equal(next[0], 'h3', 'also of the part before: it may need the whole part');
  t.ok(next.length > 20, 'then they take what is left');
  await run([]);
  await run([]);
  const later = await run([...of(0, 3), ...entriesOf('h4')], { ms: 1, failing });
  t.equal(later.at(-1), 'h4', 'it is forgotten');
});

t.test('a creator answers for no quick calls of others', async (t) => {
  const run = rounds();
  const creators = (): readonly string[] => ['good'];
  const failing = { creators, failing: () => true, ms: QUICK_MS };
  await run(entriesOf('a1', 'b1', 'c1', 'd1', 'e1'), failing);
  t.strictSame(await run(entriesOf('n1', 'x1'), { creators: entryCreators }), ['n1', 'x1']);
  const slow = { ...failing, ms: QUICK_MS + 2 * DEBT_STEP_MS };
  await run(entriesOf('f1'), slow);
  t.strictSame(await run(entriesOf('o1', 'y1'), { creators: entryCreators }), ['y1', 'o1']);
});

/** The contracts of x and y have another creator. */
const entryCreators = ({ sender }: PoolEntry): readonly string[] => [
  ['x', 'y'].includes(sender) ? 'other' : 'good',
];

t.test('what has to come first takes the turn of those behind it', async (t) => {
  const run = rounds();
  const failing = { failing: () => true, ms: 2 * DEBT_STEP_MS };
  t.strictSame(await run(entriesOf('d1'), failing), ['d1']);
  const [debtor, second, third, other] = entriesOf('d2', 'a1', 'a2', 'b1') as [
    PoolEntry,
    PoolEntry,
    PoolEntry,
    PoolEntry,
  ];
  const over = new Set<PoolEntry>();
  const chain = [debtor, second, third];
  const before = (entry: PoolEntry): PoolEntry | undefined => {
    const first = chain[chain.indexOf(entry) - 1];
    return first === undefined || over.has(first) ? undefined : first;
  };
  const ms = (entry: PoolEntry): number => {
    over.add(entry);
    return 1;
  };
  const ran = await run([third, second, other, debtor], { before, ms });
  t.strictSame(ran, ['b1', 'd2', 'a1', 'a2'], 'a debt holds up nobody else');
  over.clear();
  // It waits for its container, so that those behind it wait as well.
  const stays = await run([third, debtor, second, other], { before });
  t.strictSame([...stays].sort(), ['b1', 'd2']);
});

t.test('what stands behind one that has left the pool goes on', async (t) => {
  const run = rounds();
  const [gone, next] = entriesOf('a1', 'b1') as [PoolEntry, PoolEntry];
  let asked = 0;
  const before = (entry: PoolEntry): PoolEntry | undefined => {
    if (entry !== next || asked++ > 0) return undefined;
    gone.removed = true;
    return gone;
  };
  t.strictSame(await run([next, gone], { before }), ['b1']);
});
