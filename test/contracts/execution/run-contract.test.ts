import t from 'tap';
import { MIB } from '../../../src/base/limits/budget.ts';
import { contractLimits } from '../../../src/base/limits/contract-limits.ts';
import type { ContractOutcome } from '../../../src/base/ports/containers.ts';
import { blockAt } from '../../../src/chain/store/stored-blocks.ts';
import { createBlockInWork } from '../../../src/contracts/execution/block-in-work.ts';
import { createExecutions } from '../../../src/contracts/execution/executions.ts';
import { createPhaseRoom } from '../../../src/contracts/execution/phase-room.ts';
import { runContract } from '../../../src/contracts/execution/run-contract.ts';
import { sha256 } from '../../../src/crypto/sha256.ts';
import { unchecked } from '../../../src/tx/proof-verdicts.ts';
import { createContract } from '../../../src/tx/types/103-create-contract.ts';
import { mine, newChain, nextTurn, signed, users } from '../../chain/chain-harness.ts';
import { makeBlock } from '../../chain/make-block.ts';
import { hashOfImage } from '../../simulated/containers.ts';

const image = { image: 'image', imageHash: hashOfImage('image') };

t.test('results of the same block count against what an execution may read', async (t) => {
  const at = await newChain();
  await mine(at);
  const { miner, time } = nextTurn(at);
  const fields = { ...image, contractName: 'name', params: [], fee: 1n, timestamp: time };
  const tx = signed(createContract, users[0], fields as never, 1);
  const { header } = blockAt(at.blockchain.view, 2)!;
  const executions = createExecutions(1, {
    clock: { monotonic: () => 0 },
    random: { bytes: (count) => new Uint8Array(count) },
    hash: sha256,
  });
  await makeBlock(at.blockchain, miner, time, async (draft) => {
    const ports = { clock: at.clock, signer: miner };
    const block = createBlockInWork(draft, header, createPhaseRoom(MIB, 9), MIB, ports);
    const text = { key: 'text', type: 'string', value: 'x'.repeat(MIB / 8) } as const;
    const { tx: result } = await block.resultOf(tx, unchecked(tx), [text]);
    const { promise, resolve } = Promise.withResolvers<ContractOutcome>();
    let opened = '';
    const run = runContract(
      { tx, contractId: tx.id, image, createVersion: 1, version: 1 },
      { ...block, executedHere: () => ({ tx: result, height: 3, index: 0 }) },
      {
        containers: {
          run({ token }) {
            opened = token;
            return promise;
          },
        },
        executions,
        clock: at.clock,
        addresses: () => [],
        keyFilter: () => Promise.reject(new Error('there is none')),
      },
    );
    const { executedFor } = executions.find(opened);
    const most = Math.floor(contractLimits.readBytes.value / result.bytes.length);
    for (let i = 0; i < most; i++) t.equal(executedFor(tx.id)?.tx, result);
    t.throws(() => executedFor(tx.id), { code: 413, message: /at most \d+ bytes/ });
    run.close(0);
    t.throws(() => executedFor(tx.id), { code: 622 }, 'and none is read after the end');
    resolve({ kind: 'success', results: [] });
    await run.outcome;
  });
});
