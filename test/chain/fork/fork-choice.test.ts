// Reorganisation at the level of the chain: scenarios 28, 29 and 39–48 as far as they need no
// network. Two or more chains of one network share a past and then diverge.

import t, { type Test } from 'tap';
import { compare, equal } from '../../../src/base/bytes.ts';
import { decodeBlock } from '../../../src/block/block.ts';
import { LATE_DEPTH_MAX, STANDSTILL_ROUNDS } from '../../../src/chain/fork/chain-choice.ts';
import type { ForkChoice } from '../../../src/chain/fork/fork-choice.ts';
import { blockAt, findTransaction } from '../../../src/chain/store/stored-blocks.ts';
import { accountOf } from '../../../src/ledger/accounts.ts';
import { aliasOwner } from '../../../src/ledger/aliases.ts';
import { u32Key } from '../../../src/ledger/key-codecs.ts';
import { undo } from '../../../src/ledger/tables.ts';
import { unchecked } from '../../../src/tx/proof-verdicts.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { createAlias } from '../../../src/tx/types/010-create-alias.ts';
import {
  FUNDS,
  GENESIS_TIME,
  LENGTH_MS,
  mine,
  miners,
  newChain,
  nextTurn,
  payment,
  quiet,
  remade,
  scheme,
  signed,
  type TestChain,
  users,
} from '../chain-harness.ts';
import { createTestForkChoice } from '../fork-harness.ts';
import { makeBlock } from '../make-block.ts';

const [alice, bob, carol] = users;
const FEE = 1_000_000n;

interface Fork extends TestChain {
  readonly fork: ForkChoice;
  readonly rolledBack: Tx[];
  readonly errors: string[];
}

async function newFork(rollbackMax = 100): Promise<Fork> {
  const at = await newChain();
  const rolledBack: Tx[] = [];
  const errors: string[] = [];
  at.blockchain.listen({ rolledBack: (_tip, txs) => void rolledBack.push(...txs) });
  const log = { ...quiet, error: (event: string) => void errors.push(event) };
  const fork = createTestForkChoice(at, { log }, rollbackMax);
  return { ...at, fork, rolledBack, errors };
}

/** The blocks of `from` above a height, as they come over the wire. */
function branchOf(from: Fork, above: number) {
  const blocks = [];
  for (let height = above + 1; height <= from.blockchain.tip().height; height++) {
    blocks.push(decodeBlock(blockAt(from.blockchain.view, height)!.bytes, scheme));
  }
  return blocks;
}

async function adopt(at: Fork, from: Fork, above: number) {
  at.clock.time = Math.max(at.clock.time, from.clock.time);
  return at.fork.adopt(
    await Promise.all(branchOf(from, above).map((block) => at.fork.check(block))),
  );
}

/** Mines without the first `skip` turns, which makes a chain of a lower score. */
async function mineLate(at: Fork, skip: number, txs: readonly Tx[] = []) {
  const { timestamp } = at.blockchain.tip().header;
  const start = timestamp - (timestamp % LENGTH_MS) + (1 + skip) * LENGTH_MS;
  for (const miner of miners) {
    const slot = at.blockchain.nextSlot(miner, start);
    if (slot === undefined || slot.from > start + LENGTH_MS / 2) continue;
    at.clock.time = slot.from + 10;
    return makeBlock(at.blockchain, miner, at.clock.time, async (draft) => {
      for (const tx of txs) draft.add(tx, unchecked(tx));
    });
  }
  throw new Error('somebody has the turn');
}

async function sameState(t: Test, one: Fork, other: Fork) {
  t.same(one.blockchain.tip().id, other.blockchain.tip().id, 'the same tip');
  const { height } = one.blockchain.tip();
  t.same(one.blockchain.stateHash(height), other.blockchain.stateHash(height), 'the same state');
  const rows = (at: Fork) => (at.store as unknown as { dump(): { table: number }[] }).dump();
  t.same(rows(one), rows(other), 'the same rows');
}

