import t from 'tap';
import { apiError } from '../../src/base/errors.ts';
import type { Clock } from '../../src/base/ports/clock.ts';
import type {
  Containers,
  ContractImage,
  ContractOutcome,
  DataEntry,
} from '../../src/base/ports/containers.ts';
import { base58 } from '../../src/codec/text.ts';
import { ContractPacker } from '../../src/contracts/contract-packer.ts';
import { FAILURES_MAX } from '../../src/contracts/execution/circuit-breakers.ts';
import { createExecutions } from '../../src/contracts/execution/executions.ts';
import { ATTEMPTS_MAX } from '../../src/contracts/execution/repetitions.ts';
import type { NodePorts } from '../../src/node/node.ts';
import { patternsHere } from '../../src/rest/key-filter.ts';
import { EXECUTED_TX_BYTES_MAX } from '../../src/tx/size.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { makeBlock } from '../chain/make-block.ts';
import { type Account, ROUND_MS } from '../node/in-process.ts';
import { hashOfImage, integer, type Program, success } from '../simulated/containers.ts';
import { callOf, groupOf } from './atomic-groups.ts';
import { add, type ContractNode, contractNode, sum, TIMEOUT_MS } from './contract-node.ts';

const SUCCESS = 'Success null Contract transaction successfully mined';

interface Script {
  readonly program: Program;
  outcome: ContractOutcome | 'never';
  /** Ids of the calls that began. */
  readonly calls: string[];
}

/** Answers a call with what the test has set. */
function scripted(): Script {
  const script: Script = {
    outcome: success(),
    calls: [],
    program({ transaction }) {
      if (transaction.data.kind === 'create') return success();
      script.calls.push(transaction.id);
      return script.outcome === 'never' ? new Promise(() => {}) : script.outcome;
    },
  };
  return script;
}

const random = { bytes: (count: number) => new Uint8Array(count).fill(9) };

const isWaiting = ({ at }: ContractNode, tx: Tx): boolean => at.node.pool.get(tx.id) !== undefined;

t.test('what the outcome of a call means for the pool, and what is said', async (t) => {
  const script = scripted();
  const node = await contractNode(t, { scripted: script.program });
  const contract = await node.created('scripted');
  const timeout = `Contract '${base58.encode(contract.id)}' execution timeout`;
  const error = (code: number): ContractOutcome => ({ kind: 'error', code, message: 'no' });
  const failure = (recoverable: boolean): ContractOutcome => ({
    kind: 'failure',
    message: 'broken',
    recoverable,
    system: true,
  });
  const entry = (key: string): DataEntry => integer(key, 1n);
  const big = new Uint8Array(EXECUTED_TX_BYTES_MAX);
  const cases: readonly (readonly [ContractOutcome | 'never', 'leaves' | 'stays', string])[] = [
    [error(0), 'leaves', 'Error 0 no'],
    [error(1), 'stays', 'Failure 1 no'],
    [error(2), 'leaves', 'Error 2 no'],
    [error(3), 'leaves', 'Error 3 no'],
    [error(42), 'leaves', "Error 42 no Unknown contract execution error code '42'"],
    [failure(true), 'stays', 'Failure 1 broken'],
    [failure(false), 'leaves', 'Failure null broken'],
    ['never', 'stays', `Failure 1 ${timeout}`],
    [
      success(entry('a'), entry('a')),
      'leaves',
      'Failure null Results with duplicate keys were found',
    ],
    [success(entry('')), 'leaves', 'Failure null Result with empty key was found'],
    [
      success(entry('k'.repeat(101))),
      'leaves',
      'Failure null Too big sequences requested: key of 101 characters',
    ],
    [
      success(integer('n', 2n ** 63n)),
      'leaves',
      "Failure null Result 'n' is not an integer of 64 bits",
    ],
    [
      success({ key: 's', type: 'string', value: '\ud800' }),
      'leaves',
      'Failure null Results with text that is no Unicode were found',
    ],
    [
      success({ key: 'b', type: 'binary', value: big }),
      'leaves',
      'Failure null Too big sequences requested: results of too many bytes',
    ],
  ];
  for (const [outcome, then, status] of cases) {
    script.outcome = outcome;
    const call = await node.call(contract);
    t.same(await node.at.mine(), [], `${status}: nothing on the chain`);
    t.equal(isWaiting(node, call), then === 'stays', `${status}: ${then}`);
    t.same(node.statuses(call), [status]);
    if (then === 'leaves') continue;
    script.outcome = success();
    await node.at.mine();
    if (isWaiting(node, call)) await node.at.mine();
    t.equal(isWaiting(node, call), false, `${status}: a later round has success`);
    t.same(node.statuses(call).at(-1), SUCCESS);
  }
});

