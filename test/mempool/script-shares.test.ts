// A sender of many dear scripts, all older than those of others, keeps nobody else out of the blocks
// of this node.

import t from 'tap';
import { SCRIPT_RUNS_MAX } from '../../src/block/block.ts';
import { pack } from '../../src/mempool/packer.ts';
import { RUN_UNITS_MAX } from '../../src/script/evaluation/meter.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { buildTx } from '../../src/tx/tx-bytes.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import {
  type Account,
  mine,
  newChain,
  nextTurn,
  payment,
  scheme,
  users,
} from '../chain/chain-harness.ts';
import { DEAR, FITTING, guard, METERED, OLD } from '../chain/dear-blocks.ts';
import { makeBlock } from '../chain/make-block.ts';
import { taking } from '../generators/dear-runs.ts';
import { compiled } from '../generators/scripts.ts';
import { createTestPool, hearBlocks } from './pool-harness.ts';

const [alice, bob, carol] = users;

function pay(from: Account, timestamp: number, amount: number): Tx {
  const input = {
    ...{ senderPublicKey: from.publicKey, timestamp, amount: BigInt(amount), fee: 1_400_000n },
    ...{ recipient: { kind: 'address', bytes: carol.address } as const },
    attachment: new Uint8Array(0),
  };
  return buildTx(transfer, transfer.layouts[1]!, input, [], scheme) as unknown as Tx;
}

const cases = [
  ['many runs', compiled('true'), compiled('true'), SCRIPT_RUNS_MAX, SCRIPT_RUNS_MAX - 1],
  ['dear runs', DEAR, taking(RUN_UNITS_MAX / 2), FITTING + 3, FITTING - 1],
] as const;

for (const [what, script, others, count, taken] of cases) {
  t.test(what, async (t) => {
    // Its own blocks keep to the budget also before the feature.
    for (const settings of what === 'many runs' ? [METERED, OLD] : [METERED]) {
      const at = await newChain(undefined, settings);
      const { time } = nextTurn(at);
      await mine(at, [guard(alice, script, time), guard(bob, others, time)]);
      const pool = createTestPool(at, {}, { senderEntriesMax: 1000 });
      hearBlocks(at, () => pool);
      const first = Array.from({ length: count }, (_, i) => pay(alice, time + i, i + 1));
      const last = [pay(bob, time + 1000, 1), payment(carol, bob, 1n, time + 2000)];
      for (const tx of [...first, ...last]) await pool.submit(tx);
      const next = nextTurn(at);
      at.clock.time = next.time;
      const block = await makeBlock(at.blockchain, next.miner, next.time, async (draft, limits) => {
        await pack(pool, limits, draft, at.clock);
      });
      const ofAlice = block.transactions.length - last.length;
      for (const { bytes } of last) {
        const isIn = block.transactions.some((one) => Buffer.compare(one, bytes) === 0);
        t.ok(isIn, 'those of others are in the next block');
      }
      t.equal(ofAlice, taken, 'and it is full all the same');
      t.equal(pool.size(), count - ofAlice);
    }
  });
}
