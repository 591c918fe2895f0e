// Whose fault it is that a block does not take the results of a call.

import t from 'tap';
import { apiError, refused } from '../../../src/base/errors.ts';
import type { BlockDraft } from '../../../src/chain/apply/block-draft.ts';
import { blockAt } from '../../../src/chain/store/stored-blocks.ts';
import {
  type BlockInWork,
  createBlockInWork,
} from '../../../src/contracts/execution/block-in-work.ts';
import {
  createCircuitBreakers,
  FAILURES_MAX,
  IMAGES_MAX,
} from '../../../src/contracts/execution/circuit-breakers.ts';
import { Conclusions } from '../../../src/contracts/execution/conclude.ts';
import { createPhaseRoom } from '../../../src/contracts/execution/phase-room.ts';
import {
  ATTEMPTS_MAX,
  createRepetitions,
  HELD_UP_MS_MAX,
} from '../../../src/contracts/execution/repetitions.ts';
import { createCreateVersions } from '../../../src/contracts/images/create-versions.ts';
import { ContractQueue } from '../../../src/contracts/waiting/contract-queue.ts';
import type { PoolEntry } from '../../../src/mempool/entries/entry.ts';
import { unchecked } from '../../../src/tx/proof-verdicts.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { createContract } from '../../../src/tx/types/103-create-contract.ts';
import { mine, newChain, nextTurn, signed, users } from '../../chain/chain-harness.ts';
import { makeBlock } from '../../chain/make-block.ts';
import { success } from '../../simulated/containers.ts';

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
  await makeBlock(at.blockchain, miner, time, async (draft) => {
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
      const conclude = new Conclusions(block, {
        pool: {
          decode: () => tx,
          drop: (_, { message }) => void dropped.push(message),
          refuse: () => t.fail('it has run'),
        },
        breakers: createCircuitBreakers(clock),
        repetitions: createRepetitions(clock),
        createVersions: createCreateVersions(),
        report: ({ message }) => void reports.push(message),
        failed: new Set(),
        observe: () => undefined,
      });
      const results = await block.resultOf(tx, entry.verdicts, []);
      const queue = new ContractQueue('key');
      const then = conclude.outcome(queue, entry, tx, image, success(), () => results);
      t.equal(then, isOfTransaction ? 'next' : 'stop');
      t.match(dropped, isOfTransaction ? [/the caller is banned/] : []);
      t.equal(dropped.length, isOfTransaction ? 1 : 0);
    }
  });
});

/** Conclusions on calls of contracts, none of which has results; the test moves the clock. */
function concluding() {
  let now = 0;
  const clock = { monotonic: () => now };
  const breakers = createCircuitBreakers(clock);
  const dropped: string[] = [];
  const reports: string[] = [];
  const conclude = new Conclusions({} as BlockInWork, {
    pool: {
      decode: () => ({}) as Tx,
      drop(entry, { message }) {
        entry.removed = true;
        dropped.push(message);
      },
      refuse: () => undefined,
    },
    breakers,
    repetitions: createRepetitions(clock),
    createVersions: createCreateVersions(),
    report: ({ status, code }) => void reports.push(`${status} ${code}`),
    failed: new Set(),
    observe: () => undefined,
  });
  const entryOf = (sender: string): PoolEntry => ({ key: sender, sender }) as PoolEntry;
  const pass = (ms: number): void => {
    now += ms;
  };
  return { breakers, conclude, dropped, reports, entryOf, pass };
}

const outage = { kind: 'failure', message: 'away', recoverable: true, system: true } as const;

t.test('an outage ends a call after an hour, and not before', async (t) => {
  const { conclude, dropped, reports, entryOf, pass } = concluding();
  const queue = new ContractQueue('contract', 'owner');
  const entry = entryOf('alice');
  const image = { image: 'sum:1', imageHash: 'ab'.repeat(32) };
  for (let ms = 0; ms < HELD_UP_MS_MAX; ms += 60_000) {
    conclude.unready(queue, entry, image, outage);
    pass(60_000);
  }
  t.strictSame(dropped, []);
  t.strictSame(new Set(reports), new Set(['Failure 1']));
  conclude.unready(queue, entry, image, outage);
  t.strictSame(dropped, ['The transaction has failed too often: away']);
  t.equal(reports.at(-1), 'Failure undefined');
});