t.test('scenarios 40 and 41: the better side wins, and a double spend is spent once', async (t) => {
  const left = await newFork();
  const right = await newFork();
  const past = await mine(left, [payment(alice, bob, 1n, left.clock.time)]);
  right.clock.time = left.clock.time;
  t.equal((await right.fork.offer(past)).kind, 'adopted');

  const all = FUNDS - 3n * FEE;
  const onlyRight = payment(bob, carol, 5n, left.clock.time);
  const spentRight = payment(alice, carol, all, left.clock.time);
  await mineLate(right, 1, [onlyRight, spentRight]);
  for (let i = 0; i < 9; i++) await mine(right);
  await mine(left, [payment(alice, bob, all, left.clock.time)]);
  for (let i = 0; i < 10; i++) await mine(left);

  const before = right.blockchain.tip();
  t.equal((await adopt(left, right, 2)).kind, 'not-better');
  t.equal((await adopt(right, left, 2)).kind, 'adopted');
  t.not(right.blockchain.tip().id, before.id);
  t.strictSame(
    right.rolledBack.map(({ id }) => id),
    [onlyRight.id, spentRight.id],
  );
  t.equal(findTransaction(right.blockchain.view, onlyRight.id), undefined);
  t.equal(accountOf(right.blockchain.view, bob.address).balance, FUNDS + 1n + all);
  await sameState(t, left, right);
});

t.test('scenario 42: a fork deeper than max-rollback is refused and reported', async (t) => {
  const left = await newFork(5);
  const right = await newFork(5);
  for (let i = 0; i < 6; i++) {
    await mine(left);
    await mineLate(right, 1);
  }
  await mine(left);
  const tip = right.blockchain.tip();
  t.equal((await adopt(right, left, 1)).kind, 'too-deep');
  t.equal(right.blockchain.tip(), tip);
  t.strictSame(right.errors, ['fork.too-deep']);
});

t.test('where votes decide, what is not final may be given up, however deep', async (t) => {
  const ROLLBACK = 5;
  const left = await newFork();
  for (let i = 0; i < 10; i++) await mine(left);
  /** `undone`: the lowest height to which undo records lead back. */
  const outcome = async (floor: number, parts: number, undone = 1) => {
    const at = await newFork();
    for (const block of branchOf(left, 1).slice(0, parts - 1)) {
      at.clock.time = left.clock.time;
      await at.fork.offer(block);
    }
    while (at.blockchain.tip().height < 10) await mineLate(at, 1);
    const finality = { floor: () => floor, lead: () => undefined, exactLead: () => undefined };
    const fork = createTestForkChoice(at, { finality }, ROLLBACK);
    const lost = Array.from({ length: undone }, (_, i) => u32Key.encode(1 + i));
    await at.store.write(lost.map((key) => ({ table: undo.id, key, value: undefined })));
    at.clock.time = Math.max(at.clock.time, left.clock.time);
    const branch = await Promise.all(branchOf(left, parts).map((block) => fork.check(block)));
    const { header } = branch[0]!.block;
    const consensus = { ...header.consensus, skippedRounds: 1_000 } as typeof header.consensus;
    const isExamined = (await fork.examine({ ...header, consensus })) !== undefined;
    const { kind } = await fork.adopt(branch);
    t.equal(isExamined, kind === 'adopted', 'a false header is seen where its branch may be taken');
    return kind;
  };
  t.equal(await outcome(0, 4), 'too-deep', 'nothing votes');
  t.equal(await outcome(3, 4), 'adopted');
  t.equal(await outcome(4, 4), 'adopted');
  t.equal(await outcome(5, 4), 'outvoted', 'the final block stays');
  t.equal(await outcome(1, 2, 2), 'adopted', 'as far as undo records lead back');
  t.equal(await outcome(1, 2, 3), 'too-deep');
  t.equal(await outcome(0, 6, 7), 'too-deep', 'without votes no farther either');
});

