// Scripts at the doors of the pool: what comes before they run, and how long they may take there.
import t from 'tap';
import type { Verifier } from '../../src/base/ports/verifier.ts';
import { Trial } from '../../src/mempool/admission/trial.ts';
import type { PoolChain, TrialScripts } from '../../src/mempool/pool-chain.ts';
import { scriptsOf } from '../../src/tx/scripts/known-scripts.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { buildTx, signedBytes } from '../../src/tx/tx-bytes.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { setScript } from '../../src/tx/types/013-set-script.ts';
import {
  type Account,
  account,
  FUNDS,
  mine,
  newChain,
  nextTurn,
  payment,
  replaced,
  rules,
  scheme,
  signed,
  type TestChain,
  users,
  verifier,
} from '../chain/chain-harness.ts';
import { spoilt, stepsOf } from '../chain/unknown-scripts.ts';
import { compiled } from '../generators/scripts.ts';
import { createTestPool, hearBlocks, memoryJournal } from './pool-harness.ts';

const [alice, bob, carol] = users;
const FEE = 1_400_000n;
/** What each question for the time costs, once scripts are slow. */
const STEP_MS = 50;

function pay(from: Account, amount: bigint, timestamp: number, to: Account = carol): Tx {
  const input = {
    senderPublicKey: from.publicKey,
    timestamp,
    amount,
    fee: FEE,
    recipient: { kind: 'address', bytes: to.address } as const,
    attachment: new Uint8Array(0),
  };
  const layout = transfer.layouts[1]!;
  const bare = buildTx(transfer, layout, input, [], scheme);
  return buildTx(transfer, layout, input, [from.sign(signedBytes(bare))], scheme) as unknown as Tx;
}

const guarded = (from: Account, source: string, timestamp: number): Tx =>
  signed(
    setScript,
    from,
    {
      ...{ name: 'guard', description: '', chainId: scheme.chainId, script: compiled(source) },
      ...{ fee: setScript.fee ?? 0n, timestamp },
    } as never,
    1,
  );

/** A chain where alice has this script, and bob `true`. */
async function scriptedChain(source = 'true'): Promise<TestChain> {
  const at = await newChain();
  const { time } = nextTurn(at);
  await mine(at, [guarded(alice, source, time), guarded(bob, 'true', time)]);
  return at;
}

/** A pool that follows the chain, and the number of runs of scripts in it. */
function poolOn(at: TestChain, journal = memoryJournal()) {
  const runs = { count: 0 };
  const counted = (scripts: TrialScripts): TrialScripts => ({
    begin: (spending) => scripts.begin(spending),
    run: (script) =>
      scripts.run(() => {
        runs.count++;
        script();
      }),
  });
  const trial = new Trial(at.blockchain, rules, at.clock);
  const state = replaced<PoolChain>(trial, {
    tryApply: (tx, verdicts, scripts) => trial.tryApply(tx, verdicts, counted(scripts)),
    together() {
      const { isCurrent, tryApply } = trial.together();
      return {
        isCurrent,
        tryApply: (tx, verdicts, scripts) => tryApply(tx, verdicts, counted(scripts)),
      };
    },
  });
  const pool = createTestPool(at, { state, journal });
  hearBlocks(at, () => pool);
  return { pool, runs };
}

/** From now on each question for the time takes STEP_MS, so a run takes twice that. */
function slowScripts({ clock }: TestChain): void {
  let ms = 0;
  clock.monotonic = () => {
    ms += STEP_MS;
    return ms;
  };
}

