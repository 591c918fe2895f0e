/** Results of contracts in a block that has room for some of them, or for none. */

import t from 'tap';
import { MIB } from '../../../src/base/limits/budget.ts';
import { blockAt } from '../../../src/chain/store/stored-blocks.ts';
import { base58 } from '../../../src/codec/text.ts';
import { createBlockInWork } from '../../../src/contracts/execution/block-in-work.ts';
import { createPhaseRoom } from '../../../src/contracts/execution/phase-room.ts';
import { unchecked } from '../../../src/tx/proof-verdicts.ts';
import { createContract } from '../../../src/tx/types/103-create-contract.ts';
import { mine, newChain, nextTurn, signed, users } from '../../chain/chain-harness.ts';
import { makeBlock } from '../../chain/make-block.ts';
import type { Program } from '../../simulated/containers.ts';
import { success } from '../../simulated/containers.ts';
import { contractNode } from '../contract-node.ts';

const KB = 1000;
const SET = [`miner.max-block-size-in-bytes=${250 * KB}`];

/** Writes a text of so many bytes, which the parameter says. */
const writes: Program = ({ transaction: { params } }) => {
  const size = Number(params.find(({ key }) => key === 'size')?.value ?? 0n);
  return success({ key: 'text', type: 'string', value: 'x'.repeat(size) });
};
const size = (value: number): object => ({ params: [{ key: 'size', type: 'integer', value }] });

t.test('results that no longer fit into a block are in the next one', async (t) => {
  const node = await contractNode(t, { writes }, { set: SET });
  const contract = await node.created('writes');
  const calls = [];
  const now = node.at.clock.now();
  for (let i = 0; i < 3; i++) {
    calls.push(await node.call(contract, { ...size(100 * KB), timestamp: now + i }));
  }
  const ids = calls.map(({ id }) => base58.encode(id));
  t.same(node.executed(await node.at.mine()), ids.slice(0, 2));
  t.same(node.executed(await node.at.mine()), ids.slice(2));
});

t.test('results that fit into no block', async (t) => {
  const node = await contractNode(t, { writes }, { set: SET });
  const contract = await node.created('writes');
  const call = await node.call(contract, size(260 * KB));
  t.same(node.executed(await node.at.mine()), []);
  t.match(node.statuses(call), [/^Failure null .* bytes fit into no block of this network$/]);
  t.equal(node.at.node.pool.size(), 0, 'it does not come back');
});

t.test('a block that has all the transactions it may have', async (t) => {
  const at = await newChain();
  await mine(at);
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  const alice = users[0];
  const tx = signed(
    createContract,
    alice,
    {
      ...{ image: 'sum:1', imageHash: 'ab'.repeat(32), contractName: 'sum', params: [] },
      ...{ timestamp: time, fee: createContract.fee! },
    } as never,
    1,
  );
  const { header } = blockAt(at.blockchain.view, 2)!;
  await makeBlock(at.blockchain, miner, time, async (draft) => {
    for (const count of [0, 1]) {
      const room = createPhaseRoom(MIB, count);
      const ports = { clock: at.clock, signer: miner };
      const block = createBlockInWork(draft, header, room, MIB, ports);
      const result = await block.resultOf(tx, unchecked(tx), []);
      const add = (): boolean => block.addResults(tx, unchecked(tx), result);
      if (count === 0) t.equal(add(), false, 'there is no place');
      // Alice is no developer of contracts, which is said where there is a place.
      else t.throws(add, { message: /contract_developer/ });
    }
  });
});
