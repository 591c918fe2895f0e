/** What the run of one atomic transaction has cost, if nothing of it gets into the block. */
import type { GroupCall } from './group-calls.ts';

/**
 * Of each call its creator owes only the time beyond: anybody can send calls that a good contract
 * refuses, or put them beside calls that fail.
 */
export const QUICK_MS = 100;

export class GroupWaste {
  /** True where it is in the block, or the node stops. */
  isNone = false;
  /** Milliseconds that creators owe, by creator. */
  readonly byCreator = new Map<string, number>();

  /** Whatever its outcome: a slow call that succeeds has cost as much where another one fails. */
  took({ owner }: Pick<GroupCall, 'owner'>, ms: number): void {
    if (ms <= QUICK_MS) return;
    this.byCreator.set(owner, (this.byCreator.get(owner) ?? 0) + ms - QUICK_MS);
  }
}
