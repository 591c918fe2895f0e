/**
 * Row scripts: transactions of an account whose script asks for two of three signatures, beside
 * three plain checks of signatures. Both use the node's own threads; the rules run on this thread
 * while the threads check the next transactions. And what the costliest permitted scripts take.
 */
import { systemRandom } from '../../src/adapters/system.ts';
import { createVerifyThreads } from '../../src/adapters/verify/signature-threads.ts';
import { assert } from '../../src/base/assert.ts';
import { base58 } from '../../src/base/base58.ts';
import type { SignatureCheck, Verifier } from '../../src/base/ports/verifier.ts';
import { endlessSlice } from '../../src/concurrency/time-slice.ts';
import { createChainScheme } from '../../src/crypto/chain-scheme.ts';
import { createFamily } from '../../src/crypto/families.ts';
import type { Table } from '../../src/ledger/table.ts';
import { scripts } from '../../src/ledger/tables.ts';
import { Meter, RUN_UNITS_MAX } from '../../src/script/evaluation/meter.ts';
import { judgeProofs } from '../../src/tx/judge-proofs.ts';
import { ProofChecks } from '../../src/tx/proof-verdicts.ts';
import { scriptsOf } from '../../src/tx/scripts/known-scripts.ts';
import { CheckPlanner } from '../../src/tx/scripts/plan-checks.ts';
import type { ScriptRuns } from '../../src/tx/scripts/script-runs.ts';
import type { BlockContext, Tx } from '../../src/tx/transaction.ts';
import { buildTx, signedBytes } from '../../src/tx/tx-bytes.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import type { Bench } from '../bench.ts';
import type { Contender } from '../measure/contender.ts';
import { figureOf, ratioOf } from '../measure/rounds.ts';
import { slowestScripts } from '../measure/slowest-scripts.ts';
import { type Figure, number, perSecond, type RowResult, ratioAtLeast } from '../report/result.ts';

const TRANSACTIONS = 600;
const LIMIT_MS = 10;
const SHOWN_AT_LIMIT = 8;

const family = createFamily('curve25519');
const scheme = createChainScheme(family, 84);
const people = ['alice', 'bob', 'carol'].map((name) => family.keyPairFromPhrase(name));
const [owner] = people as [(typeof people)[0]];

const TWO_OF_THREE = people
  .map(({ publicKey }, i) => {
    const key = base58.encode(publicKey);
    return `let v${i} = if sigVerify(tx.bodyBytes, tx.proofs[${i}], base58'${key}') then 1 else 0\n`;
  })
  .join('')
  .concat('v0 + v1 + v2 >= 2');

export async function scripted(bench: Bench): Promise<RowResult> {
  const threads = createVerifyThreads(family, { threads: 2 });
  const notes: string[] = [];
  const txs = transfers();
  const rounds = await bench.measure(
    [multisignature(txs, threads), plainChecks(txs, threads)],
    notes,
  );
  await threads.close();
  const rate = (name: string) => figureOf(rounds, name, (sample) => sample.perSecond);
  const ratio = ratioOf(rounds, 'multisignature', 'three checks');
  return {
    row: 'scripts',
    title: 'scripts',
    figures: [
      {
        what: '2 of 3 signatures, by a script',
        value: perSecond(rate('multisignature')),
        against: `three plain checks ${perSecond(rate('three checks'))}`,
        ratio,
      },
      ...atLimit('curve25519'),
      ...atLimit('gost'),
    ],
    goals: [
      { level: 'Good', conditions: [ratioAtLeast(0.4, ratio, 'three checks')] },
      { level: 'Strong', conditions: [ratioAtLeast(0.6, ratio, 'three checks')] },
      { level: 'Moonshot', conditions: [ratioAtLeast(0.9, ratio, 'three checks')] },
    ],
    notes,
  };
}

