/**
 * The checks of the images to which the members of an atomic transaction change contracts (107). They
 * come before anything runs, since a check that takes too long would throw away all the runs before it.
 */
import { timeLimit } from '../../base/deadline.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { PoolEntry } from '../../mempool/entries/entry.ts';
import type { Tx } from '../../tx/transaction.ts';
import type { ImageChecks } from '../images/image-checks.ts';
import type { GroupCall } from '../waiting/group-calls.ts';
import type { GroupOutcomes } from './group-outcomes.ts';
import type { GroupTurns, GroupWaste } from './group-turns.ts';

/** A group whose turn has come. */
export interface Attempt {
  readonly entry: PoolEntry;
  readonly tx: Tx;
  readonly calls: readonly GroupCall[];
  readonly waste: GroupWaste;
}

interface CheckPlace {
  readonly ports: {
    readonly checks: ImageChecks;
    readonly turns: GroupTurns;
    readonly clock: Pick<Clock, 'after' | 'monotonic'>;
  };
  readonly outcomes: GroupOutcomes;
  readonly ended: Promise<boolean>;
}

/** False where it has to wait, or has been judged. `ms`: the time for all its checks. */
export async function areGood(
  { entry, tx, calls, waste }: Attempt,
  ms: number,
  { ports, outcomes, ended }: CheckPlace,
): Promise<boolean> {
  const updates = calls.filter(({ isUpdate }) => isUpdate);
  if (updates.length === 0) return true;
  const { late, cancel } = timeLimit(ports.clock, ms);
  const over = ended.then((now) => (now ? 'stopped' : 'late'));
  let hasWaited = false;
  try {
    // One after the other, as the checks of one creator under way are few.
    for (const call of updates) {
      const check = ports.checks.check(call.image, call.owner);
      // So far it has cost the round nothing.
      if (check === 'busy' && !hasWaited) return false;
      ports.turns.began(entry.sender);
      hasWaited = true;
      const began = ports.clock.monotonic();
      const found = check === 'busy' ? 'late' : await Promise.race([check, late, over]);
      waste.took(call, ports.clock.monotonic() - began);
      if (found === undefined) continue;
      if (found === 'late') outcomes.heldUp(entry, tx, LATE, call);
      else if (found === 'stopped') waste.isOwed = false;
      else outcomes.failed(entry, tx, call, found);
      return false;
    }
  } finally {
    cancel();
  }
  return true;
}

const LATE = 'The check of its image has taken too long';
