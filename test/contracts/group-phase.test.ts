// Which atomic transaction with contracts is executed next.
import t from 'tap';
import { createGroupPhase, GROUPS_OF_ONE_SHARE } from '../../src/contracts/group-phase.ts';
import { createGroupTurns } from '../../src/contracts/group-turns.ts';
import type { PoolEntry } from '../../src/mempool/entries/entry.ts';
import { fakeClock } from '../node/fake-clock.ts';

const PART_MS = 1_000;

interface Round {
  /** The time that each run takes. */
  readonly ms?: number | ((entry: PoolEntry) => number);
  readonly failing?: (entry: PoolEntry) => boolean;
  /** Of the contracts of a transaction. */
  readonly creators?: (entry: PoolEntry) => readonly string[];
  readonly maySign?: (ran: readonly string[]) => boolean;
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
    const ran: string[] = [];
    const phase = createGroupPhase(entries, clock.now() + PART_MS, {
      clock,
      async runGroup(entry) {
        ran.push(entry.key);
        turns.began(entry.sender);
        await clock.advance(typeof ms === 'number' ? ms : ms(entry));
        if (failing(entry)) {
          failed.add(entry.key);
          turns.failed(entry.sender, creators(entry)[0]);
        } else turns.succeeded(entry.sender, creators(entry));
      },
      maySign: () => maySign(ran),
      isDue: () => true,
      hasFailed: ({ key }) => failed.has(key),
      yields: (entry) => turns.isFailing(entry.sender, () => creators(entry)),
      lastTurnOf: turns.lastOf,
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
  'a sender whose last one has failed gives way with new ones, until one succeeds',
  async (t) => {
    const run = rounds();
    const failing = ({ sender }: PoolEntry): boolean => sender === 'a';
    t.strictSame(await run(entriesOf('a1', 'a2', 'b1', 'b2'), { failing }), [
      'a1',
      'b1',
      'b2',
      'a2',
    ]);
    t.strictSame(await run(entriesOf('a3', 'b3', 'b4')), ['b3', 'b4', 'a3']);
    t.strictSame(await run(entriesOf('b5', 'a4', 'b6')), ['b5', 'a4', 'b6']);
  },
);

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

t.test('new accounts with the contracts of a creator whose last one has failed', async (t) => {
  const run = rounds();
  const creators = ({ sender }: PoolEntry): readonly string[] => [
    ['h', 'n'].includes(sender) ? 'good' : 'bad',
  ];
  const failing = (entry: PoolEntry): boolean => creators(entry)[0] === 'bad';
  const round = { ms: PART_MS, creators, failing };
  t.strictSame(await run(entriesOf('h1'), round), ['h1']);
  t.strictSame(await run(entriesOf('a1', 'h2'), round), ['a1'], 'nothing is known of it yet');
  for (const fresh of ['b1', 'c1', 'd1']) {
    const ran = await run(entriesOf(fresh, `h-${fresh}`), round);
    t.strictSame(ran, [`h-${fresh}`], 'they do not come first');
  }
  t.strictSame(await run(entriesOf('e1', 'n1'), round), ['n1'], 'as others without a turn do');
  const good = { ...round, failing: () => false };
  t.strictSame(await run(entriesOf('f1'), good), ['f1'], 'until one is in a block');
  t.strictSame(await run(entriesOf('g1', 'h3'), good), ['g1']);
});