/** The functions on which scripts at the limit of complexity spend most time. */
function atLimit(name: 'curve25519' | 'gost'): readonly Figure[] {
  return slowestScripts(createFamily(name))
    .slice(0, SHOWN_AT_LIMIT)
    .map(({ name: what, ms }, i) => ({
      what: `${i === 0 ? `${name}, a script of nothing but ` : ''}${what}`,
      value: `${number(ms)} ms`,
      ...(ms > LIMIT_MS ? { against: `${LIMIT_MS} ms` } : {}),
      isDetail: i > 0,
    }));
}

/** A state that holds the script of the owner and nothing else. */
const script = scriptsOf(scheme).compile(TWO_OF_THREE, 'account').bytes;
const view = {
  scheme,
  get: <K, V>(table: Table<K, V>): V | undefined =>
    (table as unknown) === scripts ? (script as V) : undefined,
  *range() {},
} as never;
const metered: Pick<ScriptRuns, 'run'> = {
  run: (_owner, script) => script(new Meter(RUN_UNITS_MAX)),
};
const block = { height: 100, features: new Set() } as unknown as BlockContext;

/** With proofs of two people, in all three combinations. */
function transfers(): readonly Tx[] {
  const layout = transfer.layouts[1]!;
  return Array.from({ length: TRANSACTIONS }, (_, i) => {
    const fields = {
      senderPublicKey: owner.publicKey,
      timestamp: i,
      amount: 1n,
      fee: 1n,
      recipient: { kind: 'address', bytes: scheme.addressOf(owner.publicKey) } as const,
      attachment: new Uint8Array(0),
    };
    const message = signedBytes(buildTx(transfer, layout, fields, [], scheme));
    const proofs = people.map(({ privateKey }, person) =>
      person === i % 3 ? new Uint8Array(0) : family.sign(privateKey, message, systemRandom),
    );
    return buildTx(transfer, layout, fields, proofs, scheme) as unknown as Tx;
  });
}

/** Transactions per second: checks in the threads, rules here, a batch ahead. */
function multisignature(txs: readonly Tx[], threads: Verifier): Contender {
  const ask = () => {
    const checks = new ProofChecks();
    const planner = new CheckPlanner(view, endlessSlice, txs.length);
    for (const tx of txs) {
      const plan = planner.plan(tx);
      assert(!(plan instanceof Promise), 'the slice is never over');
      checks.add(tx, plan);
    }
    return { checks, answered: checks.ask(threads) };
  };
  const judge = async ({ checks, answered }: ReturnType<typeof ask>) => {
    await answered;
    for (const [i, tx] of txs.entries()) {
      const judging = { view, block, find: () => undefined, scripts: metered };
      judgeProofs(tx, checks.verdicts(i), judging);
    }
  };
  return { name: 'multisignature', run: (ms) => repeated(ms, txs.length, ask, judge) };
}

/** Three checks of signatures of the same sizes for each transaction. */
function plainChecks(txs: readonly Tx[], threads: Verifier): Contender {
  const checks = txs.flatMap((tx, i): SignatureCheck[] => {
    const message = signedBytes(tx);
    const person = (i + 1) % 3;
    const signature = tx.proofs[person]!;
    const { publicKey } = people[person]!;
    return Array.from({ length: 3 }, () => ({ publicKey, message, signature }));
  });
  const ask = () => threads.verify(checks);
  const judge = async (answers: Promise<boolean[]>) => {
    if (!(await answers).every((good) => good)) throw new Error('a good signature is refused');
  };
  return { name: 'three checks', run: (ms) => repeated(ms, txs.length, ask, judge) };
}

async function repeated<T>(
  ms: number,
  each: number,
  ask: () => T,
  judge: (asked: T) => Promise<void>,
) {
  const start = performance.now();
  const cpu = process.cpuUsage();
  let done = 0;
  let next = ask();
  while (performance.now() - start < ms) {
    const current = next;
    next = ask();
    await judge(current);
    done += each;
  }
  await judge(next);
  done += each;
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: done / seconds, costPerOperation: (user + system) / 1e6 / done };
}
