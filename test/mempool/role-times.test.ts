// What a block refuses because of its own time, and the next one may take.
import t from 'tap';
import { isForNextBlock } from '../../src/mempool/role-times.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { permit } from '../../src/tx/types/102-permit.ts';
import { actor, createHarness, WEST } from '../tx/rules/ledger-harness.ts';

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
