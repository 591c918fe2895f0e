// What atomic transactions with contracts that get into no block cost a miner and others.
import t from 'tap';
import { latin1 } from '../../src/base/bytes.ts';
import type { ContractExecution, ContractFailure } from '../../src/base/ports/containers.ts';
import { FAILURES_MAX } from '../../src/contracts/execution/circuit-breakers.ts';
import { membersOf } from '../../src/tx/members.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import type { Account } from '../node/in-process.ts';
import { hashOfImage, type Program, success } from '../simulated/containers.ts';
import type { Scope } from '../system/e2e/process.ts';
import {
  banOf,
  callOf,
  creationOf,
  groupOf,
  inPool,
  transferOf,
  types,
  updateOf,
} from './atomic-groups.ts';
import { add, type ContractNode, contractNode, START_MS, sum } from './contract-node.ts';

/** The keys of the atomic transactions that are decoded from now on. */
function decodedGroups({ at }: ContractNode): string[] {
  const { pool } = at.node;
  const { decode } = pool;
  const decoded: string[] = [];
  pool.decode = (entry) => {
    if (entry.memberTypes !== undefined) decoded.push(entry.key);
    return decode.call(pool, entry);
  };
  return decoded;
}

const DEVELOPER = 'contract_developer';

/** What a program that the test sets does with calls, and how many there were. */
function counted(program: Program): { readonly program: Program; runs: number } {
  const counting = {
    runs: 0,
    program: ((execution, wait) => {
      if (execution.transaction.data.kind === 'create') return sum(execution, wait);
      counting.runs++;
      return program(execution, wait);
    }) as Program,
  };
  return counting;
}

const mined = async ({ at }: ContractNode): Promise<readonly Tx[]> =>
  await at.mine().catch((): readonly Tx[] => []);

const slowly: Program = async (execution, wait) => {
  await wait(2_800);
  return sum(execution, wait);
};

t.test('nothing runs before the images of updates are checked', async (t) => {
  const slow = counted(slowly);
  let answer = (_: ContractFailure | undefined): void => {};
  let check: Promise<ContractFailure | undefined> = new Promise((resolve) => {
    answer = resolve;
  });
  const node = await contractNode(
    t,
    { sum, slow: slow.program },
    {
      engine: { checkImage: () => check },
    },
  );
  const { at } = node;
  const [, somebody] = at.accounts;
  const late = await node.created('slow');
  const counter = await node.created('sum');
  const call = callOf(node, late, add(1));
  const group = groupOf(node, [call, updateOf(node, counter, 'other')]);
  await at.node.pool.submit(group);
  t.strictSame(types(await at.mine()), []);
  t.equal(slow.runs, 0);
  t.equal(inPool(node, group), true);
  t.match(node.statuses(call), [/^Failure 1 .*The check of its image has taken too long$/]);
  const other = groupOf(
    node,
    [callOf(node, counter, add(5), somebody), callOf(node, counter, add(6), somebody)],
    {},
    somebody,
  );
  await at.node.pool.submit(other);
  t.strictSame(types(await at.mine()), [120], 'others are executed');
  t.equal(slow.runs, 0);
  answer(undefined);
  check = Promise.resolve(undefined);
  for (let i = 0; i < 20 && inPool(node, group); i++) await at.mine();
  t.equal(at.node.pool.dropped(group.id), undefined);
  t.equal(inPool(node, group), false, 'it is held up, and not refused');
  t.equal(slow.runs, 1);
});

