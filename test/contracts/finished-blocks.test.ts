// Blocks with results that come into the chain later than they were made.
import t from 'tap';
import type { Tx } from '../../src/tx/transaction.ts';
import { ROUND_MS } from '../node/in-process.ts';
import { callOf, groupOf } from './atomic-groups.ts';
import { add, contractNode, sum } from './contract-node.ts';

const SUCCESS = 'Success null Contract transaction successfully mined';

t.test('the outcome of a block that the next life of the node finishes is told', async (t) => {
  const store = { isFull: false };
  const node = await contractNode(
    t,
    { sum },
    {
      store: {
        fail() {
          if (store.isFull) throw new Error('no space left on device');
        },
      },
    },
  );
  const { at } = node;
  const contract = await node.created('sum');
  const call = await node.call(contract, add(5));
  const group = groupOf(node, [callOf(node, contract, add(1)), callOf(node, contract, add(2))]);
  await at.node.pool.submit(group);
  const { height } = at.node.blockchain.tip();
  store.isFull = true;
  await at.clock.advance(ROUND_MS);
  await at.node.blockchain.idle();
  t.equal(at.node.blockchain.tip().height, height, 'it is sealed and in no chain');
  store.isFull = false;
  const again = await at.restart();
  await again.clock.advance(ROUND_MS);
  await again.node.blockchain.idle();
  t.equal(again.log.of('miner.block-finished').length, 1);
  const members = group.fields['transactions'] as readonly Tx[];
  for (const tx of [call, ...members]) {
    const said = again.node.statuses
      .of(tx.id)
      .map(({ status, message }) => `${status} null ${message}`);
    t.strictSame(said, [SUCCESS]);
  }
});