t.test('results may fill a block transaction to its last byte', async (t) => {
  const script = scripted();
  const node = await contractNode(t, { scripted: script.program });
  const contract = await node.created('scripted');
  const withBytes = async (length: number): Promise<Tx> => {
    script.outcome = success({ key: 'b', type: 'binary', value: new Uint8Array(length) });
    return node.call(contract);
  };
  await withBytes(1_000);
  const [small] = await node.at.mine();
  const around = small!.bytes.length - 1_000;
  const fits = await withBytes(EXECUTED_TX_BYTES_MAX - around);
  const [largest] = await node.at.mine();
  t.equal(largest?.bytes.length, EXECUTED_TX_BYTES_MAX);
  t.same(node.statuses(fits), [SUCCESS]);
  const tooBig = await withBytes(EXECUTED_TX_BYTES_MAX - around + 1);
  t.same(await node.at.mine(), []);
  t.match(node.statuses(tooBig), [
    `Failure null Too big sequences requested: a transaction of ${EXECUTED_TX_BYTES_MAX + 1} bytes`,
  ]);
  t.equal(isWaiting(node, tooBig), false);
});

t.test('scenario 81: an image with another id, and one that is not there', async (t) => {
  const node = await contractNode(t, { sum });
  const wrong = await node.create('sum', { imageHash: hashOfImage('other') });
  const absent = await node.create('absent');
  const paid = node.at.transfer(node.owner, node.at.accounts[1], 1);
  await node.at.node.pool.submit(paid);
  t.match(await node.at.mine(), [{ id: paid.id }], 'other transactions are unaffected');
  t.same(node.statuses(wrong), ["Failure null Image 'sum' is not found"]);
  t.match(node.statuses(absent), ["Failure null Image 'absent' is not found"]);
  t.equal(node.at.node.pool.size(), 0);
});

t.test('scenario 87: a sender who was banned after the pool had the call', async (t) => {
  let runs = 0;
  const node = await contractNode(t, {
    counted() {
      runs++;
      return success();
    },
  });
  const { at, owner } = node;
  const [, developer] = at.accounts;
  const permit = (role: string) =>
    at.send(owner, { type: 102, target: developer.text, opType: 'add', role });
  await permit('contract_developer');
  await at.node.pool.submit(at.transfer(owner, developer, 500_000_000));
  await at.mine();
  const ban = await permit('banned');
  const create = await at.send(developer, {
    type: 103,
    image: 'counted',
    imageHash: hashOfImage('counted'),
    contractName: 'x',
    params: [],
  });
  t.match(await at.mine(), [{ id: ban.id }]);
  // It is judged once its container is ready.
  t.same(await at.mine(), []);
  t.equal(runs, 0);
  t.match(node.statuses(create), [/^Failure null .*'banned'/]);
  t.equal(isWaiting(node, create), false);
});

const signOf =
  ({ at }: ContractNode, { privateKey }: Account) =>
  (message: Uint8Array) =>
    at.family.sign(privateKey, message, random);

function createPacker(
  node: ContractNode,
  miner: Account,
  clock: Clock,
  mayExecute: boolean,
  containers: Containers = node.containers,
): ContractPacker {
  const { pool, blockchain } = node.at.node;
  const packer = new ContractPacker(
    { parallelism: 1, perContainer: 1, timeoutMs: 1e3, phaseMs: 5e3, graceMs: 0 },
    {
      ...{ containers, pool, clock, view: blockchain.view, addresses: () => [] },
      signer: { publicKey: miner.publicKey, sign: signOf(node, miner) },
      executions: createExecutions(1e3, {
        clock,
        random: { bytes: (count) => new Uint8Array(count) },
        hash: (bytes) => bytes,
      }),
      keyFilter: async () => async (keys) => keys.map(() => true),
      mayExecute: () => mayExecute,
      report: () => undefined,
      observe: () => undefined,
    },
  );
  packer.start();
  return packer;
}

