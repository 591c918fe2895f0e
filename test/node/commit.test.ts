// The pool of a whole node while a block is being written to disk.
import t from 'tap';
import { ROUND_MS, wholeNode } from './in-process.ts';

/** Two nodes of one network, neither of which mines by itself; the second one's disk can wait. */
async function twoNodes(scope: Parameters<typeof wholeNode>[0]) {
  const set = ['miner.enable=no'];
  const disk: { hold?: () => Promise<void>; fail?: () => void } = {};
  const first = await wholeNode(scope, { set });
  const second = await wholeNode(scope, { set, store: disk });
  return { first, second, disk };
}

function held(disk: { hold?: () => Promise<void> }) {
  const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  disk.hold = async () => {
    arrived.resolve();
    await released.promise;
  };
  return { arrived: arrived.promise, release: released.resolve };
}

t.test('a transaction that arrives while its block is being written leaves with it', async (t) => {
  const { first, second, disk } = await twoNodes(t);
  const [owner, one] = first.accounts;
  const mined = first.transfer(owner, one, 5);
  const other = first.transfer(owner, one, 6);
  await first.node.pool.submit(mined);
  await first.clock.advance(ROUND_MS);
  const block = await first.produceBlock();
  await second.clock.advanceTo(first.clock.now());
  const { arrived, release } = held(disk);
  const appended = second.node.blockchain.append(block);
  await arrived;
  const { pool } = second.node;
  await pool.submit(mined);
  await pool.submit(other);
  t.equal(pool.size(), 2, 'it is valid on the present head');
  release();
  await appended;
  t.strictSame(
    Array.from(pool.list(), ({ id }) => id),
    [other.id],
  );
  t.match(await second.refusal(mined), { code: 112, message: /already in the state/ });
});

t.test('what the disk refuses stays in the pool and is mined later', async (t) => {
  const { second, disk } = await twoNodes(t);
  const [owner, one] = second.accounts;
  const tx = second.transfer(owner, one, 5);
  await second.node.pool.submit(tx);
  await second.clock.advance(ROUND_MS);
  disk.fail = () => {
    throw new Error('no space left on device');
  };
  await t.rejects(second.produceBlock(), { code: 640, status: 503 });
  t.equal(second.node.pool.size(), 1);
  t.equal(second.heightOf(tx), undefined);
  delete disk.fail;
  await second.produceBlock();
  t.equal(second.node.pool.size(), 0);
  t.equal(second.heightOf(tx), second.node.blockchain.tip().height);
});
