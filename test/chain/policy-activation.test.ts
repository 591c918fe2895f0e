// Feature 1001 comes by vote in the middle of a chain: below its height a policy is created by one
// of its owners, from there on by anybody. Heights 2 to 4 approve it, and 8 is the first that has it.
import t from 'tap';
import type { Block } from '../../src/block/block.ts';
import { importBlocks } from '../../src/chain/import/import-blocks.ts';
import { blockAt } from '../../src/chain/store/stored-blocks.ts';
import { createPolicy } from '../../src/tx/types/112-create-policy.ts';
import {
  mine,
  mineUnjudged,
  newChain,
  nextTurn,
  signed,
  users,
  verifier,
} from './chain-harness.ts';
import { follower, VOTING } from './dear-blocks.ts';

const FIRST = 8;
const [alice, bob] = users;
const REFUSED = { message: /is not owner for policy$/ };

t.test('below its height and from there on, on every way to a block', async (t) => {
  const at = await newChain(undefined, VOTING);
  const policy = { policyName: 'of bob', description: '', recipients: [], owners: [bob.address] };
  const forBob = () => {
    const timestamp = nextTurn(at).time;
    return signed(createPolicy, alice, { ...policy, timestamp, fee: 100_000_000n } as never, 1);
  };
  while (at.blockchain.tip().height < FIRST - 2) await mine(at);
  await t.rejects(mine(at, [forBob()]), REFUSED);
  await t.rejects(mineUnjudged(at, [forBob()]), REFUSED, 'nor in the block of another');
  await mine(at);
  const good: Block = await mine(at, [forBob()]);
  t.equal(at.blockchain.tip().height, FIRST);
  t.equal(good.transactions.length, 1);

  const again = await follower(at, VOTING);
  const imported = await newChain(undefined, VOTING);
  imported.clock.time = at.clock.time;
  const { view } = at.blockchain;
  const stateHash = (height: number) => at.blockchain.stateHash(height);
  const blocks = Array.from({ length: FIRST - 1 }, (_, i) => blockAt(view, i + 2)!);
  await importBlocks(imported.blockchain, verifier, blocks, { from: 2 });
  for (const { blockchain } of [again, imported]) {
    t.strictSame(blockchain.stateHash(FIRST), stateHash(FIRST));
  }
  await at.blockchain.rollback(FIRST - 2);
  await t.rejects(mine(at, [forBob()]), REFUSED, 'as before, after a rollback');
});
