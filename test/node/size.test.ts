// Transactions that are too large are skipped or dropped, and the node continues.
import t from 'tap';
import { seededRandom } from '../crypto/random.ts';
import { policyBytes } from '../generators/oversized.ts';
import { type WholeNode, wholeNode } from './in-process.ts';

function largePolicy(whole: WholeNode, members: number): Uint8Array {
  const [owner] = whole.accounts;
  return policyBytes(
    {
      publicKey: owner.publicKey,
      member: owner.address,
      members,
      timestamp: whole.clock.now(),
      fee: whole.node.services.rules.fees.base.get(112) ?? 0n,
      sign: (message) => whole.family.sign(owner.privateKey, message, seededRandom('large')),
    },
    whole.scheme,
  );
}

t.test('a journal that holds one that is too large does not stop the start', async (t) => {
  const whole = await wholeNode(t);
  const [owner, one] = whole.accounts;
  const good = whole.transfer(owner, one, 5);
  await whole.node.pool.submit(good);
  await whole.stop();
  const garbage = Uint8Array.of(1, 2, 3);
  whole.records.list = [largePolicy(whole, 12_000), garbage, ...whole.records.list];

  const restarted = await whole.restart();
  t.equal(restarted.log.of('pool.record-skipped').length, 2);
  t.match(restarted.log.of('pool.record-skipped')[0], { why: /at most 153600/ });
  t.equal(restarted.node.pool.size(), 1);
  t.strictSame(restarted.records.list, [good.bytes], 'the journal is rid of them');
  t.equal((await restarted.mine()).length, 1, 'and blocks are made');
  t.strictSame(restarted.stops, []);
});

t.test('a transaction that fits into no block leaves the pool with a reason', async (t) => {
  const whole = await wholeNode(t, { set: ['miner.max-block-size-in-bytes=2048'] });
  const [owner, one] = whole.accounts;
  const data = [{ key: 'k', type: 'string', value: 'x'.repeat(3000) }];
  const large = await whole.send(owner, { type: 12, version: 1, data, fee: 8_000_000 });
  const small = whole.transfer(owner, one, 5);
  await whole.node.pool.submit(small);
  t.strictSame(
    (await whole.mine()).map(({ id }) => id),
    [small.id],
  );
  t.equal(whole.node.pool.get(large.id), undefined);
  t.match(whole.node.pool.dropped(large.id), /fit into no block/);
});
