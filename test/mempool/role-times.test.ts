// What a block refuses because of its own time, and the next one may take.
import t from 'tap';
import { pack } from '../../src/mempool/packer.ts';
import { isForNextBlock } from '../../src/mempool/role-times.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { permit } from '../../src/tx/types/102-permit.ts';
import { newChain, nextTurn, payment, users } from '../chain/chain-harness.ts';
import { makeBlock } from '../chain/make-block.ts';
import { actor, createHarness, WEST } from '../tx/rules/ledger-harness.ts';
import { createTestPool, hearBlocks } from './pool-harness.ts';

const [owner, member] = [actor(1), actor(2)] as const;
const MINUTE = 60_000;

async function network() {
  const h = await createHarness({
    balances: [owner, member].map((of) => [of, 100n * WEST] as const),
    participants: [[owner, ['miner', 'permissioner', 'connection_manager', 'blacklister']]],
  });
  const change = (opType: string, role: string, more: object) =>
    h.send(permit, owner, { opType, role, target: member.to, dueTimestamp: undefined, ...more });
  /** Whether a payment waits for a block after one of `since`, the time being `now`. */
  const waits = (since: number, now: number): boolean => {
    const tx = h.make(transfer, member, { recipient: owner.to, amount: 1n });
    return isForNextBlock(tx, { context: { timestamp: since }, overlay: h.draft }, now);
  };
  return { h, change, waits };
}

t.test('a ban that ends after the beginning of the block', async (t) => {
  const { h, change, waits } = await network();
  const end = h.now + MINUTE;
  change('add', 'banned', { dueTimestamp: end });
  await h.mine();
  t.ok(waits(end - 2, end + 2));
  t.ok(waits(end - 1, end));
  t.notOk(waits(end - 2, end - 1), 'it is still in force');
  t.notOk(waits(end, end + 1), 'it has ended before');
});

t.test('a role that begins then, and whose removal is recorded already', async (t) => {
  const { h, change, waits } = await network();
  const [begin, end] = [h.now + MINUTE, h.now + 2 * MINUTE];
  change('add', 'issuer', { timestamp: begin });
  await h.mine();
  change('remove', 'issuer', { timestamp: end });
  await h.mine();
  t.ok(waits(begin - 1, begin));
  t.notOk(waits(begin, end - 1), 'no role changes in between');
  t.notOk(waits(begin - 2, begin - 1));
});

t.test('the role of another, which begins or ends after the beginning of the block', async (t) => {
  const { h, change } = await network();
  const [begin, end] = [h.now + MINUTE, h.now + 2 * MINUTE];
  change('add', 'issuer', { timestamp: begin, dueTimestamp: end });
  await h.mine();
  const taken = { opType: 'remove', role: 'issuer', target: member.to, dueTimestamp: undefined };
  const waits = (since: number, now: number): boolean => {
    const context = { timestamp: since };
    return isForNextBlock(h.make(permit, owner, taken), { context, overlay: h.draft }, now);
  };
  t.ok(waits(begin - 1, begin));
  t.ok(waits(end - 1, end));
  t.notOk(waits(begin, end - 1));
});

t.test('a transaction that is as far ahead of now as may be', async (t) => {
  const [alice, bob] = users;
  const at = await newChain();
  const pool = createTestPool(at);
  hearBlocks(at, () => pool);
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  const tx = payment(alice, bob, 1n, time + 90 * MINUTE + 1);
  const block = await makeBlock(at.blockchain, miner, time, async (draft, limits) => {
    at.clock.time = time + 2_000;
    await pool.submit(tx);
    await pack(pool, limits, draft, at.clock);
  });
  t.equal(block.transactions.length, 0, 'the block has an earlier time');
  t.equal(pool.dropped(tx.id), undefined);
  t.equal(pool.size(), 1);
  const next = nextTurn(at);
  at.clock.time = next.time;
  await makeBlock(at.blockchain, next.miner, next.time, (draft, limits) =>
    pack(pool, limits, draft, at.clock),
  );
  t.equal(pool.size(), 0, 'the next one has it');
});
