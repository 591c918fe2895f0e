// Which turns a block may carry, and that nobody is marked for those (consensus.md#turn-claims).
import t from 'tap';
import { LOST_TURNS_MAX, type LostTurn } from '../../src/block/turn-claims.ts';
import { filled } from '../block/sample.ts';
import { address, createNetwork, G, poaSettings, publicKey, R } from './network.ts';

/** The turn of this account in a round. */
const turn = (miner: number, round: number, offset = 0): LostTurn => ({
  timestamp: G + round * R + offset,
  reference: filled(64, 1),
  generator: publicKey(miner),
  signature: filled(64, 2),
});

/** Five miners after two rounds, each of which has its block. */
function network(settings: Partial<typeof poaSettings> = {}) {
  const at = createNetwork([0, 1, 2, 3, 4], settings);
  at.run(1, 2);
  /** Who has the turn in this round, where no other block is made before. */
  const due = (round: number): number => {
    for (const miner of at.queue) {
      const minerIdentity = { address: address(miner), publicKey: publicKey(miner) };
      const slot = at.poa.nextSlot(at.parent, minerIdentity, G + round * R, at.view);
      if (slot?.from === G + round * R) return miner;
    }
    throw new Error('somebody has the turn');
  };
  const block = (round: number, lost: readonly LostTurn[]) => {
    const miner = due(round);
    const plain = at.block(miner, G + round * R);
    const skippedRounds = plain.consensus.kind === 'poa' ? plain.consensus.skippedRounds : 0;
    const claims = { own: filled(64, 3), lost };
    return { ...plain, consensus: { kind: 'poa' as const, skippedRounds, claims } };
  };
  const refused = (round: number, lost: readonly LostTurn[]): string => {
    try {
      at.poa.verify(block(round, lost), at.parent, at.view);
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };
  const marked = (round: number, lost: readonly LostTurn[]): number[] =>
    at.poa
      .finish(block(round, lost), at.parent, at.view)
      .filter(({ history }) => (history?.warnings.length ?? 0) > 0)
      .map((change) => at.queue.find((miner) => `${address(miner)}` === `${change.address}`)!)
      .sort();
  return { at, due, refused, marked };
}

t.test(
  'the turn of a skipped round clears the mark of its miner, and of nobody else',
  async (t) => {
    const { due, refused, marked } = network();
    const [third, fourth] = [due(3), due(4)];
    t.strictSame(marked(5, []), [third, fourth].sort());
    t.equal(refused(5, []), '');
    t.equal(refused(5, [turn(third, 3)]), '');
    t.strictSame(marked(5, [turn(third, 3)]), [fourth]);
    t.equal(refused(5, [turn(third, 3, 5), turn(fourth, 4)]), '');
    t.strictSame(marked(5, [turn(third, 3), turn(fourth, 4)]), []);
  },
);

t.test('a claim counts only for a miner that delivers blocks', async (t) => {
  // Bans pass at once, so that the miner without blocks has its turns.
  const { at, due, refused } = network({ banDurationBlocks: 1 });
  const silent = due(3);
  const window = at.queue.length * poaSettings.warningsForBan;
  const verdicts = new Set<string>();
  /** In each of its turns, while only the others make blocks. */
  function miss(from: number, upTo: number, lastBlock: number | undefined): number {
    let round = from;
    for (; at.height < upTo; round++) {
      if (due(round) === silent) {
        const isNew = at.height <= window;
        const isRecent = lastBlock !== undefined && lastBlock > at.height - window;
        const lost = [turn(silent, round)];
        const found = at.poa.clearing(lost, at.parent, G + (round + 1) * R, at.view);
        t.equal(found.length, isNew || isRecent ? 1 : 0, `height ${at.height}`);
        t.match(refused(round + 1, lost), found.length > 0 ? /^$/ : /that nobody has missed/);
        verdicts.add(`${isNew} ${isRecent}`);
      }
      at.run(round, round, (miner) => miner === silent);
    }
    return round;
  }
  let round = miss(3, 2 * window, undefined);
  while (due(round) !== silent) {
    at.run(round, round, (miner) => miner === silent);
    round += 1;
  }
  at.run(round, round);
  round = miss(round + 1, at.height + 2 * window, at.height);
  for (; due(round) !== silent; round++) at.run(round, round, (miner) => miner === silent);
  for (const [last, count] of [
    [at.height - window, 0],
    [at.height - window + 1, 1],
  ] as const) {
    const view = { ...at.view, lastBlockBy: () => last };
    const found = at.poa.clearing([turn(silent, round)], at.parent, G + (round + 1) * R, view);
    t.equal(found.length, count, 'the last block that counts');
  }
  t.strictSame([...verdicts].sort(), ['false false', 'false true', 'true false']);
});

t.test('claims that clear nothing are refused', async (t) => {
  const { at, due, refused } = network();
  const [third, fourth, fifth] = [due(3), due(4), due(5)];
  const nobody = /claims turns that nobody has missed/;
  t.match(refused(5, [turn(fourth, 3)]), nobody, 'the turn of another miner');
  t.match(refused(5, [turn(fifth, 5)]), nobody, 'of its own round');
  t.match(refused(5, [turn(third, 2)]), nobody, 'of the round of the parent');
  t.match(refused(5, [turn(third, 3), turn(third, 3, 1)]), nobody, 'twice');
  t.match(refused(5, [turn(fourth, 4), turn(third, 3)]), nobody, 'not ascending');
  t.match(refused(5, [turn(third, 3, R - 1)]), nobody, 'after the sync start');
  t.match(refused(3, []), /claims a turn, but no round was skipped/);
  const far = 3 + 2 * LOST_TURNS_MAX;
  const many = Array.from({ length: LOST_TURNS_MAX + 1 }, (_, i) => turn(due(3 + i), 3 + i));
  t.match(refused(far, many), nobody, 'more than a block may carry');
  t.equal(refused(far, many.slice(0, LOST_TURNS_MAX)), '');
  t.strictSame(
    at.poa.clearing(
      [turn(fourth, 4), turn(fifth, 9), turn(third, 3)],
      at.parent,
      G + 5 * R,
      at.view,
    ),
    [turn(third, 3), turn(fourth, 4)],
    'a maker carries those that clear something',
  );
});