t.test('scenario 43: a branch with a bad block leaves no trace', async (t) => {
  const left = await newFork();
  const right = await newFork();
  for (let i = 0; i < 4; i++) await mineLate(right, 1, [payment(alice, bob, 3n, right.clock.time)]);
  for (let i = 0; i < 14; i++) await mine(left);
  const { miner, time } = nextTurn(left);
  const tooMuch = payment(alice, bob, FUNDS * 2n, time);
  const bad = remade(blockAt(left.blockchain.view, 15)!, miner, {
    timestamp: time,
    reference: left.blockchain.tip().id,
    transactions: [tooMuch.bytes],
  });
  const rows = (right.store as unknown as { dump(): unknown[] }).dump();
  right.clock.time = time;
  const branch = await Promise.all(
    [...branchOf(left, 1), bad].map((block) => right.fork.check(block)),
  );
  const verdict = await right.fork.adopt(branch);
  t.match(verdict, { kind: 'invalid', id: bad.header.signature });
  t.same((right.store as unknown as { dump(): unknown[] }).dump(), rows);
  t.ok(right.fork.invalid.has(bad.header.signature));
  t.equal((await right.fork.offer(bad)).kind, 'invalid', 'known as invalid');
  t.equal((await adopt(right, left, 1)).kind, 'adopted', 'the good part is good');
  right.clock.time += 300_001;
  t.notOk(right.fork.invalid.has(bad.header.signature), 'and is forgotten after its time');
});

t.test('a damaged copy of a good block does not shut out the good one', async (t) => {
  const left = await newFork();
  const right = await newFork();
  const good = await mine(left, [payment(alice, bob, 1n, left.clock.time)]);
  right.clock.time = left.clock.time;
  const damaged = remade(good, alice, { transactions: [] });
  const forged = decodeBlock(
    Uint8Array.from([...damaged.bytes.slice(0, -64), ...good.header.signature]),
    scheme,
  );
  t.equal((await right.fork.offer(forged)).kind, 'invalid');
  t.equal((await right.fork.offer(good)).kind, 'adopted');
  t.equal((await right.fork.offer(good)).kind, 'known', 'scenario 29');
});

t.test(
  'H-9 and scenario 28: of two blocks of one round the lower id wins everywhere',
  async (t) => {
    const left = await newFork();
    const right = await newFork();
    const one = await mine(left, [payment(alice, bob, 1n, left.clock.time)]);
    const miner = miners.find(({ publicKey }) => equal(publicKey, one.header.generator))!;
    const other = remade(one, miner, { transactions: [] });
    right.clock.time = left.clock.time;
    await right.fork.offer(other);
    const verdicts = [await left.fork.offer(other), await right.fork.offer(one)];
    t.strictSame(verdicts.map(({ kind }) => kind).sort(), ['adopted', 'not-better']);
    await sameState(t, left, right);
    for (const at of [left, right]) {
      const third = { ...one.header, signature: new Uint8Array(64) };
      t.ok(at.fork.equivocations.isThird(third), 'the pair is known');
    }
  },
);

t.test('a block that comes after its round takes no successor away', async (t) => {
  const left = await newFork();
  const right = await newFork();
  const withheld = await mine(left);
  const successor = await mineLate(right, 1);
  right.clock.time = left.clock.time + LENGTH_MS;
  t.equal((await right.fork.offer(withheld)).kind, 'late');
  t.same(right.blockchain.tip().id, successor.header.signature);
  t.notOk(right.fork.invalid.has(withheld.header.signature), 'nobody is blamed');

  const next = await mine(left);
  right.clock.time = left.clock.time;
  const branch = await Promise.all([withheld, next].map((block) => right.fork.check(block)));
  t.equal((await right.fork.adopt(branch)).kind, 'adopted', 'with a block that is in time');
});

t.test('a block that comes in the last moment of its round still counts', async (t) => {
  const left = await newFork();
  const right = await newFork();
  const withheld = await mine(left);
  await mineLate(right, 1);
  right.clock.time = GENESIS_TIME + 2 * LENGTH_MS - 1;
  t.equal((await right.fork.offer(withheld)).kind, 'adopted');
});

