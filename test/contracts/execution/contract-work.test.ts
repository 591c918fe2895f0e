// In which order a contract transaction is looked at before it runs.

import t from 'tap';
import { latin1 } from '../../../src/base/bytes.ts';
import { refused } from '../../../src/base/errors.ts';
import type {
  ContractExecution,
  ContractFailure,
  Readiness,
} from '../../../src/base/ports/containers.ts';
import type { BlockDraft } from '../../../src/chain/apply/block-draft.ts';
import { blockAt } from '../../../src/chain/store/stored-blocks.ts';
import {
  type BlockInWork,
  createBlockInWork,
} from '../../../src/contracts/execution/block-in-work.ts';
import { createCircuitBreakers } from '../../../src/contracts/execution/circuit-breakers.ts';
import {
  createWork,
  type Started,
  type WorkPorts,
} from '../../../src/contracts/execution/contract-work.ts';
import { createPhaseRoom } from '../../../src/contracts/execution/phase-room.ts';
import { ATTEMPTS_MAX, createRepetitions } from '../../../src/contracts/execution/repetitions.ts';
import { createRunTimes } from '../../../src/contracts/execution/run-times.ts';
import { createCreateVersions } from '../../../src/contracts/images/create-versions.ts';
import { createImageLoads } from '../../../src/contracts/images/image-loads.ts';
import type { StatusReport } from '../../../src/contracts/statuses/status-report.ts';
import { ContractQueue } from '../../../src/contracts/waiting/contract-queue.ts';
import type { PoolEntry } from '../../../src/mempool/entries/entry.ts';
import { unchecked } from '../../../src/tx/proof-verdicts.ts';
import { createContract } from '../../../src/tx/types/103-create-contract.ts';
import { mine, newChain, nextTurn, signed, users } from '../../chain/chain-harness.ts';
import { makeBlock } from '../../chain/make-block.ts';
import { fakeClock } from '../../node/fake-clock.ts';

const LIMIT_MS = 1000;

/** Looks at a creation whose container is as given, with so much time left. */
async function looked(readiness: Readiness, leftMs: number) {
  const at = await newChain();
  await mine(at);
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  const image = { image: 'sum:1', imageHash: 'ab'.repeat(32) };
  const fields = { ...image, contractName: 'sum', params: [], timestamp: time, fee: 100_000_000n };
  const tx = signed(createContract, users[0], fields as never, 1);
  const { header } = blockAt(at.blockchain.view, 2)!;
  const { type } = createContract;
  const of = { verdicts: unchecked(tx), def: { type }, size: tx.bytes.length };
  const entry = { key: 'key', sender: 'alice', ...of } as unknown as PoolEntry;
  const asked: string[] = [];
  let step: unknown;
  await makeBlock(at.blockchain, miner, time, async (draft) => {
    const checking: BlockDraft = {
      ...draft,
      check() {
        asked.push('check');
        throw refused('no');
      },
    };
    const ports = { clock: at.clock, signer: miner };
    const block = createBlockInWork(checking, header, createPhaseRoom(1e6, 10), 1e6, ports);
    const clock = { monotonic: () => 0, now: () => at.clock.now() };
    const begin = createWork(
      block,
      createImageLoads(1),
      { limitMs: LIMIT_MS, graceMs: 0, checkMs: 0 },
      {
        clock,
        prepare() {
          asked.push('prepare');
          return readiness;
        },
        pool: { decode: () => tx, drop: () => undefined, refuse: () => undefined },
        breakers: createCircuitBreakers(clock),
        repetitions: createRepetitions(clock),
        createVersions: createCreateVersions(),
        times: createRunTimes(),
        report: () => undefined,
        failed: new Set(),
      } as unknown as WorkPorts,
    );
    step = begin(new ContractQueue('key'), entry, leftMs);
  });
  return { asked, step };
}

t.test('what waits for its container is not tried against the block', async (t) => {
  const { asked, step } = await looked({ kind: 'starting' }, LIMIT_MS);
  t.same(asked, ['prepare']);
  t.match(step, { cold: /sum:1/ });
});

t.test('what is ready is tried against the block before it runs', async (t) => {
  t.same(await looked({ kind: 'ready' }, LIMIT_MS), { asked: ['prepare', 'check'], step: 'next' });
});

t.test('a container starts, or its failure is told, also where no time is left', async (t) => {
  const failure: ContractFailure = {
    ...{ kind: 'failure', message: 'not found', recoverable: false, system: true },
  };
  t.match(await looked({ kind: 'starting' }, 0), { step: { cold: String } });
  t.same(await looked(failure, 0), { asked: ['prepare'], step: 'next' });
  t.same(await looked({ kind: 'ready' }, 0), { asked: ['prepare'], step: 'stop' });
});