t.test('who cannot pay has no run of its script', async (t) => {
  const at = await scriptedChain();
  const { pool, runs } = poolOn(at);
  const now = at.clock.time;
  await pool.submit(pay(alice, FUNDS / 2n, now));
  t.equal(runs.count, 1);
  const poor = account('without funds');
  for (let i = 1; i <= 20; i++) {
    const [all, half] = [pay(alice, FUNDS, now + i), pay(alice, FUNDS / 2n, now + i)];
    await t.rejects(pool.submit(all), /unavailable funds/);
    await t.rejects(pool.submit(half), /unavailable funds/, 'beside what its entries spend');
    for (const tx of [all, half]) await t.rejects(pool.check(tx), /unavailable funds/);
    for (const isDoubted of [false, true]) {
      t.match(await pool.submitAll([{ bytes: half.bytes }], isDoubted), [/unavailable funds/]);
    }
    await t.rejects(pool.submit(pay(poor, 1n, now + i)), /unavailable funds/);
  }
  t.equal(runs.count, 1);
});

t.test('nor are signatures checked for it', async (t) => {
  const at = await scriptedChain('sigVerify(tx.bodyBytes, tx.proofs[0], tx.senderPublicKey)');
  let checks = 0;
  const counting: Verifier = {
    ...verifier,
    verifyOne(...check) {
      checks++;
      return verifier.verifyOne(...check);
    },
  };
  const pool = createTestPool(at, { verifier: counting });
  const now = at.clock.time;
  for (let i = 0; i < 5; i++) {
    await t.rejects(pool.submit(pay(alice, FUNDS, now + i)), /unavailable funds/);
  }
  t.equal(checks, 0);
  await pool.submit(pay(alice, 1n, now));
  t.equal(checks, 1);
});

/** What follows a new head has ended. */
async function settled({ blockchain }: TestChain): Promise<void> {
  await blockchain.idle();
  for (let i = 0; i < 3; i++) await new Promise(setImmediate);
}

t.test('entries in doubt get a second of scripts for each head', async (t) => {
  const at = await scriptedChain();
  const { pool, runs } = poolOn(at);
  const { time } = nextTurn(at);
  const txs = Array.from({ length: 40 }, (_, i) => pay(bob, 1n + BigInt(i), time + i));
  const plain = payment(carol, bob, 1n, time);
  await mine(at, [...txs, plain]);
  slowScripts(at);
  await at.blockchain.rollback(2);
  await settled(at);
  t.equal(pool.size(), 41);
  for (let i = 0; i < 6; i++) {
    t.ok(runs.count > 0 && runs.count <= 1000 / STEP_MS, `${runs.count} runs`);
    runs.count = 0;
    await mine(at);
    await settled(at);
  }
  t.equal(pool.size(), 41, 'nothing is known against those that had no time');
  t.ok(pool.entry(plain.id)?.announced, 'an entry without a script is not concerned');
  t.notOk(pool.entry(txs.at(-1)!.id)?.announced);
  for (let from = 0; from < txs.length; from += 10) {
    await mine(at, txs.slice(from, from + 10));
    await settled(at);
  }
  t.equal(pool.size(), 1, 'they are as good as ever');
});

t.test('those that scripts refuse leave, however long their scripts take', async (t) => {
  const at = await scriptedChain('height < 3');
  const { pool } = poolOn(at);
  const { time } = nextTurn(at);
  const txs = Array.from({ length: 40 }, (_, i) => pay(alice, 1n + BigInt(i), time + i));
  await mine(at, txs);
  await at.blockchain.rollback(2);
  await settled(at);
  slowScripts(at);
  let heads = 0;
  for (; pool.size() > 0 && heads < 60; heads++) {
    await mine(at);
    await settled(at);
  }
  t.equal(pool.size(), 0, `${heads} heads`);
  t.match(pool.dropped(txs[0]!.id), /not allowed by account-script/);
});

t.test('a sender whose scripts take long does not keep others from being judged', async (t) => {
  const at = await scriptedChain();
  const { pool } = poolOn(at);
  const { time } = nextTurn(at);
  const first = Array.from({ length: 30 }, (_, i) => pay(alice, 1n + BigInt(i), time + i));
  const other = pay(bob, 1n, time + 30);
  await mine(at, [...first, other]);
  slowScripts(at);
  await at.blockchain.rollback(2);
  await settled(at);
  t.ok(pool.entry(other.id)?.announced);
  t.notOk(pool.entry(first.at(-1)!.id)?.announced);
});

