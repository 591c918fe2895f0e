/**
 * The contracts of a simulation: what one does follows from the id of the transaction alone. Some
 * answer at once, some late, some never; some refuse, some read the state of another contract.
 *
 * Their results tell what they have read, so that every block can be checked: each result must be
 * what its place among the results of the block gives.
 */
import { base58 } from '../../../src/base/base58.ts';
import { ApiError } from '../../../src/base/errors.ts';
import type {
  ContractExecution,
  ContractOutcome,
  DataEntry,
} from '../../../src/base/ports/containers.ts';
import { contractEntry } from '../../../src/ledger/contracts.ts';
import type { LedgerView } from '../../../src/ledger/ledger.ts';
import { withMembers } from '../../../src/tx/members.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { createContract } from '../../../src/tx/types/103-create-contract.ts';
import { callContract } from '../../../src/tx/types/104-call-contract.ts';
import {
  integer,
  type Program,
  type SimulatedContainers,
  simulatedContainers,
  success,
} from '../../simulated/containers.ts';
import { groupSenders } from './group-load.ts';
import type { Dice } from './random.ts';
import type { NodeClock } from './world.ts';

/** Those of the generators of transactions. */
const HASHES: Readonly<Record<string, string>> = {
  'sum:1': 'ab'.repeat(32),
  'sum:2': 'cd'.repeat(32),
};

const START_MS = 1_500;
const TIMEOUT_MS = 4_000;
const CALL_MS_MAX = 300;
const LATE_MS = 2_000;
const KINDS = 24;
/** Of several calls in an atomic transaction each has to succeed. */
const KINDS_IN_GROUPS = 3 * KINDS;
const ofGroups = new Set(groupSenders.map(({ text }) => text));

/** Contracts that programs have seen, for those that read others. */
export type Acquaintances = string[];

export function contractsOf(
  clock: NodeClock,
  dice: Dice,
  known: Acquaintances,
): SimulatedContainers {
  return simulatedContainers({
    clock,
    programs: { 'sum:1': programWith(known), 'sum:2': programWith(known) },
    hashOf: (image) => HASHES[image] ?? '',
    startMs: START_MS,
    timeoutMs: TIMEOUT_MS,
    callMs: () => dice.below(CALL_MS_MAX),
  });
}

const programWith =
  (known: Acquaintances): Program =>
  async (execution, wait): Promise<ContractOutcome> => {
    const { id, contractId, data, sender } = execution.transaction;
    if (!known.includes(contractId)) known.push(contractId);
    const bytes = base58.decode(id);
    const kind = bytes[0]! % (ofGroups.has(sender) ? KINDS_IN_GROUPS : KINDS);
    const other = known[bytes[1]! % known.length]!;
    const before = data.kind === 'create' ? 0n : sumOf(execution, contractId);
    const seen = kind >= 18 && other !== contractId ? sumOf(execution, other) : undefined;
    if (kind === 0) return { kind: 'error', code: 3, message: 'refused' };
    if (kind === 1) return { kind: 'error', code: 1, message: 'not now' };
    if (kind === 2) return success(integer('sum', 1n), integer('sum', 2n));
    if (kind === 3) return new Promise(() => {});
    if (kind < 8) await wait(LATE_MS);
    const sum = before + BigInt(bytes[2]!);
    const own = [integer('before', before), integer('sum', sum)];
    if (seen === undefined) return success(...own);
    return success(...own, { key: 'other', type: 'string', value: other }, integer('seen', seen));
  };

function sumOf({ reads }: ContractExecution, contractId: string): bigint {
  try {
    const entry = reads.contractEntry(contractId, 'sum');
    return entry.type === 'integer' ? entry.value : 0n;
  } catch (cause) {
    // A contract of another branch, or one that has no entries yet.
    if (cause instanceof ApiError && (cause.code === 600 || cause.code === 304)) return 0n;
    throw cause;
  }
}

/**
 * Why the results of a block are those of no order. `view` is the state after it; undefined where
 * the head is further already.
 */
export function wrongResults(txs: readonly Tx[], view: LedgerView | undefined): string | undefined {
  const runs = [...withMembers(txs)].flatMap((tx) => {
    const run = runOf(tx);
    return run === undefined ? [] : [run];
  });
  const sums = new Map<string, bigint>();
  for (const run of runs) if (!sums.has(run.contract)) sums.set(run.contract, run.before);
  for (const { contract, before, sum, other, seen } of runs) {
    if (sums.get(contract) !== before) return `${contract} has read ${before} in vain`;
    if (other !== undefined) {
      const there = sums.get(other) ?? (view && stored(view, other)) ?? seen;
      if (there !== seen) return `${contract} has read ${seen} in ${other}, where ${there} stood`;
    }
    sums.set(contract, sum);
  }
  for (const [contract, sum] of sums) {
    if (view !== undefined && stored(view, contract) !== sum)
      return `${contract} has not ${sum} after the block`;
  }
  return undefined;
}

function stored(view: LedgerView, contract: string): bigint {
  const entry = contractEntry(view, base58.decode(contract), 'sum');
  return entry?.type === 'integer' ? entry.value : 0n;
}

function runOf(tx: Tx) {
  const inner = tx.def.inner?.(tx);
  const isRun = inner?.type === createContract.type || inner?.type === callContract.type;
  if (inner === undefined || !isRun) return undefined;
  const results = new Map(
    (tx.fields['results'] as readonly DataEntry[]).map(({ key, value }) => [key, value]),
  );
  // The contract of another engine.
  if (!results.has('before')) return undefined;
  const id =
    inner.type === createContract.type ? inner.id : (inner.fields['contractId'] as Uint8Array);
  return {
    contract: base58.encode(id),
    before: results.get('before') as bigint,
    sum: results.get('sum') as bigint,
    other: results.get('other') as string | undefined,
    seen: results.get('seen') as bigint | undefined,
  };
}