/** Packs a block as this miner, with what an engine runs, and forgets it. */
function packerOf(node: ContractNode, miner: Account, clock: Clock = node.at.clock) {
  const { at } = node;
  const { blockchain } = at.node;
  const packer = createPacker(node, miner, clock, true);
  const [owner] = at.accounts;
  const generator = { ...owner, sign: signOf(node, owner) };
  /** Ids of what the block has. */
  return async (contractDeadline = at.clock.now() + 1_000): Promise<readonly string[]> => {
    let ids: readonly string[] = [];
    const time = at.clock.now() + ROUND_MS;
    const enough = new Error('enough');
    await makeBlock(blockchain, generator, time, async (draft, _limits, block) => {
      await packer.fill(block, { contractDeadline });
      ids = draft.txs.map((tx) => base58.encode((tx.def.inner?.(tx) ?? tx).id));
      throw enough;
    }).catch((cause: unknown) => {
      if (cause !== enough) throw cause;
    });
    return ids;
  };
}

t.test('a node that may not execute starts no containers', async (t) => {
  const node = await contractNode(t, { sum });
  const contract = await node.created('sum');
  for (const mayExecute of [false, true]) {
    const asked: string[] = [];
    const containers = {
      ...node.containers,
      prepare(image: ContractImage) {
        asked.push(image.image);
        return { kind: 'starting' } as const;
      },
    };
    const packer = createPacker(node, node.owner, node.at.clock, mayExecute, containers);
    await node.call(contract, add(mayExecute ? 1 : 2));
    packer.stop();
    t.same(asked, mayExecute ? ['sum'] : []);
  }
});

t.test('a miner that is banned executes nothing, and drops no calls', async (t) => {
  let runs = 0;
  const counted: Program = () => {
    runs++;
    return success();
  };
  const node = await contractNode(t, { counted });
  const { at, owner } = node;
  const [, other] = at.accounts;
  const contract = await node.created('counted');
  await at.send(owner, { type: 102, target: other.text, opType: 'add', role: 'banned' });
  await at.mine();
  const call = await node.call(contract);
  const contractId = base58.encode(contract.id);
  const end = await at.send(owner, { type: 106, contractId, timestamp: call.timestamp + 1 });
  const [called, ended] = [call, end].map(({ id }) => base58.encode(id));
  t.same(await packerOf(node, other)(), [ended], 'what needs no right of the miner is packed');
  t.equal(runs, 1, 'the creation');
  t.same(await packerOf(node, owner)(), [called, ended]);
  t.equal(runs, 2, 'the call for who may');
  t.ok(isWaiting(node, call));
});

t.test('a miner that its own block bans executes nothing in it', async (t) => {
  let runs = 0;
  const counted: Program = () => {
    runs++;
    return success();
  };
  const node = await contractNode(t, { counted });
  const { at, owner } = node;
  const [, other] = at.accounts;
  const contract = await node.created('counted');
  const call = await node.call(contract);
  const pack = packerOf(node, other);
  await pack();
  t.equal(runs, 2, 'the creation, and the call while it may');
  const ban = { type: 102, target: other.text, opType: 'add', role: 'banned' };
  const { id } = await at.send(owner, ban);
  t.same(await pack(), [base58.encode(id)]);
  t.equal(runs, 2);
  t.ok(isWaiting(node, call));
});

t.test('what has failed is not executed again in its round', async (t) => {
  const script = scripted();
  const node = await contractNode(t, { scripted: script.program });
  const contract = await node.created('scripted');
  script.outcome = { kind: 'error', code: 1, message: 'later' };
  await node.call(contract);
  const { clock } = node.at;
  let pausedMs = 0;
  const later: Clock = { ...clock, monotonic: () => clock.monotonic() + pausedMs };
  const pack = packerOf(node, node.owner, later);
  const deadline = clock.now() + 1_000;
  await pack(deadline);
  t.equal(script.calls.length, 1);
  pausedMs += 60_000;
  await pack(deadline);
  t.equal(script.calls.length, 1, 'its block is made anew, and the pause is over');
  await pack(deadline + 1);
  t.equal(script.calls.length, 2, 'another round');
});