t.test('a sender with a new slow group for each round does not starve others', async (t) => {
  const slow = counted(async ({ transaction }, wait) => {
    await wait(1_000);
    const isBad = transaction.params[0]!.value === 2n;
    return isBad ? { kind: 'error', code: 2, message: 'no' } : success();
  });
  const node = await contractNode(t, { sum, slow: slow.program, fresh: sum });
  const { at } = node;
  const [, other] = at.accounts;
  const bad = await node.created('slow');
  const made = creationOf(node, 'fresh');
  const honest = groupOf(node, [made, callOf(node, made, add(3))]);
  await at.node.pool.submit(honest);
  const groupBy = (account: Account, values: readonly number[]): Tx => {
    const timestamp = at.clock.now() - (account === other ? 3_600_000 : 0);
    const calls = values.map((value, i) =>
      callOf(node, bad, { ...add(value), timestamp: timestamp + i }, account),
    );
    return groupOf(node, calls, { timestamp }, account);
  };
  for (let i = 0; i < 5; i++) {
    await at.node.pool.submit(groupBy(other, [1, 2]));
    await at.mine();
  }
  t.ok(slow.runs > 0);
  t.equal(inPool(node, honest), false);
  t.strictSame(node.state(made), { sum: 3n });

  // Each needs most of the part of a round.
  for (let i = 0; i < 4; i++) {
    const good = groupBy(node.owner, [1, 3]);
    await at.node.pool.submit(groupBy(other, [1, 2]));
    await at.node.pool.submit(good);
    await at.mine();
    t.equal(inPool(node, good), false, 'and does not even take turns with them');
  }
});

t.test('a group that the end of its part cuts waits longer each time', async (t) => {
  const long: Program = async (execution, wait) => {
    await wait(1_500);
    return sum(execution, wait);
  };
  let isSlow = false;
  const quick = counted(async (execution, wait) => {
    if (isSlow) await wait(3_000);
    return sum(execution, wait);
  });
  const set = ['docker-engine.execution-limits.timeout=2s'];
  const node = await contractNode(t, { long, quick: quick.program }, { set });
  const { at } = node;
  const [, other] = at.accounts;
  const contracts = { long: await node.created('long'), quick: await node.created('quick') };
  const submit = async (image: 'long' | 'quick', by: Account): Promise<Tx> => {
    const pay = transferOf(node, other, BigInt(at.clock.now()));
    const member = by === node.owner ? pay : callOf(node, contracts.quick, add(0), by);
    const group = groupOf(node, [callOf(node, contracts[image], add(1), by), member], {}, by);
    await at.node.pool.submit(group);
    return group;
  };
  for (let i = 0; i < 3; i++) {
    await submit('quick', other);
    t.strictSame(types(await at.mine()), [120]);
  }
  isSlow = true;
  quick.runs = 0;
  const group = await submit('quick', other);
  const rounds = 12;
  for (let i = 0; i < rounds; i++) {
    await submit('long', node.owner);
    t.strictSame(types(await mined(node)), [120]);
  }
  t.match(node.statuses(membersOf(group)[0]!), [/^Failure 1 .* has ended while it ran/]);
  t.ok(quick.runs > 1 && quick.runs < rounds, `${quick.runs} runs`);
});

/** `other` has made a contract that runs `program`; `fresh` are accounts with money. */
async function badCreator(t: Scope, program: Program, accounts = FRESH) {
  const bad = counted(program);
  const quick: Program = async (execution, wait) => {
    if (execution.transaction.params[0]?.value === REFUSED) return REFUSAL;
    if (execution.transaction.data.kind === 'call') await wait(100);
    return sum(execution, wait);
  };
  const node = await contractNode(t, { sum: quick, bad: bad.program }, { timeoutMs: 60_000 });
  const { at } = node;
  const [, other] = at.accounts;
  const counter = await node.created('sum');
  await at.send(node.owner, { type: 102, target: other.text, opType: 'add', role: DEVELOPER });
  await at.mine();
  const contract = await at.send(other, {
    ...{ type: 103, image: 'bad', imageHash: hashOfImage('bad'), contractName: 'bad', params: [] },
  });
  for (let i = 0; i < 3; i++) await at.mine();
  const fresh = Array.from({ length: accounts }, (_, i) => at.newAccount(`one of many ${i}`));
  for (const { text: recipient } of fresh) {
    const pay = { type: 4, version: 2, recipient, amount: 10n ** 9n, attachment: '' };
    await at.send(node.owner, pay);
  }
  await at.mine();
  const submit = async (of: Tx, by: Account, values: readonly number[], ago = 0): Promise<Tx> => {
    const timestamp = at.clock.now() - ago;
    const calls = values.map((value, i) =>
      callOf(node, of, { ...add(value), timestamp: timestamp + i }, by),
    );
    const group = groupOf(node, calls, { timestamp }, by);
    await at.node.pool.submit(group);
    return group;
  };
  /** Whether the honest one of each round gets into its block beside one of `others`. */
  const honestBeside = async (others: readonly Account[]): Promise<readonly boolean[]> => {
    const isIn: boolean[] = [];
    for (const account of others) {
      await submit(contract, account, [1, 2], 10_000);
      const honest = await submit(counter, node.owner, [1, 2]);
      await mined(node);
      isIn.push(!inPool(node, honest));
    }
    return isIn;
  };
  return { node, counter, contract, fresh, submit, honestBeside };
}