t.test('nobody leaves because what it builds on had no time', async (t) => {
  const at = await newChain();
  const [middle, poor] = [account('middle'), account('poor')];
  const dear = ['one', 'two', 'three', 'four'].map((name) => account(`dear ${name}`));
  const { time } = nextTurn(at);
  const funds = dear.map((of) => payment(carol, of, FUNDS / 10n, time));
  await mine(at, [...funds, payment(carol, middle, 50_000_000n, time)]);
  const next = nextTurn(at).time;
  await mine(
    at,
    [...dear, middle].map((of) => guarded(of, 'true', next)),
  );
  const now = at.clock.time;
  // Five runs of each take the whole second, and each of them no more than its share.
  const runs = dear.flatMap((of) => [1, 2, 3, 4, 5].map((n) => pay(of, BigInt(n), now + n)));
  const given = payment(carol, middle, FUNDS / 10n, now);
  const passed = pay(middle, FUNDS / 20n, now, poor);
  const built = payment(poor, bob, 1n, now);
  // As a crash in the middle of a reorganisation may leave them.
  const records = [built, passed, ...runs, given].map(({ bytes }) => bytes);
  slowScripts(at);
  at.clock.after = (ms, action) => {
    if (ms < 1000) setImmediate(action);
    return () => undefined;
  };
  const { pool } = poolOn(at, memoryJournal(records));
  await pool.recover();
  t.equal(pool.size(), records.length);
  for (let i = 0; i < 8; i++) {
    await mine(at);
    await settled(at);
  }
  t.ok(pool.entry(built.id), String(pool.dropped(built.id)));
  t.equal(pool.size(), records.length);
});

t.test('no door lets in what is no script', async (t) => {
  const at = await newChain();
  const bad = spoilt(guarded(alice, 'true', at.clock.time), alice);
  const { pool } = poolOn(at, memoryJournal([bad.bytes]));
  await pool.recover();
  const refusal = /Invalid checksum/;
  await t.rejects(pool.submit(bad), refusal);
  for (const isDoubted of [false, true]) {
    await t.rejects(pool.submitBytes(bad.bytes, { isDoubted }), refusal);
    t.match(await pool.submitAll([{ bytes: bad.bytes }], isDoubted), [refusal]);
  }
  t.equal(pool.size(), 0);
});

t.test('a script is read once on its way into the pool', async (t) => {
  const at = await newChain();
  const pool = createTestPool(at, {}, { senderEntriesMax: 1000, bytesMax: 10_000_000 });
  const txs = Array.from({ length: 300 }, (_, i) =>
    guarded(alice, `height == ${i}`, at.clock.time + i),
  );
  const each = scriptsOf(scheme).read(compiled('height == 7')).steps;
  const steps = await stepsOf(() => pool.submitAll(txs, false));
  t.equal(pool.size(), txs.length);
  t.equal(steps, each * txs.length);
});

t.test('a start rests after each script of its journal', async (t) => {
  const at = await scriptedChain();
  const txs = Array.from({ length: 20 }, (_, i) => pay(bob, 1n + BigInt(i), at.clock.time + i));
  slowScripts(at);
  const rests: (() => void)[] = [];
  at.clock.after = (ms, action) => {
    // A round of the cleanup comes much later.
    if (ms < 1000) rests.push(action);
    return () => undefined;
  };
  const { pool, runs } = poolOn(at, memoryJournal(txs.map(({ bytes }) => bytes)));
  const recovered = pool.recover();
  for (let i = 1; i <= txs.length; i++) {
    await settled(at);
    t.equal(runs.count, i);
    for (const endRest of rests.splice(0)) endRest();
  }
  await recovered;
  t.equal(pool.size(), 20);
});
