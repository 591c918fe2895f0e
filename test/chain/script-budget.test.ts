/**
 * The budget of a block for its scripts where feature 1000 is active, and where it is not. A hostile
 * miner signs whatever it likes; the others keep to the budget.
 */
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { ApiError } from '../../src/base/errors.ts';
import { BLOCK_SCRIPT_UNITS_MAX, SCRIPT_RUNS_MAX } from '../../src/block/block.ts';
import type { BlockDraft } from '../../src/chain/apply/block-draft.ts';
import { RUN_UNITS_MAX } from '../../src/script/evaluation/meter.ts';
import { orderFromJson } from '../../src/tx/fields/order.ts';
import { unchecked } from '../../src/tx/proof-verdicts.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { issue } from '../../src/tx/types/003-issue.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { exchange } from '../../src/tx/types/007-exchange.ts';
import { permit } from '../../src/tx/types/102-permit.ts';
import { taking, unitsOf } from '../generators/dear-runs.ts';
import { compiled } from '../generators/scripts.ts';
import { createTestPool } from '../mempool/pool-harness.ts';
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
  users,
} from './chain-harness.ts';
import {
  DEAR,
  DEAR_UNITS,
  dearBlock,
  FITTING,
  FULL,
  follower,
  guard,
  hostile,
  METERED,
  OLD,
  pay,
  produceBlock,
  put,
  scripted,
  TOO_DEAR,
} from './dear-blocks.ts';

const [alice, bob, carol] = users;
const [founder] = miners as [Account];
const HOUR_MS = 3_600_000;

t.test('a block beyond the budget is invalid, and one below is fine', async (t) => {
  const at = await scripted(METERED);
  await t.rejects(
    at.blockchain.append(await hostile(at, (time) => dearBlock(time, FITTING + 1))),
    FULL,
  );
  await at.blockchain.append(await hostile(at, (time) => dearBlock(time, FITTING)));
  t.equal(at.blockchain.tip().height, 3);
});

t.test('where the feature is not active, it is judged as ever', async (t) => {
  const at = await scripted(OLD);
  await at.blockchain.append(await hostile(at, (time) => dearBlock(time, FITTING + 1)));
  t.equal(at.blockchain.tip().height, 3);
});

t.test('a block of this node keeps to it, with the feature and without', async (t) => {
  for (const settings of [METERED, OLD]) {
    const at = await scripted(settings);
    const block = await produceBlock(at, (draft, time) => {
      const txs = dearBlock(time, FITTING + 1);
      for (const tx of txs.slice(0, FITTING)) put(draft, tx);
      t.throws(() => put(draft, txs[FITTING]!), FULL);
      put(draft, payment(bob, carol, 1n, time));
    });
    t.equal(block.transactions.length, FITTING + 1);
    t.equal((await follower(at, settings)).blockchain.tip().height, 3);
  }
});

t.test('what is refused on the way leaves no units behind', async (t) => {
  const at = await newChain(undefined, METERED);
  const { time: first } = nextTurn(at);
  await mine(at, [guard(alice, DEAR, first), guard(bob, taking(DEAR_UNITS, false), first)]);
  const denied = (time: number, i: number): Tx =>
    signed(transfer, bob, {
      ...{ timestamp: time + i, amount: 1n, fee: 1_400_000n },
      ...{ recipient: { kind: 'address', bytes: carol.address }, attachment: new Uint8Array(0) },
    });
  const refused = (draft: BlockDraft, time: number, i: number): void => {
    t.throws(() => put(draft, denied(time, i)), /not allowed by account-script/);
  };
  const block = await produceBlock(at, (draft, time) => {
    const txs = dearBlock(time, FITTING);
    for (const [i, tx] of txs.entries()) {
      refused(draft, time, i);
      draft.check(tx, unchecked(tx));
      put(draft, tx);
    }
  });
  t.equal(block.transactions.length, FITTING);
  t.equal((await follower(at, METERED)).blockchain.tip().height, 3, 'others come to the same sum');
});

t.test('a run beyond its own budget is a refusal', async (t) => {
  for (const settings of [METERED, OLD]) {
    const at = await scripted(settings, TOO_DEAR);
    const error = await createTestPool(at)
      .submit(pay(at.clock.time, 1))
      .catch((cause) => cause);
    t.ok(error instanceof ApiError);
    t.match(error, { code: 306, status: 400 });
    t.match(error.message, `account-script: The script needs more than ${RUN_UNITS_MAX} units`);
    await produceBlock(at, (draft, time) => {
      t.throws(() => put(draft, pay(time, 1)), { message: error.message });
    });
    const appended = at.blockchain.append(await hostile(at, (time) => dearBlock(time, 1)));
    if (settings === METERED) await t.rejects(appended, { message: error.message });
    else await t.resolves(appended, 'others took it before the feature');
  }
});