t.test('what has failed gives way, also where its sender had success since', async (t) => {
  const begun: string[] = [];
  const node = await contractNode(t, {
    repeating({ transaction: { data, id, params } }) {
      if (data.kind === 'create') return success();
      begun.push(id);
      return params.length === 0 ? success() : { kind: 'error', code: 1, message: 'later' };
    },
  });
  const { at, owner } = node;
  const [, caller] = at.accounts;
  await at.node.pool.submit(at.transfer(owner, caller, 500_000_000));
  const contract = await node.created('repeating');
  const contractId = base58.encode(contract.id);
  const again = { params: [{ key: 'again', type: 'integer', value: 1 }] };
  const failing = await at.send(caller, { type: 104, contractId, ...again });
  const timestamp = failing.timestamp + 1;
  const good = await at.send(caller, { type: 104, contractId, params: [], timestamp });
  await at.mine();
  const other = await node.call(contract);
  await at.mine();
  const names = [failing, good, other, failing].map(({ id }) => base58.encode(id));
  t.same(begun, names);
});

t.test('a contract that never ends delays no round, and gives way to others', async (t) => {
  const script = scripted();
  const node = await contractNode(t, { scripted: script.program, sum });
  const [stuck, other] = [await node.created('scripted'), await node.created('sum')];
  script.outcome = 'never';
  const call = await node.call(stuck);
  const next = await node.call(stuck, { fee: 10_000_001 });
  const rounds: number[] = [];
  for (let i = 0; i < 4; i++) {
    const quick = await node.call(other, { fee: 10_000_000 + i });
    t.ok(node.executed(await node.at.mine()).includes(base58.encode(quick.id)));
    rounds.push(node.at.node.blockchain.tip().header.timestamp);
  }
  const lengths = rounds.slice(1).map((at, i) => at - rounds[i]!);
  t.equal(new Set(lengths).size, 1, 'every round has its block');
  t.ok(isWaiting(node, call) && isWaiting(node, next));
  const attempts = script.calls.filter((id) => id === base58.encode(call.id));
  t.ok(attempts.length >= 2, 'it is tried again in later rounds');
  t.match(node.statuses(call), { length: 1 }, 'which is no news');
  t.ok(TIMEOUT_MS < lengths[0]!);
});

t.test('a call that is a little late costs its round, and not its container', async (t) => {
  let lateMs = 0;
  const node = await contractNode(
    t,
    {
      async late(_, wait) {
        await wait(lateMs);
        return success(integer('done', 1n));
      },
    },
    { timeoutMs: 100_000 },
  );
  const contract = await node.created('late');
  const { roundDuration } = node.at.config.blockchain.consensus;
  for (const [ms, replaced] of [
    [roundDuration.ms - 400, 0],
    [roundDuration.ms * 3, 1],
  ] as const) {
    lateMs = ms;
    const call = await node.call(contract);
    t.same(await node.at.mine(), []);
    t.match(node.statuses(call), [/^Failure 1 .* execution timeout$/]);
    t.equal(node.containers.replaced, replaced);
    lateMs = 0;
    await node.at.mine();
    t.equal(isWaiting(node, call), false);
    t.same(node.state(contract), { done: 1n });
  }
});

t.test(
  'a contract that fails again and again rests, and then loses its transactions',
  async (t) => {
    const script = scripted();
    const node = await contractNode(t, { scripted: script.program });
    const contract = await node.created('scripted');
    script.outcome = { kind: 'failure', message: 'broken', recoverable: true, system: false };
    const calls: Tx[] = [];
    for (let i = 0; i < 10; i++) calls.push(await node.call(contract, { fee: 10_000_000 + i }));
    await node.at.mine();
    t.same(
      calls.map((call) => node.statuses(call)),
      calls.map(() => ['Failure 1 broken']),
      'ten failures in one round',
    );
    let rounds = 0;
    while (node.at.node.pool.size() > 0 && rounds < 40) {
      await node.at.mine();
      rounds++;
    }
    t.ok(rounds < 40, `its transactions leave the pool in the end, after ${rounds} rounds`);
    t.same(node.statuses(calls.at(-1)!).at(-1), 'Failure null The contract has failed too often');
  },
);

