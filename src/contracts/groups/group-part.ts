/** Begins the part of a round for atomic transactions with contracts. */
import { fromLatin1, latin1 } from '../../base/bytes.ts';
import { roundLimits } from '../../base/limits/round-limits.ts';
import { contractOf } from '../../ledger/contracts.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import type { PoolEntry } from '../../mempool/entries/entry.ts';
import type { BlockInWork } from '../execution/block-in-work.ts';
import type { WorkOptions } from '../execution/contract-work.ts';
import { isExecutableGroup } from '../waiting/contract-queue.ts';
import { GroupOutcomes } from './group-outcomes.ts';
import { createGroupPhase, type GroupPhase } from './group-phase.ts';
import { type GroupPorts, runGroup } from './group-run.ts';
import type { GroupTurns } from './group-turns.ts';

const GROUPS_SHARE = roundLimits.groups.value;
/** A group that has run for this share of the part counts as one that takes too long. */
const LIMIT_SHARE = 0.8;
/** Of the time until the deadline, so that a single call of the longest time still begins in time. */
const SLACK = 0.02;

/** Nothing else may change the block before it has run. `deadline`: the time of day at which no contract may run any more. */
export function beginGroups(
  entries: readonly PoolEntry[],
  block: BlockInWork,
  deadline: number,
  work: WorkOptions,
  ports: GroupPorts,
): GroupPhase {
  const { clock, repetitions, failed, turns, maySign, waits, before } = ports;
  turns.roundBegan();
  const now = clock.now();
  const left = deadline - now;
  const partMs = Math.max(0, Math.min(left / GROUPS_SHARE, left * (1 - SLACK) - work.limitMs));
  const end = now + partMs;
  const outcomes = new GroupOutcomes(ports);
  const options = { ...work, groupMs: partMs * LIMIT_SHARE };
  const place = { block, ports, outcomes, options, leftMs: () => end - clock.now() };
  return createGroupPhase(entries.filter(isExecutableGroup), end, {
    clock,
    runGroup: (entry, ended) => runGroup(entry, { ...place, ended }),
    maySign,
    isDue: (entry) => repetitions.isDue(entry.key) && !failed.has(entry.key) && !waits(entry),
    before,
    hasFailed: ({ key }) => repetitions.has(key),
    debtOf: debtsWith(turns, block.draft.overlay),
    lastTurnOf: turns.lastOf,
    wastedMs: turns.wastedMs,
    isProven: turns.isProven,
  });
}

/** No transaction is decoded for it: thousands may wait, and each may take milliseconds. */
function debtsWith(turns: GroupTurns, view: LedgerView): (entry: PoolEntry) => number {
  const creators = new Map<string, string>();
  const creatorOf = (contract: string): string | undefined => {
    const known = creators.get(contract);
    if (known !== undefined) return known;
    const found = contractOf(view, fromLatin1(contract));
    if (found === undefined) return undefined;
    const creator = latin1(view.scheme.addressOf(found.creator));
    creators.set(contract, creator);
    return creator;
  };
  return ({ sender, memberContracts = [] }) => {
    let debt = turns.debtOf(sender);
    for (const { key, made } of memberContracts) {
      const creator = made?.creator ?? creatorOf(key);
      if (creator !== undefined) debt = Math.max(debt, turns.debtOfCreator(creator));
    }
    return debt;
  };
}
