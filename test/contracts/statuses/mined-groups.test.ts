// Records of atomic transactions that are on the chain, as such and not inside results.
import t from 'tap';
import { apiError } from '../../../src/base/errors.ts';
import { statusLimits } from '../../../src/base/limits/status-limits.ts';
import { ROUND_MS } from '../../node/in-process.ts';
import { groupOf, transferOf } from '../atomic-groups.ts';
import { type Ground, ground, minerOf, opened, sealed } from './status-harness.ts';

const KEEP_MS = 4 * 3_600_000;

async function waitingGroup(on: Ground) {
  const place = { at: on, owner: on.accounts[0] };
  const group = groupOf(place, [transferOf(place, on.member, 1n), transferOf(place, on.miner, 1n)]);
  await on.node.pool.submit(group);
  return group;
}

/** Until the owner has the turn among the miners. */
async function mine(on: Ground): Promise<void> {
  const { height } = on.node.blockchain.tip();
  for (let i = 0; i < 10 && on.node.blockchain.tip().height === height; i++) {
    await on.clock.advance(ROUND_MS);
    await on.produceBlock().catch(() => undefined);
  }
}

t.test('a refusal is not said again once another miner has it in a block', async (t) => {
  const on = await ground(t);
  const { statuses, peers, pass } = await opened(
    t,
    on,
    { keepMs: KEEP_MS },
    { miner: minerOf(on) },
  );
  const group = await waitingGroup(on);
  const { pool } = on.node;
  statuses.report({ txId: group.id, status: 'Failure', code: undefined, message: 'no' });
  await pass(1_000);
  pool.drop(pool.entry(group.id)!, apiError('Invalid', 'no'));
  await pool.submit(group);
  await mine(on);
  t.not(on.heightOf(group), undefined);
  await pass(10 * statusLimits.repeatPause.value);
  t.equal(peers[0].got.length, 1);
});

t.test('a record is good where its transaction is on the chain', async (t) => {
  const on = await ground(t);
  const { statuses, peers, arrive } = await opened(t, on);
  const group = await waitingGroup(on);
  await mine(on);
  await arrive(peers[0], sealed(on, on.miner, group.id, 'Failure'));
  t.equal(statuses.of(group.id).length, 1);
});