const FRESH = 6;
const ALWAYS = Array(FRESH - 1).fill(true);
const REFUSED = 13n;
const REFUSAL = { kind: 'error', code: 2, message: 'no' } as const;
const isSmall = ({ transaction }: ContractExecution): boolean =>
  (transaction.params[0]!.value as bigint) <= 2n;
const hanging: Program = () => new Promise(() => {});
const hangingSometimes: Program = (execution, wait) =>
  isSmall(execution) ? hanging(execution, wait) : success();

t.test('a creator with a new account for each round does not starve others', async (t) => {
  const { fresh, honestBeside } = await badCreator(t, hanging);
  t.strictSame((await honestBeside(fresh)).slice(1), ALWAYS, 'nothing is known of the first');
});

t.test('nor with accounts that have had a success', async (t) => {
  const { node, contract, fresh, submit, honestBeside } = await badCreator(t, hangingSometimes);
  for (const account of fresh) await submit(contract, account, [8, 9]);
  await mined(node);
  await submit(contract, node.at.accounts[1], [8, 9]);
  await mined(node);
  t.strictSame((await honestBeside(fresh)).slice(1), ALWAYS);
});

const SLOW_MS = 3_000;
const twice = { key: 'a', type: 'string', value: 'x' } as const;
const large = Array.from(
  { length: 60 },
  (_, i) => ({ key: `k${i}`, type: 'string', value: 'x'.repeat(30_000) }) as const,
);
for (const [what, outcome] of [
  ['bad results', success(twice, twice)],
  ['results that are too large', success(...large)],
  ['slow refusals', REFUSAL],
] as const) {
  t.test(`nor with ${what}`, async (t) => {
    const { fresh, honestBeside } = await badCreator(t, async (_, wait) => {
      await wait(SLOW_MS);
      return outcome;
    });
    t.strictSame((await honestBeside(fresh)).slice(1), ALWAYS);
  });
}

t.test('nobody makes others pay for calls that their contract refuses', async (t) => {
  const { node, counter, contract, fresh, submit } = await badCreator(t, hangingSometimes);
  const [one, two, three, refused, newcomer] = fresh;
  const bad = [one!, two!, three!];
  for (const account of bad) await submit(contract, account, [8, 9]);
  await mined(node);
  await submit(counter, refused!, [Number(REFUSED), 9]);
  await mined(node);
  const honest = await submit(counter, newcomer!, [1, 2]);
  for (const account of bad) {
    await submit(contract, account, [1, 2]);
    await mined(node);
  }
  t.equal(inPool(node, honest), false);
});

t.test('new accounts with calls that fail quickly fill no part of a round', async (t) => {
  const rounds = 8;
  const each = 4;
  const { node, counter, fresh, submit } = await badCreator(t, hanging, rounds * each + 1);
  const newcomer = fresh.pop()!;
  await submit(counter, node.owner, [1, 2]);
  t.strictSame(types(await mined(node)), [120]);
  // Each call takes so little that its creator owes nothing for it.
  const good = [...Array(9).keys()];
  const wasted = [...good.slice(1), Number(REFUSED)];
  const isIn: boolean[] = [];
  let first: Tx | undefined;
  for (let i = 0; i < rounds; i++) {
    for (const account of fresh.splice(0, each)) await submit(counter, account, wasted, 10_000);
    first ??= await submit(counter, newcomer, good);
    const honest = await submit(counter, node.owner, good);
    await mined(node);
    isIn.push(!inPool(node, honest));
  }
  t.strictSame(isIn, Array(rounds).fill(true));
  t.equal(inPool(node, first!), false, 'nor do they hold up one that nothing is known of');
});

