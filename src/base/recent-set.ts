/** A bounded memory of names; each is forgotten after its time. */
import type { Clock } from './ports.ts';
import { Recent } from './recent.ts';

export interface RecentSet {
  add(name: string): void;
  remove(name: string): void;
  has(name: string): boolean;
}

/** Remembers the last `max` names, and up to twice as many. */
export function createRecentSet(
  max: number,
  forgetMs: number,
  clock: Pick<Clock, 'monotonic'>,
): RecentSet {
  const addedAt = new Recent<string, number>(max);
  return {
    // V8 keeps a small integer in the Map itself; a fraction is an object of its own.
    add: (name) => addedAt.set(name, Math.trunc(clock.monotonic())),
    remove: (name) => addedAt.delete(name),
    has(name) {
      const at = addedAt.get(name);
      if (at === undefined) return false;
      if (clock.monotonic() - at <= forgetMs) return true;
      addedAt.delete(name);
      return false;
    },
  };
}