/** A chain where alice, who has gold, and bob have this script, and the orders of both. */
async function market(settings: typeof rules, script: Uint8Array) {
  const at = await newChain(undefined, settings);
  const { time } = nextTurn(at);
  const gold = signed(issue, founder, {
    ...{ name: 'Gold', description: '', quantity: 10_000n, decimals: 0, reissuable: false },
    ...{ fee: issue.fee ?? 0n, timestamp: time, chainId: scheme.chainId },
  } as never);
  const dex = signed(
    permit,
    founder,
    {
      ...{ target: { kind: 'address', bytes: carol.address }, opType: 'add', role: 'dex' },
      ...{ fee: permit.fee ?? 0n, timestamp: time },
    } as never,
    1,
  );
  await mine(at, [gold, dex]);
  const next = nextTurn(at).time;
  const share = signed(transfer, founder, {
    ...{ timestamp: next, amount: 10_000n, fee: 1_000_000n, assetId: gold.id },
    ...{ recipient: { kind: 'address', bytes: alice.address }, attachment: new Uint8Array(0) },
  });
  await mine(at, [share, guard(alice, script, next), guard(bob, script, next)]);
  const order = (of: Account, orderType: string) =>
    orderFromJson(
      {
        ...{ version: 2, senderPublicKey: base58.encode(of.publicKey), orderType },
        ...{ matcherPublicKey: base58.encode(carol.publicKey), proofs: [] },
        assetPair: { amountAsset: base58.encode(gold.id), priceAsset: null },
        ...{ amount: 1000, price: 100_000_000, matcherFee: 0 },
        ...{ timestamp: next, expiration: next + HOUR_MS },
      },
      'obj',
      scheme,
    );
  const orders = { order1: order(bob, 'buy'), order2: order(alice, 'sell') };
  const trades = (at: number, count: number): Tx[] =>
    Array.from({ length: count }, (_, i) =>
      signed(exchange, carol, {
        ...{ orders, price: 100_000_000n, amount: 1n, buyMatcherFee: 0n, sellMatcherFee: 0n },
        ...{ fee: exchange.fee ?? 0n, timestamp: at + i },
      } as never),
    );
  return { at, trades };
}

t.test('scripts of orders: the units', async (t) => {
  const script = taking(RUN_UNITS_MAX / 3);
  const half = Math.floor(BLOCK_SCRIPT_UNITS_MAX / (2 * unitsOf(script)));
  const { at, trades } = await market(METERED, script);
  const tooMany = await hostile(at, (time) => trades(time, half + 1));
  await t.rejects(at.blockchain.append(tooMany), FULL);
  const { length } = (await produceBlock(at, fill(trades, half + 1))).transactions;
  t.equal(length, half);
  const old = await market(OLD, script);
  await old.at.blockchain.append(await hostile(old.at, (time) => old.trades(time, half + 1)));
  t.equal((await produceBlock(old.at, fill(old.trades, half + 1))).transactions.length, half);
});

t.test('scripts of orders: together beyond the budget of a run', async (t) => {
  const refusal = { message: /account-script: The script needs more than \d+ units$/ };
  const { at, trades } = await market(METERED, DEAR);
  await t.rejects(at.blockchain.append(await hostile(at, (time) => trades(time, 1))), refusal);
  const old = await market(OLD, DEAR);
  for (const { at, trades } of [old, await market(METERED, DEAR)]) {
    await t.rejects(createTestPool(at).submit(trades(at.clock.time, 1)[0]!), refusal);
    await produceBlock(at, (draft, time) => {
      t.throws(() => put(draft, trades(time, 1)[0]!), refusal);
    });
  }
  await old.at.blockchain.append(await hostile(old.at, (time) => old.trades(time, 1)));
});

t.test('scripts of orders: the number of runs', async (t) => {
  const most = SCRIPT_RUNS_MAX / 2;
  const runs = {
    message: `Limit of txs was reached: more than ${SCRIPT_RUNS_MAX} runs of scripts`,
  };
  const { at, trades } = await market(METERED, compiled('true'));
  await t.rejects(at.blockchain.append(await hostile(at, (time) => trades(time, most + 1))), runs);
  t.equal((await produceBlock(at, fill(trades, most + 1))).transactions.length, most);
  const old = await market(OLD, compiled('true'));
  await old.at.blockchain.append(await hostile(old.at, (time) => old.trades(time, 3 * most)));
  t.equal((await produceBlock(old.at, fill(old.trades, most + 1))).transactions.length, most);
});

/** Puts in what fits. */
const fill =
  (make: (time: number, count: number) => readonly Tx[], count: number) =>
  (draft: BlockDraft, time: number): void => {
    for (const tx of make(time, count)) {
      try {
        put(draft, tx);
      } catch (cause) {
        if (!(cause instanceof ApiError && cause.entry === 'BlockFull')) throw cause;
      }
    }
  };