t.test('a late chain that is better by more than a block replaces ours', async (t) => {
  const left = await newFork();
  const right = await newFork();
  for (let i = 0; i < 3; i++) await mine(left);
  await mineLate(right, 1);
  right.clock.time += 5 * LENGTH_MS;
  t.equal((await adopt(right, left, 1)).kind, 'adopted');
});

t.test('lateness counts for short branches only', async (t) => {
  for (const depth of [LATE_DEPTH_MAX, LATE_DEPTH_MAX + 1]) {
    const left = await newFork();
    const right = await newFork();
    for (let i = 0; i < depth; i++) await mine(left);
    await mineLate(right, 1);
    for (let i = 1; i < depth; i++) await mine(right);
    right.clock.time += 5 * LENGTH_MS;
    const { kind } = await adopt(right, left, 1);
    t.equal(kind, depth > LATE_DEPTH_MAX ? 'adopted' : 'late', `${depth} blocks of a better score`);
  }
});

t.test('long branches that stay equal do not stay apart', async (t) => {
  for (const depth of [LATE_DEPTH_MAX, LATE_DEPTH_MAX + 1]) {
    const left = await newFork();
    const right = await newFork();
    const one = await mine(left, [payment(alice, bob, 1n, left.clock.time)]);
    const miner = miners.find(({ publicKey }) => equal(publicKey, one.header.generator))!;
    const other = remade(one, miner, { transactions: [] });
    right.clock.time = left.clock.time;
    await right.fork.offer(other);
    for (let i = 1; i < depth; i++) for (const at of [left, right]) await mine(at);
    t.equal(left.blockchain.tip().score, right.blockchain.tip().score);
    const before = branchOf(left, 1);
    right.clock.time = left.clock.time;
    const verdict = (await adopt(right, left, 1)).kind;
    const back = await left.fork.adopt(
      await Promise.all(branchOf(right, 1).map((block) => left.fork.check(block))),
    );
    const isLower = compare(one.header.signature, other.header.signature) < 0;
    if (depth === LATE_DEPTH_MAX) {
      t.strictSame([verdict, back.kind], ['not-better', 'not-better'], 'the next block decides');
      continue;
    }
    t.strictSame([verdict, back.kind], isLower ? ['adopted', 'known'] : ['not-better', 'adopted']);
    t.equal(branchOf(left, 1).length, before.length);
    await sameState(t, left, right);
  }
});

t.test('lateness does not count for a chain that stands still', async (t) => {
  for (const rounds of [STANDSTILL_ROUNDS, STANDSTILL_ROUNDS + 1]) {
    const left = await newFork();
    const right = await newFork();
    const late = await mine(left);
    const { header } = await mineLate(right, 1);
    right.clock.time = header.timestamp + rounds * LENGTH_MS;
    const { kind } = await right.fork.offer(late);
    t.equal(kind, rounds > STANDSTILL_ROUNDS ? 'adopted' : 'late', `after ${rounds} rounds`);
  }
});

t.test('a branch of which only the end is in time is better by half a block', async (t) => {
  const left = await newFork();
  const right = await newFork();
  for (let i = 0; i < 3; i++) await mine(left);
  await mineLate(right, 1);
  for (let i = 1; i < 3; i++) await mine(right);
  right.clock.time = left.clock.time;
  t.equal((await adopt(right, left, 1)).kind, 'late', 'as many blocks');
  await mine(left);
  right.clock.time = left.clock.time;
  t.equal((await adopt(right, left, 1)).kind, 'adopted', 'one block more');
});

t.test('a late block that nothing has followed is taken', async (t) => {
  const left = await newFork();
  const right = await newFork();
  const late = await mine(left);
  right.clock.time = left.clock.time + 5 * LENGTH_MS;
  t.equal((await right.fork.offer(late)).kind, 'adopted');
});

