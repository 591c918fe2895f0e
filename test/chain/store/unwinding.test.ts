/** Heights to which a chain cannot be rolled back. */
import t from 'tap';
import { requireReachable } from '../../../src/chain/store/unwinding.ts';
import { mine, newChain } from '../chain-harness.ts';

t.test('a rollback ends at a block whose undo records are kept', async (t) => {
  const cases: readonly (readonly [to: number, from: number, message: RegExp | undefined])[] = [
    [0, 5, /no block to roll back to at height 0$/],
    [-1, 5, /no block to roll back to at height -1$/],
    [6, 5, /no block to roll back to at height 6$/],
    [1, 5, /possible only to the block at a height: 2$/],
    [2, 5, undefined],
    [5, 5, undefined],
  ];
  for (const [to, from, message] of cases) {
    const asked = (): void => requireReachable(to, from, 3);
    if (message === undefined) asked();
    else t.throws(asked, { message });
  }
  const at = await newChain();
  await mine(at);
  await t.rejects(at.blockchain.rollback(0), { message: /no block to roll back to/ });
  t.equal(at.blockchain.tip().height, 2);
});