t.test('a registry that does not answer ends no update', async (t) => {
  const clock = { monotonic: () => 0, now: () => 0, after: () => () => undefined };
  const passing = { kind: 'failure', message: 'away', recoverable: true, system: true };
  const dropped: string[] = [];
  const block = {
    room: { fits: () => true, reserve: () => undefined, release: () => undefined },
    draft: { check: () => undefined },
    executedHere: () => undefined,
  } as unknown as BlockInWork;
  const begin = createWork(
    block,
    createImageLoads(1),
    { limitMs: LIMIT_MS, graceMs: 0, checkMs: 0 },
    {
      clock,
      checks: { check: () => Promise.resolve(passing) },
      pool: {
        decode: () => ({ type: 107, fields: { image: 'sum:1', imageHash: 'ab' } }),
        drop: (_: unknown, { message }: Error) => dropped.push(message),
      },
      breakers: createCircuitBreakers(clock),
      repetitions: createRepetitions(clock),
      createVersions: createCreateVersions(),
      report: () => undefined,
      failed: { has: () => false, add: () => undefined },
    } as unknown as WorkPorts,
  );
  const entry = { key: '', sender: 'alice', def: { type: 107 }, size: 1 } as unknown as PoolEntry;
  for (let i = 0; i < 2 * ATTEMPTS_MAX; i++) {
    const step = begin(new ContractQueue(''), entry, LIMIT_MS) as Started;
    t.equal((await step.ended)(), 'next');
  }
  t.same(dropped, []);
});

/** A call that is given up before the limit, and ends so long afterwards. */
async function givenUp(endsAfterMs: number, isRemoved = false) {
  const at = await newChain();
  await mine(at);
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  const clock = fakeClock(time);
  const image = { image: 'sum:1', imageHash: 'ab'.repeat(32) };
  const fields = { ...image, contractName: 'sum', params: [], timestamp: time, fee: 100_000_000n };
  const tx = signed(createContract, users[0], fields as never, 1);
  const { header } = blockAt(at.blockchain.view, 2)!;
  const def = { type: createContract.type };
  const of = { verdicts: unchecked(tx), def, size: tx.bytes.length };
  const entry = { key: latin1(tx.id), sender: 'alice', ...of } as unknown as PoolEntry;
  const reports: unknown[] = [];
  const repetitions = createRepetitions(clock);
  const times = createRunTimes();
  const room = createPhaseRoom(1e6, 1);
  const hasRoom: boolean[] = [];
  await makeBlock(at.blockchain, miner, time, async (draft) => {
    const ports = { clock: at.clock, signer: miner };
    const checking: BlockDraft = { ...draft, check: () => undefined };
    const block = createBlockInWork(checking, header, room, 1e6, ports);
    const begin = createWork(
      block,
      createImageLoads(1),
      { limitMs: LIMIT_MS, graceMs: 100, checkMs: 0 },
      {
        ...{ clock, breakers: createCircuitBreakers(clock), repetitions, times },
        prepare: () => ({ kind: 'ready' }),
        users: { ran: () => undefined },
        pool: { decode: () => tx, drop: () => undefined, refuse: () => undefined },
        createVersions: createCreateVersions(),
        executions: { begin: () => 'token', end: () => undefined },
        containers: {
          run: ({ signal }: ContractExecution) =>
            new Promise((resolve) => {
              const end = () => resolve({ kind: 'success', results: [] });
              clock.after(LIMIT_MS / 2 + endsAfterMs, end);
              signal?.addEventListener('abort', end);
            }),
        },
        report: (report: StatusReport) => reports.push(report.status),
        observe: () => undefined,
        failed: new Set(),
      } as unknown as WorkPorts,
    );
    const queue = new ContractQueue('key');
    const step = begin(queue, entry, LIMIT_MS) as Started;
    await clock.advance(LIMIT_MS / 2);
    hasRoom.push(room.fits(1));
    step.abandon(false);
    hasRoom.push(room.fits(1));
    if (isRemoved) Object.assign(entry, { removed: true });
    await clock.advance(1_000);
  });
  return { reports, hasFailed: repetitions.has(entry.key), hasRoom };
}

t.test('a call that is given up and does not end has failed, however short it ran', async (t) => {
  t.match(await givenUp(50), { reports: [], hasFailed: false }, 'it ended in the grace');
  t.match(await givenUp(5_000), { reports: ['Failure'], hasFailed: true });
  t.match(
    await givenUp(5_000, true),
    { reports: [], hasFailed: false },
    'a block has it meanwhile',
  );
});

t.test('a call that is given up leaves its room in the block to others', async (t) => {
  t.strictSame((await givenUp(50)).hasRoom, [false, true]);
});
