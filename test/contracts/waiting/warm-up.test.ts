// What a start that was made ahead says counts for the container that it was of, and for a while.
import t, { type Test } from 'tap';
import { latin1 } from '../../../src/base/bytes.ts';
import { apiError } from '../../../src/base/errors.ts';
import type { Readiness } from '../../../src/base/ports/containers.ts';
import { base58 } from '../../../src/codec/text.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { type ContractNode, contractNode, sum } from '../contract-node.ts';

const NO_SCRIPT = 'The image has no /run.sh';
const WRONG: Readiness = { kind: 'failure', message: NO_SCRIPT, recoverable: false, system: true };

/** A node whose engine starts no container for creations of version 1 as long as `isWrong` says so. */
async function nodeWhere(scope: Test, isWrong: () => boolean): Promise<ContractNode> {
  const node: ContractNode = await contractNode(
    scope,
    { sum },
    {
      engine: {
        prepare: (image, version, creator) =>
          version === 1 && isWrong() ? WRONG : node.containers.prepare(image, version, creator),
      },
    },
  );
  return node;
}

const idOf = ({ id }: Tx): string => base58.encode(id);

t.test('a creation of another version takes no calls of the same image away', async (t) => {
  const node = await nodeWhere(t, () => true);
  const contract = await node.create('sum', { version: 2 });
  for (let i = 0; i < 3 && node.isActive(contract) === undefined; i++) await node.at.mine();
  const call = await node.call(contract);
  await node.at.clock.advance(1);
  const other = await node.create('sum', { version: 1 });
  t.same(node.executed(await node.at.mine()), [idOf(call)]);
  t.same(node.statuses(other), [`Failure null ${NO_SCRIPT}`]);
});

t.test('what was wrong long ago takes no call away', async (t) => {
  let isWrong = true;
  const node = await nodeWhere(t, () => isWrong);
  const { clock, node: whole } = node.at;
  const first = await node.create('sum', { version: 1 });
  // As where another miner has executed it.
  const entry = whole.pool.inOrder().find(({ key }) => key === latin1(first.id));
  whole.pool.drop(entry!, apiError('Invalid', 'executed elsewhere'));
  isWrong = false;
  await clock.advance(120_000);
  const second = await node.create('sum', { version: 1, contractName: 'again' });
  for (let i = 0; i < 3 && node.isActive(second) === undefined; i++) await node.at.mine();
  t.equal(node.isActive(second), true);
});
