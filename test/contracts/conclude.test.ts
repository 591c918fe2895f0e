// Whose fault it is that a block does not take the results of a call.
import t from 'tap';
import { refused } from '../../src/base/errors.ts';
import type { BlockDraft } from '../../src/chain/block-draft.ts';
import { blockAt } from '../../src/chain/stored-blocks.ts';
import { createBlockInWork } from '../../src/contracts/block-in-work.ts';
import { createBreakers } from '../../src/contracts/breakers.ts';
import { createConclusions } from '../../src/contracts/conclude.ts';
import { ContractLine } from '../../src/contracts/contract-line.ts';
import { createCreateVersions } from '../../src/contracts/create-versions.ts';
import { createPhaseRoom } from '../../src/contracts/phase-room.ts';
import { createRepetitions } from '../../src/contracts/repetitions.ts';
import type { PoolEntry } from '../../src/mempool/entry.ts';
import { unchecked } from '../../src/tx/proof-verdicts.ts';
import { createContract } from '../../src/tx/types/103-create-contract.ts';
import { mine, newChain, nextTurn, signed, users } from '../chain/chain-harness.ts';
import { success } from '../simulated/containers.ts';

t.test('a fault of who sends the results is none of the transaction', async (t) => {
  const at = await newChain();
  await mine(at);
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  const image = { image: 'sum:1', imageHash: 'ab'.repeat(32) };
  const fields = { ...image, contractName: 'sum', params: [], timestamp: time, fee: 100_000_000n };
  const tx = signed(createContract, users[0], fields as never, 1);
  const { header } = blockAt(at.blockchain.view, 2)!;
  const entry = { key: 'key', sender: 'alice', verdicts: unchecked(tx) } as unknown as PoolEntry;
  await at.blockchain.forge(miner, time, async (draft) => {
    for (const isOfTransaction of [false, true]) {
      const refusing: BlockDraft = {
        ...draft,
        add() {
          throw refused('the miner is banned');
        },
        check() {
          if (isOfTransaction) throw refused('the caller is banned');
        },
      };
      const ports = { clock: at.clock, signer: miner };
      const block = createBlockInWork(refusing, header, createPhaseRoom(1e6, 10), 1e6, ports);
      const dropped: string[] = [];
      const reports: string[] = [];
      const clock = { monotonic: () => 0 };
      const conclude = createConclusions(block, {
        pool: {
          decode: () => tx,
          drop: (_, { message }) => void dropped.push(message),
        },
        breakers: createBreakers(clock),
        repetitions: createRepetitions(clock),
        createVersions: createCreateVersions(),
        report: ({ message }) => void reports.push(message),
        failed: new Set(),
        observe: () => undefined,
      });
      const then = conclude.outcome(new ContractLine('key'), entry, tx, image, success());
      t.equal(then, isOfTransaction ? 'next' : 'stop');
      t.match(dropped, isOfTransaction ? [/the caller is banned/] : []);
      t.equal(dropped.length, isOfTransaction ? 1 : 0);
    }
  });
});