t.test('what gets into the block owes nothing', async (t) => {
  const { node, counter, contract, fresh, submit } = await badCreator(t, async (_, wait) => {
    await wait(SLOW_MS / 10);
    return success();
  });
  const [slow, quick] = [fresh[0]!, fresh[1]!];
  for (const [of, by] of [
    [contract, slow],
    [counter, quick],
  ] as const) {
    await submit(of, by, [1, 2]);
    t.strictSame(types(await mined(node)), [120]);
  }
  const groups = [await submit(counter, quick, [3, 4], 9), await submit(contract, slow, [3, 4])];
  const block = await mined(node);
  const ids = (txs: readonly Tx[]): readonly string[] => txs.map(({ id }) => latin1(id));
  t.strictSame(ids(block), ids(groups.reverse()), 'the one whose turn is longer ago comes first');
});

t.test('no group is decoded to find out which one comes first', async (t) => {
  const { node, counter, contract, fresh, submit } = await badCreator(t, hanging);
  await submit(contract, fresh[0]!, [1, 2]);
  await mined(node);
  for (const account of fresh.slice(1)) await submit(contract, account, [1, 2], 10_000);
  const honest = await submit(counter, node.owner, [1, 2]);
  const decoded = decodedGroups(node);
  await mined(node);
  t.equal(decoded[0], latin1(honest.id));
});

t.test('a group that cannot begin is not decoded', async (t) => {
  let isCold = true;
  const quick: Program = async (execution, wait) => {
    await wait(900);
    return sum(execution, wait);
  };
  const node = await contractNode(
    t,
    { sum, quick, cold: sum },
    {
      engine: {
        prepare(image, version, creator) {
          if (image.image === 'cold' && isCold) return { kind: 'starting' };
          return Object.getPrototypeOf(this).prepare(image, version, creator);
        },
      },
    },
  );
  const { at } = node;
  const counter = await node.created('sum');
  const decoded = decodedGroups(node);
  const made = creationOf(node, 'cold', add(2));
  const group = groupOf(node, [callOf(node, counter, add(5)), made, callOf(node, made, add(3))]);
  await at.node.pool.submit(group);
  for (let i = 0; i < 3; i++) await mined(node);
  t.strictSame(decoded, [], 'its image is not there');
  isCold = false;
  for (let i = 0; i < 3 && inPool(node, group); i++) await mined(node);
  t.strictSame(node.state(made), { sum: 5n });
  t.strictSame(decoded, [latin1(group.id)]);

  const slow = await node.created('quick');
  const calls = [1, 2].map((value) => callOf(node, slow, add(value)));
  const first = groupOf(node, calls);
  await at.node.pool.submit(first);
  await mined(node);
  const timestamp = at.clock.now();
  const more = [1, 2, 3].map((i) => {
    const own = [1, 2].map((value) =>
      callOf(node, slow, { ...add(value), timestamp: timestamp + 10 * i + value }),
    );
    return groupOf(node, own, { timestamp: timestamp + i });
  });
  for (const one of more) await at.node.pool.submit(one);
  decoded.length = 0;
  await mined(node);
  t.strictSame(decoded, [latin1(more[0]!.id)], 'there is no time left for the others');
});

t.test('a call of a group that is thrown away is no success', async (t) => {
  const program = counted(({ transaction }) =>
    transaction.params[0]!.value === 1n ? success() : { kind: 'error', code: 1, message: 'later' },
  );
  const node = await contractNode(t, { image: program.program });
  const contract = await node.created('image');
  for (let i = 0; i < FAILURES_MAX + 2; i++) {
    const timestamp = node.at.clock.now() - i;
    const calls = [1, 2].map((value) => callOf(node, contract, { ...add(value), timestamp }));
    await node.at.node.pool.submit(groupOf(node, calls, { timestamp }));
  }
  const decoded = decodedGroups(node);
  await node.at.mine();
  t.equal(program.runs, 2 * FAILURES_MAX, 'then the sender rests');
  t.equal(decoded.length, FAILURES_MAX, 'and the others are not even decoded');
});