t.test('an outage around a contract holds up its calls, and ends none', async (t) => {
  const script = scripted();
  const node = await contractNode(t, { scripted: script.program });
  const contract = await node.created('scripted');
  script.outcome = { kind: 'failure', message: 'broken', recoverable: true, system: true };
  const calls: Tx[] = [];
  for (let i = 0; i < 10; i++) calls.push(await node.call(contract, { fee: 10_000_000 + i }));
  for (let rounds = 0; rounds < 60; rounds++) await node.at.mine();
  t.ok(
    calls.every((call) => isWaiting(node, call)),
    'ten minutes later all of them wait',
  );
  t.ok(script.calls.length > FAILURES_MAX, 'and are tried again');
  script.outcome = success();
  for (let rounds = 0; rounds < 20 && node.at.node.pool.size() > 0; rounds++) await node.at.mine();
  t.same(
    calls.map((call) => node.statuses(call).at(-1)),
    calls.map(() => SUCCESS),
  );
});

t.test('a call that asks to be repeated has few attempts, and others go on', async (t) => {
  let runs = 0;
  const node = await contractNode(t, {
    repeating({ transaction: { data, params } }) {
      if (data.kind === 'create' || params.length === 0) return success();
      runs++;
      return { kind: 'error', code: 1, message: 'later' };
    },
  });
  const { at, owner } = node;
  const [, caller] = at.accounts;
  await at.node.pool.submit(at.transfer(owner, caller, 500_000_000));
  const contract = await node.created('repeating');
  const contractId = base58.encode(contract.id);
  const param = { params: [{ key: 'again', type: 'integer', value: 1 }] };
  const failing = await at.send(caller, { type: 104, contractId, ...param });
  let rounds = 0;
  for (; isWaiting(node, failing) && rounds < 60; rounds++) {
    const good = await node.call(contract, { fee: 10_000_000 + rounds });
    t.same(node.executed(await at.mine()), [base58.encode(good.id)]);
  }
  t.equal(runs, ATTEMPTS_MAX);
  t.ok(rounds > 2 * ATTEMPTS_MAX, `further apart each time, over ${rounds} rounds`);
  t.equal(
    node.statuses(failing).at(-1),
    'Failure null The transaction has failed too often: later',
  );
});

t.test('one caller of code 1 rests, and the calls of others go on', async (t) => {
  let runs = 0;
  const node = await contractNode(t, {
    repeating({ transaction: { data, params } }) {
      if (data.kind === 'create' || params.length === 0) return success();
      runs++;
      return { kind: 'error', code: 1, message: 'later' };
    },
  });
  const { at, owner } = node;
  const [, caller] = at.accounts;
  await at.node.pool.submit(at.transfer(owner, caller, 5_000_000_000));
  const contract = await node.created('repeating');
  const contractId = base58.encode(contract.id);
  for (let i = 0; i < 30; i++) {
    const params = [{ key: 'again', type: 'integer', value: i }];
    await at.send(caller, { type: 104, contractId, params });
  }
  const good = await node.call(contract);
  t.same(node.executed(await at.mine()), [base58.encode(good.id)]);
  t.equal(runs, FAILURES_MAX);
});

t.test('what was mined returns to the pool with its block, and is executed anew', async (t) => {
  const node = await contractNode(t, { sum });
  const contract = await node.created('sum');
  const { blockchain, pool } = node.at.node;
  const before = blockchain.tip().height;
  const call = await node.call(contract, { params: [{ key: 'add', type: 'integer', value: 5 }] });
  const [first] = await node.at.mine();
  // The newest sealed block alone would come back as it was.
  await node.at.mine();
  await blockchain.rollback(before);
  await pool.readmitted();
  t.ok(isWaiting(node, call));
  t.same(node.state(contract), { sum: 0n });
  const [second] = await node.at.mine();
  t.same(second?.def.inner?.(second).id, call.id);
  t.notSame(second?.id, first?.id);
  t.same(node.state(contract), { sum: 5n });
});

