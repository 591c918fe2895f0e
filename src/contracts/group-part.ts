/** Begins the part of a round for atomic transactions with contracts. */
import { roundLimits } from '../base/round-limits.ts';
import type { PoolEntry } from '../mempool/entries/entry.ts';
import type { BlockInWork } from './block-in-work.ts';
import { isExecutableGroup } from './contract-queue.ts';
import { createGroupOutcomes } from './group-outcomes.ts';
import { createGroupPhase, type GroupPhase } from './group-phase.ts';
import { type GroupOptions, type GroupPorts, runGroup } from './group-run.ts';

export const GROUPS_SHARE = roundLimits.groups.value;

/** Nothing else may change the block before it has run. `deadline`: the time of day at which no contract may run any more. */
export function beginGroups(
  entries: readonly PoolEntry[],
  block: BlockInWork,
  deadline: number,
  options: GroupOptions,
  ports: GroupPorts,
): GroupPhase {
  const { clock, repetitions, failed, turns, maySign } = ports;
  const now = clock.now();
  const end = now + (deadline - now) / GROUPS_SHARE;
  const outcomes = createGroupOutcomes(ports);
  const place = { block, ports, outcomes, options, leftMs: () => end - clock.now() };
  return createGroupPhase(entries.filter(isExecutableGroup), end, {
    clock,
    runGroup: (entry, ended) => runGroup(entry, { ...place, ended }),
    maySign,
    isDue: ({ key }) => repetitions.isDue(key) && !failed.has(key),
    yields: ({ key, sender }) => repetitions.has(key) || turns.isFailing(sender),
    lastTurnOf: turns.lastOf,
  });
}