t.test('a group that takes the right to sign from the miner', async (t) => {
  const node = await contractNode(t, { sum }, { set: ['miner.quorum=0'] });
  const { at, owner } = node;
  const [, one, two, three] = at.accounts;
  const counter = await node.created('sum');
  for (const role of ['permissioner', 'miner', 'connection_manager', 'blacklister']) {
    for (const { text: target } of role === 'miner' ? [three] : [one, three]) {
      await at.send(owner, { type: 102, target, opType: 'add', role });
    }
  }
  for (let i = 0; i < 4; i++) await mined(node);
  const first = groupOf(
    node,
    [callOf(node, counter, add(5), one), banOf(node, owner, one)],
    {},
    one,
  );
  await at.clock.advance(3);
  const calls = [6, 7].map((value) => callOf(node, counter, add(value), two));
  const second = groupOf(node, calls, {}, two);
  await at.node.pool.submit(first);
  await at.node.pool.submit(second);
  const alone = await node.call(counter, { ...add(8), timestamp: at.clock.now() });
  let block: readonly Tx[] = [];
  for (let i = 0; i < 6 && block.length === 0; i++) block = await mined(node);
  t.strictSame(types(block), [120]);
  t.strictSame(block[0]!.id, first.id);
  t.equal(inPool(node, second), true, 'the fault is none of its own');
  t.strictSame(node.statuses(calls[0]!), []);
  t.strictSame(node.statuses(alone), []);
});

t.test('results that the block does not take from this miner', async (t) => {
  const program = counted(sum);
  const node = await contractNode(t, { sum: program.program }, { set: ['miner.quorum=0'] });
  const { at, owner } = node;
  const [, one, , three] = at.accounts;
  const counter = await node.created('sum');
  for (const role of ['permissioner', 'miner', 'connection_manager', 'blacklister']) {
    const { text: target } = role === 'miner' ? three : one;
    await at.send(owner, { type: 102, target, opType: 'add', role });
  }
  for (let i = 0; i < 3; i++) await mined(node);
  const calls = [5, 6].map((value) => callOf(node, counter, add(value), one));
  const group = groupOf(node, [calls[0]!, banOf(node, owner, one), calls[1]!], {}, one);
  await at.node.pool.submit(group);
  await mined(node);
  t.equal(program.runs, 2);
  t.equal(inPool(node, group), true, 'another miner may execute it');
  t.match(node.statuses(calls[0]!), [/^Failure 1 The block takes no results of this miner/]);
  for (let i = 0; i < 9; i++) await mined(node);
  t.ok(program.runs < 20, 'not in each round');
});

t.test('a group ends as soon as its results are too many bytes', async (t) => {
  const value = 'x'.repeat(30_000);
  const big = counted(() =>
    success(
      ...Array.from({ length: 8 }, (_, i) => ({ key: `k${i}`, type: 'string', value }) as const),
    ),
  );
  const node = await contractNode(t, { big: big.program });
  const contract = await node.created('big');
  const calls = Array.from({ length: 10 }, (_, i) => callOf(node, contract, add(i)));
  const group = groupOf(node, calls);
  await node.at.node.pool.submit(group);
  t.strictSame(types(await node.at.mine()), []);
  t.equal(big.runs, 2);
  t.match(node.at.node.pool.dropped(group.id), /bytes fit into no block/);
});

t.test('a group for whose results the block has no room waits for another one', async (t) => {
  const value = 'x'.repeat(30_000);
  const big = counted(() =>
    success(
      ...Array.from({ length: 8 }, (_, i) => ({ key: `k${i}`, type: 'string', value }) as const),
    ),
  );
  const node = await contractNode(t, { big: big.program });
  const { at } = node;
  const contract = await node.created('big');
  const calls = Array.from({ length: 6 }, (_, i) => callOf(node, contract, add(i)));
  for (const [i, call] of calls.entries()) {
    const payment = transferOf(node, at.accounts[1], BigInt(i + 1));
    await at.node.pool.submit(groupOf(node, [call, payment]));
  }
  const first = types(await at.mine());
  t.ok(first.length > 0 && first.length < calls.length, `${first.length} of them`);
  const waiting = calls.filter((call) => node.statuses(call)[0]?.startsWith('Failure 1'));
  t.match(node.statuses(waiting[0]!), [/^Failure 1 The block has no room left for it/]);
  const later: Tx[] = [];
  for (let i = 0; i < 6; i++) later.push(...(await mined(node)));
  t.strictSame(types(later), Array(calls.length - first.length).fill(120));
  t.ok(big.runs < 2 * calls.length, `${big.runs} runs: not in each round`);
});