t.test('a node that stops gives up what runs, and loses nothing', async (t) => {
  const script = scripted();
  const node = await contractNode(t, { scripted: script.program });
  const contract = await node.created('scripted');
  script.outcome = 'never';
  const call = await node.call(contract);
  await node.at.clock.advance(9_500);
  for (let i = 0; i < 100 && node.containers.running === 0; i++) await node.at.clock.advance(100);
  t.equal(node.containers.running, 1);
  const stopped = node.at.stop();
  await node.at.clock.advance(1);
  await stopped;
  t.equal(node.containers.running, 0);
  const again = await node.at.restart();
  t.ok(again.node.pool.get(call.id), 'the pool has it after the next start');
});

t.test('a sender whose calls are refused delays no other', async (t) => {
  const begun: string[] = [];
  const node = await contractNode(t, {
    shared({ transaction: { data, params, sender } }) {
      if (data.kind === 'create') return success();
      begun.push(sender);
      return params.length === 0 ? success() : { kind: 'error', code: 2, message: 'no' };
    },
  });
  const { at, owner } = node;
  const [, hostile] = at.accounts;
  await at.node.pool.submit(at.transfer(owner, hostile, 5_000_000_000));
  const contract = await node.created('shared');
  const contractId = base58.encode(contract.id);
  for (let i = 0; i < 30; i++) {
    const params = [{ key: 'wrong', type: 'integer', value: i }];
    await at.send(hostile, { type: 104, contractId, params });
  }
  const good = await node.call(contract);
  t.same(node.executed(await at.mine()), [base58.encode(good.id)]);
  t.equal(begun.length, 31);
  t.ok(begun.indexOf(owner.text) <= 1, `at place ${begun.indexOf(owner.text)}`);
});

t.test('a call that uses up its work of patterns takes none from others', async (t) => {
  const busy = () => Promise.reject(apiError('Overloaded'));
  const around = (ports: NodePorts) => ({ ...ports, patterns: { match: busy } });
  // The engine of patterns is loaded from the disk, which takes time that this clock does not show.
  await patternsHere.match('', [], '');
  const begun: string[] = [];
  const matching: Program = async ({ transaction: { contractId, data, params }, reads }) => {
    if (data.kind === 'create') return success();
    const isGreedy = params.length > 0;
    const query = { offset: 0, limit: 0, matches: 'a{900}', keys: undefined };
    const open = () => reads.contractEntries(contractId, query);
    await open();
    const spendAll = async (): Promise<void> => {
      for (;;) await open();
    };
    if (isGreedy) await t.rejects(spendAll(), { code: 503 });
    begun.push(isGreedy ? 'greedy' : 'good');
    return success();
  };
  const node = await contractNode(t, { matching }, { around });
  const contract = await node.created('matching');
  const timestamp = node.at.clock.now();
  await node.call(contract, { ...add(1), timestamp });
  await node.call(contract, { timestamp: timestamp + 1 });
  t.equal((await node.at.mine()).length, 2);
  t.same(begun, ['greedy', 'good']);
});

t.test('a node that stops while it packs plain transactions runs no group', async (t) => {
  let runs = 0;
  const node = await contractNode(t, {
    sum(execution, wait) {
      runs++;
      return sum(execution, wait);
    },
  });
  const { at, owner } = node;
  const counter = await node.created('sum');
  const before = runs;
  await at.send(owner, { type: 4, recipient: owner.text, amount: 1, attachment: '' });
  const calls = [5, 6].map((value) => callOf(node, counter, add(value)));
  await at.node.pool.submit(groupOf(node, calls));
  const packer = createPacker(node, owner, at.clock, true);
  const generator = { ...owner, sign: signOf(node, owner) };
  const contractDeadline = at.clock.now() + 1e4;
  const time = at.clock.now() + ROUND_MS;
  await makeBlock(at.node.blockchain, generator, time, async (draft, _limits, block) => {
    const stopping = {
      ...draft,
      add(...added: Parameters<typeof draft.add>) {
        packer.stop();
        return draft.add(...added);
      },
    };
    await packer.fill({ ...block, draft: stopping }, { contractDeadline });
    t.strictSame(
      draft.txs.map(({ type }) => type),
      [4],
    );
  });
  t.equal(runs, before);
});
