/**
 * A hostile miner that executes a contract transaction again. It makes its blocks itself, so that
 * only the nodes which check them can refuse.
 */
import t from 'tap';
import type { Block } from '../../src/block/block.ts';
import { blockAt } from '../../src/chain/store/stored-blocks.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { permit } from '../../src/tx/types/102-permit.ts';
import { createContract } from '../../src/tx/types/103-create-contract.ts';
import { callContract } from '../../src/tx/types/104-call-contract.ts';
import { executedContract } from '../../src/tx/types/105-executed-contract.ts';
import { updateContract } from '../../src/tx/types/107-update-contract.ts';
import {
  type Account,
  mine,
  miners,
  newChain,
  nextTurn,
  remade,
  signed,
  type TestChain,
  users,
} from './chain-harness.ts';

const [alice] = users;
const IMAGE = { image: 'sum:1', imageHash: 'ab'.repeat(32) };
const sum = (value: bigint) => [{ key: 'sum', type: 'integer', value }] as const;

/** Whoever has the turn executes the transaction; `again` makes it another one of the same run. */
function executed(miner: Account, tx: Tx, time: number, again = 0): Tx {
  const results = tx.type === updateContract.type ? [] : sum(BigInt(again));
  return signed(
    executedContract,
    miner,
    { timestamp: time + again, tx, results, fee: 0n } as never,
    1,
  );
}

/** A block of these transactions by whoever has the turn, whatever the rules say of them. */
function blockOf(at: TestChain, make: (miner: Account, time: number) => readonly Tx[]): Block {
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  return remade(blockAt(at.blockchain.view, 2)!, miner, {
    timestamp: time,
    reference: at.blockchain.tip().id,
    consensus: { kind: 'poa', skippedRounds: 0 },
    transactions: make(miner, time).map(({ bytes }) => bytes),
  });
}

/** By name: a transaction about the contract with this id that may be executed once. */
const executables: Readonly<Record<string, (contractId: Uint8Array, time: number) => Tx>> = {
  'a creation (103)': (_id, timestamp) =>
    signed(
      createContract,
      alice,
      { ...IMAGE, timestamp, fee: createContract.fee!, contractName: 'sum', params: [] } as never,
      1,
    ),
  'a call (104)': (contractId, timestamp) =>
    signed(
      callContract,
      alice,
      { contractId, timestamp, fee: callContract.fee!, params: [], contractVersion: 1 } as never,
      2,
    ),
  'an update (107)': (contractId, timestamp) =>
    signed(
      updateContract,
      alice,
      { ...IMAGE, contractId, timestamp, fee: updateContract.fee! } as never,
      1,
    ),
};

for (const [name, make] of Object.entries(executables)) {
  t.test(`${name} is executed once, whoever makes the block`, async (t) => {
    const at = await newChain();
    const { time } = nextTurn(at);
    await mine(at, [
      signed(
        permit,
        miners[0]!,
        {
          target: { kind: 'address', bytes: alice.address },
          timestamp: time,
          fee: 1_000_000n,
          opType: 'add',
          role: 'contract_developer',
          dueTimestamp: undefined,
        } as never,
        1,
      ),
    ]);
    const creation = executables['a creation (103)']!(new Uint8Array(32), time + 1);
    await at.blockchain.append(blockOf(at, (miner, time) => [executed(miner, creation, time)]));
    const { height } = at.blockchain.tip();
    const hash = at.blockchain.stateHash(height);
    const tx = make(creation.id, at.clock.time + 2);

    const twice = blockOf(at, (miner, time) => [
      executed(miner, tx, time),
      executed(miner, tx, time, 1),
    ]);
    await t.rejects(at.blockchain.append(twice), { message: /has been already executed/ });
    t.equal(at.blockchain.tip().height, height, 'twice in one block');
    t.same(at.blockchain.stateHash(height), hash);

    await at.blockchain.append(blockOf(at, (miner, time) => [executed(miner, tx, time)]));
    t.equal(at.blockchain.tip().height, height + 1, 'once');

    const again = blockOf(at, (miner, time) => [executed(miner, tx, time, 1)]);
    await t.rejects(at.blockchain.append(again), { message: /has been already executed/ });
    t.equal(at.blockchain.tip().height, height + 1, 'again in the next block');
  });
}