t.test('a group that the block refuses runs nothing', async (t) => {
  const program = counted(sum);
  const node = await contractNode(t, { sum: program.program });
  const { at, owner } = node;
  const [, one] = at.accounts;
  const counter = await node.created('sum');
  const group = groupOf(
    node,
    [1, 2].map((value) => callOf(node, counter, add(value), one)),
    {},
    one,
  );
  await at.node.pool.submit(group);
  const ban = { type: 102, version: 1, target: one.text, opType: 'add', role: 'banned' };
  await at.node.pool.submit(at.make(owner, { ...ban, dueTimestamp: null }));
  t.strictSame(types(await at.mine()), [102]);
  t.equal(program.runs, 0);
  t.equal(inPool(node, group), false);
});

t.test('groups leave a single call the longest time that it may take', async (t) => {
  const slow: Program = async (execution, wait) => {
    if (execution.transaction.data.kind === 'call') await wait(1_700);
    return sum(execution, wait);
  };
  const set = ['docker-engine.execution-limits.timeout=5s'];
  const node = await contractNode(t, { slow, fresh: sum }, { set });
  const { at } = node;
  const [, other] = at.accounts;
  const contract = await node.created('slow');
  const fresh = await node.create('fresh', { timestamp: at.clock.now() });
  for (let round = 0; round < 4; round++) {
    for (const base of [0, 10]) {
      const timestamp = at.clock.now() + base;
      const calls = [1, 2].map((value) =>
        callOf(node, contract, { ...add(value), timestamp: timestamp + value }, other),
      );
      await at.node.pool.submit(groupOf(node, calls, { timestamp }, other));
    }
    await mined(node);
  }
  t.equal(inPool(node, fresh), false, 'an image that has not run yet gets the longest time');
});

t.test('an update that does not start holds up no calls of others', async (t) => {
  const away: ContractFailure = {
    ...{ kind: 'failure', message: 'The registry is away', recoverable: true, system: true },
  };
  const node = await contractNode(
    t,
    { sum, other: sum },
    {
      engine: {
        prepare(image, version, creator) {
          if (image.image === 'other') return away;
          return Object.getPrototypeOf(this).prepare(image, version, creator);
        },
      },
    },
  );
  const { at } = node;
  const [, one] = at.accounts;
  const contract = await node.created('sum');
  for (let i = 0; i < 10; i++) {
    const version2 = callOf(node, contract, { ...add(i), contractVersion: 2 });
    const update = updateOf(node, contract, 'other', { timestamp: at.clock.now() - i });
    await at.node.pool.submit(groupOf(node, [update, version2]));
  }
  let executed = 0;
  for (let round = 0; round < 6; round++) {
    const call = callOf(node, contract, { ...add(1), atomicBadge: null }, one);
    await at.node.pool.submit(call);
    executed += types(await mined(node)).filter((type) => type === 105).length;
  }
  t.equal(executed, 6);
});

t.test('the containers of a group start when it arrives', async (t) => {
  const node = await contractNode(t, { sum, cold: sum });
  const { at } = node;
  const counter = await node.created('sum');
  node.containers.release({ image: 'sum', imageHash: hashOfImage('sum') });
  const made = creationOf(node, 'cold', add(2));
  const group = groupOf(node, [callOf(node, counter, add(5)), made, callOf(node, made, add(3))]);
  await at.clock.advance(START_MS * 3);
  await at.node.pool.submit(group);
  await at.clock.advance(START_MS);
  t.strictSame(types(await at.mine()), [120]);
  t.strictSame(node.state(made), { sum: 5n });
});