t.test('a third block of a proved turn replaces neither of the two', async (t) => {
  const left = await newFork();
  const right = await newFork();
  const one = await mine(left, [payment(alice, bob, 1n, left.clock.time)]);
  const miner = miners.find(({ publicKey }) => equal(publicKey, one.header.generator))!;
  const twins = Array.from({ length: 12 }, (_, i) =>
    remade(one, miner, { timestamp: one.header.timestamp + 1 + i, transactions: [] }),
  ).sort((a, b) => compare(b.header.signature, a.header.signature));
  right.clock.time = one.header.timestamp + 20;
  const [first, second, third] = [twins[0]!, twins[1]!, twins.at(-1)!];
  t.equal((await right.fork.offer(first)).kind, 'adopted');
  t.equal((await right.fork.offer(second)).kind, 'adopted', 'it has the lower id');
  for (const more of twins.slice(2)) {
    t.equal((await right.fork.offer(more)).kind, 'not-better', 'though it has a lower id still');
  }
  t.same(right.blockchain.tip().id, second.header.signature);
  t.equal((await right.fork.offer(first)).kind, 'not-better', 'the pair is compared as before');

  const elsewhere = await newFork();
  elsewhere.clock.time = right.clock.time;
  t.equal((await elsewhere.fork.offer(third)).kind, 'adopted');
  await mine(elsewhere);
  t.equal((await adopt(right, elsewhere, 1)).kind, 'adopted', 'a chain that goes on from it');
});

t.test('a block from the future is neither taken nor remembered', async (t) => {
  const left = await newFork();
  const right = await newFork();
  const block = await mine(left);
  right.clock.time = left.clock.time - 100;
  t.equal((await right.fork.offer(block)).kind, 'future');
  right.clock.time += 1;
  t.equal((await right.fork.offer(block)).kind, 'adopted', 'scenario 20');
});

t.test('what falls out of the chain is kept before the chain changes', async (t) => {
  const left = await newFork();
  const right = await newFork();
  const tx = payment(alice, bob, 1n, right.clock.time);
  await mineLate(right, 1, [tx]);
  for (let i = 0; i < 2; i++) await mine(left);
  const { id } = right.blockchain.tip();
  const kept: unknown[] = [];
  right.blockchain.listen({
    async rollingBack(txs) {
      await Promise.resolve();
      kept.push(right.blockchain.tip().id, ...txs.map((one) => one.id));
    },
    rolledBack: () => kept.push('rolled back'),
  });
  t.equal((await adopt(right, left, 1)).kind, 'adopted');
  t.same(kept, [id, tx.id, 'rolled back']);
});

t.test('scenario 45: an alias belongs to whom the winning chain gave it', async (t) => {
  const left = await newFork();
  const right = await newFork();
  const claim = (by: typeof alice, at: Fork) =>
    signed(createAlias, by, { timestamp: at.clock.time, fee: 100_000_000n, alias: 'treasure' });
  await mineLate(right, 1, [claim(alice, right)]);
  await mine(left, [claim(bob, left)]);
  await mine(left);
  t.equal((await adopt(right, left, 1)).kind, 'adopted');
  t.same(aliasOwner(right.blockchain.view, 'treasure'), bob.address);
  await sameState(t, left, right);
});

t.test('blocks that do not follow each other are no branch, and may be good', async (t) => {
  const [from, to] = [await newFork(), await newFork()];
  for (let i = 0; i < 3; i++) await mine(from);
  to.clock.time = from.clock.time;
  const [first, second, third] = branchOf(from, 1);
  const checked = await Promise.all([first!, third!].map((block) => to.fork.check(block)));
  t.match(await to.fork.adopt(checked), {
    kind: 'invalid',
    isForged: false,
    error: { message: 'The blocks of the branch do not follow each other' },
  });
  t.equal(to.blockchain.tip().height, 1);
  for (const block of [first, second, third]) {
    t.match(await to.fork.offer(block!), { kind: 'adopted' });
  }
});

t.test('a fork choice listens to the chain until it stops', async (t) => {
  const at = await newChain();
  const noted: number[] = [];
  const equivocations = { note: ({ timestamp }: { timestamp: number }) => noted.push(timestamp) };
  const fork = createTestForkChoice(at, { equivocations: equivocations as never });
  await mine(at);
  t.equal(noted.length, 1);
  fork.stop();
  await mine(at);
  t.equal(noted.length, 1);
});
