/**
 * The reading of scripts that transactions put into the state: where feature 1000 is active it counts
 * in the budget of a block, and nowhere does anybody read one before the block is known to be a
 * miner's.
 */

import t from 'tap';
import { ApiError } from '../../src/base/errors.ts';
import { BLOCK_SCRIPT_UNITS_MAX } from '../../src/block/block.ts';
import { importBlocks, replayBlocks } from '../../src/chain/import/import-blocks.ts';
import { blockAt } from '../../src/chain/store/stored-blocks.ts';
import { pack } from '../../src/mempool/packer.ts';
import { readingUnits, STEP_UNITS } from '../../src/script/evaluation/charges.ts';
import { readNewScript, scriptsOf } from '../../src/tx/scripts/known-scripts.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { issue } from '../../src/tx/types/003-issue.ts';
import { setAssetScript } from '../../src/tx/types/015-set-asset-script.ts';
import { permit } from '../../src/tx/types/102-permit.ts';
import { binaryOf, doubled } from '../generators/dear-scripts.ts';
import { compiled } from '../generators/scripts.ts';
import { createTestPool, hearBlocks } from '../mempool/pool-harness.ts';
import {
  type Account,
  mine,
  miners,
  newChain,
  nextTurn,
  payment,
  type rules,
  scheme,
  signed,
  type TestChain,
  users,
  verifier,
} from './chain-harness.ts';
import { FULL, follower, guard, hostile, METERED, OLD, produceBlock, put } from './dear-blocks.ts';
import { createTestForkChoice } from './fork-harness.ts';
import { makeBlock } from './make-block.ts';
import { forgetScripts, spoilt, stepsOf } from './unknown-scripts.ts';

const [alice, bob, carol] = users;
const [founder] = miners as [Account];
/** The estimate of a script: more is refused. */
const STEPS_MAX = 100_000;

/** A few hundred bytes that take most steps that an estimate may have. */
const dear = (number: number): Uint8Array =>
  binaryOf({
    op: 'block',
    name: 'x',
    value: { op: 'long', value: BigInt(number) },
    body: doubled(14, { op: 'ref', name: 'x' }),
  });
const DEAR_UNITS = readNewScript(dear(0), scheme);
const FITTING = Math.floor(BLOCK_SCRIPT_UNITS_MAX / DEAR_UNITS);

/** Alice may issue assets, and change their scripts. */
async function chain(settings: typeof rules): Promise<TestChain> {
  const at = await newChain(undefined, settings);
  const { time } = nextTurn(at);
  const roles = ['issuer', 'contract_developer'].map((role, i) =>
    signed(
      permit,
      founder,
      {
        ...{ target: { kind: 'address', bytes: alice.address }, opType: 'add', role },
        ...{ fee: permit.fee ?? 0n, timestamp: time + i },
      } as never,
      1,
    ),
  );
  await mine(at, roles);
  return at;
}

const asset = (timestamp: number, script: Uint8Array): Tx =>
  signed(issue, alice, {
    ...{ name: 'Gold', description: '', quantity: 1n, decimals: 0, reissuable: false, script },
    ...{ fee: issue.fee ?? 0n, timestamp, chainId: scheme.chainId },
  } as never);

const assets = (time: number, count: number, from = 0): Tx[] =>
  Array.from({ length: count }, (_, i) => asset(time, dear(from + i)));

t.test('the units of a reading', async (t) => {
  const script = compiled('true');
  const { bytes, steps } = scriptsOf(scheme).read(script);
  t.equal(steps, 1);
  const { hash } = scheme.charges;
  const units = hash.fixed + hash.per + 2 * bytes.length + 3;
  t.equal(readingUnits({ bytes, steps }, scheme.charges), units);
  const first = readNewScript(dear(7), scheme);
  t.equal(readNewScript(dear(7), scheme), first, 'whether it is known or not');
  t.ok(first > STEPS_MAX && first < BLOCK_SCRIPT_UNITS_MAX / 10, String(first));
});

t.test('a block beyond the budget is invalid, and one below is fine', async (t) => {
  const at = await chain(METERED);
  const tooMany = await hostile(at, (time) => assets(time, FITTING + 1));
  await t.rejects(at.blockchain.append(tooMany), FULL);
  const verdict = await createTestForkChoice(at).offer(tooMany);
  t.match(verdict, { kind: 'invalid', error: FULL });
  await at.blockchain.append(await hostile(at, (time) => assets(time, FITTING)));
  t.equal(at.blockchain.tip().height, 3);
});

t.test('where the feature is not active, it is judged as ever', async (t) => {
  const at = await chain(OLD);
  await at.blockchain.append(await hostile(at, (time) => assets(time, FITTING + 1)));
  t.equal(at.blockchain.tip().height, 3);
});