t.test('failures of the program cost attempts, and outages between them cost none', async (t) => {
  const { conclude, dropped, entryOf } = concluding();
  const queue = new ContractQueue('contract', 'owner');
  const image = { image: 'sum:1', imageHash: 'ab'.repeat(32) };
  const failure = { ...outage, message: 'broken', system: false } as const;
  const entry = entryOf('alice');
  for (let attempt = 1; attempt < ATTEMPTS_MAX; attempt++) {
    conclude.unready(queue, entry, image, failure);
    conclude.unready(queue, entry, image, outage);
  }
  t.strictSame(dropped, []);
  conclude.unready(queue, entry, image, failure);
  t.strictSame(dropped, ['The transaction has failed too often: broken']);
});

t.test('an outage is that of an image and of the creator of the contract', async (t) => {
  const imageOf = (name: string) => ({ image: 'a', imageHash: name });
  const rest = (on: ReturnType<typeof concluding>, owner: string, imageHash: string): void => {
    const queue = new ContractQueue(`${owner} ${imageHash}`, owner);
    for (let i = 0; i < FAILURES_MAX; i++) {
      on.conclude.unready(queue, on.entryOf(`${owner} calls`), imageOf(imageHash), outage);
    }
  };
  const state = ({ breakers }: ReturnType<typeof concluding>) => breakers.state('new', 'bob');
  const alone = concluding();
  for (let i = 0; i < 2 * IMAGES_MAX; i++) rest(alone, 'hostile', `image ${i}`);
  t.equal(state(alone), 'closed', 'a creator shows nothing of the engine');
  const two = concluding();
  for (let i = 0; i < IMAGES_MAX - 1; i++) rest(two, `creator ${i % 2}`, `image ${i}`);
  rest(two, 'creator 1', 'IMAGE 0');
  t.equal(state(two), 'closed', 'the same image in other letters is the same');
  rest(two, 'creator 0', 'another');
  t.equal(state(two), 'open');
});

t.test('a call that fails by an outage rests for its sender alone', async (t) => {
  const { breakers, conclude, entryOf } = concluding();
  const queue = new ContractQueue('contract', 'owner');
  const image = { image: 'sum:1', imageHash: 'ab' };
  const tx = {} as Tx;
  for (let i = 0; i < FAILURES_MAX; i++) {
    conclude.outcome(queue, entryOf('alice'), tx, image, outage);
  }
  t.equal(breakers.state('contract', 'alice'), 'open');
  t.equal(breakers.state('contract', 'bob'), 'closed');
});

t.test('results that break a rule are no success of the sender', async (t) => {
  const { breakers, conclude, dropped, entryOf } = concluding();
  const queue = new ContractQueue('contract', 'owner');
  const image = { image: 'sum:1', imageHash: 'ab' };
  const call = (cause: Error) =>
    conclude.outcome(queue, entryOf('alice'), {} as Tx, image, success(), () => {
      throw cause;
    });
  t.equal(call(apiError('SignerAway')), 'stop');
  t.equal(breakers.isFailing('contract', 'alice'), false, 'the contract has done its part');
  t.strictSame(dropped, []);
  for (let calls = 1; calls <= FAILURES_MAX; calls++) {
    t.equal(breakers.state('contract', 'alice'), 'closed');
    t.equal(call(refused('two keys are the same')), 'next');
    t.equal(breakers.isFailing('contract', 'alice'), true, 'its next calls give way');
    t.equal(dropped.length, calls, 'each leaves the pool');
  }
  t.equal(breakers.state('contract', 'alice'), 'open');
  t.equal(breakers.state('contract', 'bob'), 'closed');
});
