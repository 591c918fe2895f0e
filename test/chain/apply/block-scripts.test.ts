// The budget of a block for its scripts, counted run by run.
import t from 'tap';
import { BLOCK_SCRIPT_UNITS_MAX, SCRIPT_RUNS_MAX } from '../../../src/block/block.ts';
import { BlockScripts } from '../../../src/chain/apply/block-scripts.ts';
import { createScriptTime } from '../../../src/chain/apply/script-time.ts';
import {
  type Meter,
  OutOfUnits,
  RUN_UNITS_MAX,
  UNMETERED,
} from '../../../src/script/evaluation/meter.ts';
import { allTypes } from '../../../src/tx/registry.ts';
import { assetsTouched } from '../../../src/tx/rules/fees.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { Rng } from '../../generators/random.ts';
import { transactionOf } from '../../generators/tx.ts';

const DEAR = RUN_UNITS_MAX;
const FULL = /^Limit of txs was reached: more than \d+ (runs|units) of scripts$/;
const costing =
  (units: number) =>
  (meter: Meter): void =>
    meter.charge(units);
const never = (): never => {
  throw new Error('it must not run');
};

const ofPeer = (isActive: boolean): BlockScripts => new BlockScripts(isActive, undefined);
const ofThisNode = (isActive: boolean): BlockScripts =>
  new BlockScripts(isActive, createScriptTime({ monotonic: () => 0 }));

t.test('the units of all runs together, whoever the script belongs to', async (t) => {
  for (const scripts of [ofPeer(true), ofThisNode(true), ofThisNode(false)]) {
    const owners = ['sender', 'order', 'order', 'asset'] as const;
    let left = BLOCK_SCRIPT_UNITS_MAX;
    for (let i = 0; left >= DEAR; i++, left -= DEAR) {
      scripts.begin(1);
      scripts.run(owners[i % owners.length]!, costing(DEAR));
    }
    scripts.begin(1);
    scripts.run('order', costing(left));
    t.equal(scripts.save().units, BLOCK_SCRIPT_UNITS_MAX, 'exactly full is fine');
    scripts.begin(1);
    t.throws(() => scripts.run('order', costing(1)), {
      message: `Limit of txs was reached: more than ${BLOCK_SCRIPT_UNITS_MAX} units of scripts`,
    });
    t.equal(scripts.save().units, BLOCK_SCRIPT_UNITS_MAX);
  }
});

t.test('a run beyond its own budget is no matter of the block', async (t) => {
  const scripts = ofPeer(true);
  t.throws(() => scripts.run('asset', costing(DEAR + 1)), OutOfUnits);
});

t.test('the runs for a transaction share the budget of a run', async (t) => {
  for (const scripts of [ofPeer(true), ofThisNode(false)]) {
    scripts.begin(1);
    for (const owner of ['sender', 'order', 'order', 'asset', 'asset'] as const) {
      scripts.run(owner, costing(DEAR / 5));
    }
    t.throws(() => scripts.run('asset', costing(1)), OutOfUnits);
    scripts.begin(1);
    scripts.run('asset', costing(DEAR));
    t.same(scripts.save(), { runs: 6, units: 2 * DEAR });
  }
});

t.test('what is taken back leaves room again', async (t) => {
  const scripts = ofPeer(true);
  scripts.run('sender', costing(DEAR));
  const taken = scripts.save();
  for (let i = 0; i < 10_000; i++) {
    scripts.begin(1);
    scripts.run('order', costing(DEAR));
    scripts.restore(taken);
  }
  t.same(scripts.save(), { runs: 1, units: DEAR });
});

t.test('what was tried grows, whatever becomes of it', async (t) => {
  const scripts = ofThisNode(true);
  const taken = scripts.save();
  const denied = (meter: Meter): void => {
    meter.charge(DEAR / 2);
    throw new Error('denied');
  };
  t.throws(() => scripts.run('sender', denied), { message: 'denied' });
  scripts.run('order', costing(1));
  scripts.readNew(() => 5);
  scripts.restore(taken);
  t.same(scripts.tried, { runs: 2, units: DEAR / 2 + 6 });
  t.throws(() => scripts.readNew(() => BLOCK_SCRIPT_UNITS_MAX + 1), {
    message: /need more units than a block has/,
  });
  t.same(scripts.save(), taken);
  t.equal(scripts.tried.units, BLOCK_SCRIPT_UNITS_MAX + DEAR / 2 + 7);
});

t.test('readings have units and time, and are no runs', async (t) => {
  let ms = 0;
  const slow = (): number => {
    ms += 600;
    return 7;
  };
  const scripts = new BlockScripts(true, createScriptTime({ monotonic: () => ms }));
  for (const _ of [1, 2]) {
    scripts.begin(1);
    scripts.readNew(slow);
  }
  t.same(scripts.save(), { runs: 0, units: 14 });
  scripts.begin(1);
  t.throws(() => scripts.readNew(never), { message: /scripts have taken 1000 ms/ });
  const peers = ofPeer(false);
  for (let i = 0; i < 3; i++) peers.readNew(() => BLOCK_SCRIPT_UNITS_MAX);
  t.same(peers.save(), { runs: 0, units: 0 }, 'before the feature');
});

t.test('runs are counted, with those of orders', async (t) => {
  for (const scripts of [ofPeer(true), ofThisNode(true), ofThisNode(false)]) {
    for (let i = 0; i < SCRIPT_RUNS_MAX; i++) scripts.run('order', costing(1));
    for (const owner of ['order', 'sender', 'asset'] as const) {
      t.throws(() => scripts.run(owner, never), {
        message: `Limit of txs was reached: more than ${SCRIPT_RUNS_MAX} runs of scripts`,
      });
    }
  }
});

t.test('a block of a peer before the feature: no units, and orders do not count', async (t) => {
  const scripts = ofPeer(false);
  let budget = 0;
  for (let i = 0; i < 10 * SCRIPT_RUNS_MAX; i++) {
    scripts.run('order', (meter) => {
      budget = meter.budget;
      meter.charge(100 * BLOCK_SCRIPT_UNITS_MAX);
    });
  }
  t.equal(budget, UNMETERED);
  for (let i = 0; i < SCRIPT_RUNS_MAX; i++) scripts.run('sender', costing(1));
  scripts.run('order', costing(1));
  t.throws(() => scripts.run('asset', never), FULL);
});

t.test('a transaction with the most scripts fits into an empty block', async (t) => {
  const runsOf = (tx: Tx): number =>
    1 + (tx.def.carried?.(tx).length ?? 0) + assetsTouched(tx).length;
  // An atomic transaction with more is refused by itself.
  const alone = allTypes.filter(({ members }) => members === undefined);
  const runs = alone.flatMap((def) =>
    def.layouts.flatMap((layout) =>
      Array.from({ length: 20 }, (_, seed) => runsOf(transactionOf(def, layout, new Rng(seed)))),
    ),
  );
  const most = Math.max(...runs);
  t.equal(most, 5, 'sender, two orders and two assets');
  t.ok(RUN_UNITS_MAX <= BLOCK_SCRIPT_UNITS_MAX);
  t.ok(most <= SCRIPT_RUNS_MAX);
});
