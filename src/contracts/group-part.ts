/** Begins the part of a round for atomic transactions with contracts. */
import { roundLimits } from '../base/round-limits.ts';
import type { PoolEntry } from '../mempool/entries/entry.ts';
import { membersOf } from '../tx/members.ts';
import type { BlockInWork } from './block-in-work.ts';
import { isExecutableGroup } from './contract-queue.ts';
import type { WorkOptions } from './contract-work.ts';
import { callsOf } from './group-calls.ts';
import { createGroupOutcomes } from './group-outcomes.ts';
import { createGroupPhase, type GroupPhase } from './group-phase.ts';
import { type GroupPorts, runGroup } from './group-run.ts';

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
  const { clock, pool, repetitions, failed, turns, createVersions, maySign } = ports;
  const now = clock.now();
  const left = deadline - now;
  const partMs = Math.max(0, Math.min(left / GROUPS_SHARE, left * (1 - SLACK) - work.limitMs));
  const end = now + partMs;
  const outcomes = createGroupOutcomes(ports);
  const options = { ...work, groupMs: partMs * LIMIT_SHARE };
  const place = { block, ports, outcomes, options, leftMs: () => end - clock.now() };
  const creators = new Map<PoolEntry, readonly string[]>();
  /** Of the contracts of a transaction. */
  const creatorsOf = (entry: PoolEntry): readonly string[] => {
    const known = creators.get(entry);
    if (known !== undefined) return known;
    const members = membersOf(pool.decode(entry));
    const calls = callsOf(members, block.draft.overlay, createVersions) ?? [];
    const found = calls.map(({ owner }) => owner);
    creators.set(entry, found);
    return found;
  };
  return createGroupPhase(entries.filter(isExecutableGroup), end, {
    clock,
    runGroup: (entry, ended) => runGroup(entry, { ...place, ended }),
    maySign,
    isDue: ({ key }) => repetitions.isDue(key) && !failed.has(key),
    hasFailed: ({ key }) => repetitions.has(key),
    yields: (entry) =>
      repetitions.has(entry.key) || turns.isFailing(entry.sender, () => creatorsOf(entry)),
    lastTurnOf: turns.lastOf,
  });
}