t.test('every type that holds a script, and runs with readings', async (t) => {
  const at = await chain(METERED);
  const scripted = asset(nextTurn(at).time, compiled('true', 'asset'));
  await mine(at, [scripted]);
  const changed = (timestamp: number): Tx => {
    return signed(
      setAssetScript,
      alice,
      {
        ...{ assetId: scripted.id, script: dear(1000), chainId: scheme.chainId },
        ...{ fee: 2n * (setAssetScript.fee ?? 0n), timestamp },
      } as never,
      1,
    );
  };
  const last = [
    (time: number) => asset(time, dear(1001)),
    (time: number) => guard(bob, dear(1002), time),
    changed,
  ];
  for (const make of last) {
    const tooMany = await hostile(at, (time) => [...assets(time, FITTING), make(time)]);
    await t.rejects(at.blockchain.append(tooMany), FULL);
  }
  const most = await hostile(at, (time) => [
    ...assets(time, FITTING - 2),
    changed(time),
    guard(bob, dear(1002), time),
  ]);
  await at.blockchain.append(most);
  t.equal(at.blockchain.tip().height, 4);
});

t.test('a miner packs what fits, and goes on with the others', async (t) => {
  for (const settings of [METERED, OLD]) {
    const at = await chain(settings);
    const pool = createTestPool(at);
    hearBlocks(at, () => pool);
    const time = at.clock.time;
    const waiting = assets(time, FITTING + 3);
    const others = [payment(bob, carol, 1n, time), guard(carol, compiled('true'), time + 1)];
    for (const tx of [...waiting, ...others]) await pool.submit(tx);
    const next = async (): Promise<number> => {
      forgetScripts();
      const { miner, time } = nextTurn(at);
      at.clock.time = time;
      const block = await makeBlock(at.blockchain, miner, time, async (draft, limits) => {
        await pack(pool, limits, draft, at.clock);
      });
      return block.transactions.length;
    };
    t.equal(await next(), FITTING + others.length, 'what is dear fills its budget only');
    t.equal(await next(), 3, 'the others stayed for the next block');
    t.equal(pool.size(), 0);
    t.equal(
      (await follower(at, settings)).blockchain.tip().height,
      4,
      'others come to the same sum',
    );
  }
});

t.test('what a draft refuses leaves no units behind', async (t) => {
  const at = await chain(METERED);
  const block = await produceBlock(at, (draft, time) => {
    const txs = assets(time, FITTING + 1);
    const early = asset(time - 3 * 3_600_000, dear(2000));
    for (const tx of txs.slice(0, FITTING)) {
      t.throws(() => put(draft, early), ApiError);
      put(draft, tx);
    }
    for (let i = 0; i < 3; i++) t.throws(() => put(draft, txs[FITTING]!), FULL);
    put(draft, payment(bob, carol, 1n, time));
  });
  t.equal(block.transactions.length, FITTING + 1);
  t.equal((await follower(at, METERED)).blockchain.tip().height, 3);
});

t.test('an import and a replay keep to it', async (t) => {
  const at = await chain(METERED);
  const first = blockAt(at.blockchain.view, 2)!;
  const tooMany = await hostile(at, (time) => assets(time, FITTING + 1));
  for (const run of [
    (to: TestChain) => importBlocks(to.blockchain, verifier, [first, tooMany], { from: 2 }),
    (to: TestChain) => replayBlocks(to.blockchain, [first, tooMany], { from: 2 }),
  ]) {
    const to = await newChain(undefined, METERED);
    to.clock.time = at.clock.time;
    await t.rejects(run(to), FULL);
    t.equal(to.blockchain.tip().height, 2);
  }
});

t.test('nobody reads more than the budget, nor for a block that nobody has signed', async (t) => {
  const at = await chain(METERED);
  const first = blockAt(at.blockchain.view, 2)!;
  const three = await hostile(at, (time) => assets(time, 3 * FITTING));
  const forged = { ...three, header: { ...three.header, signature: new Uint8Array(64) } };
  const routes: readonly ((block: typeof three) => Promise<unknown>)[] = [
    (block) => at.blockchain.append(block),
    (block) => createTestForkChoice(at).offer(block),
    async (block) => {
      const to = await newChain(undefined, METERED);
      to.clock.time = at.clock.time;
      return importBlocks(to.blockchain, verifier, [first, block], { from: 2 });
    },
  ];
  const most = BLOCK_SCRIPT_UNITS_MAX / STEP_UNITS + STEPS_MAX;
  for (const route of routes) {
    const steps = await stepsOf(() => route(three).catch(() => undefined));
    t.ok(steps > STEPS_MAX && steps <= most, `${steps} steps`);
    t.equal(await stepsOf(() => route(forged).catch(() => undefined)), 0);
  }
});

/** Where feature 10 is not active, the names in a script are looked at before it is read. */
const NAMED = {
  ...OLD,
  preActivatedFeatures: new Map([...OLD.preActivatedFeatures].filter(([id]) => id !== 10)),
};

t.test('a block with what is no script is invalid on each route', async (t) => {
  for (const settings of [METERED, OLD, NAMED]) {
    const at = await chain(settings);
    const first = blockAt(at.blockchain.view, 2)!;
    const block = await hostile(at, (time) => [spoilt(guard(bob, compiled('true'), time), bob)]);
    const refusal = { message: /Invalid checksum/ };
    await t.rejects(at.blockchain.append(block), refusal);
    t.match(await createTestForkChoice(at).offer(block), { kind: 'invalid', error: refusal });
    const to = await newChain(undefined, settings);
    to.clock.time = at.clock.time;
    await t.rejects(importBlocks(to.blockchain, verifier, [first, block], { from: 2 }), refusal);
  }
});
