/**
 * A bounded memory of names: the oldest leave first, and each one after its time.
 */
import type { Clock } from './ports.ts';

export interface RecentSet {
  add(name: string): void;
  remove(name: string): void;
  has(name: string): boolean;
}

export function createRecentSet(
  max: number,
  forgetMs: number,
  clock: Pick<Clock, 'now'>,
): RecentSet {
  // In the order of adding, so that the oldest stand first.
  const addedAt = new Map<string, number>();
  return {
    add(name) {
      addedAt.delete(name);
      addedAt.set(name, clock.now());
      if (addedAt.size > max) addedAt.delete(addedAt.keys().next().value ?? '');
    },
    remove: (name) => void addedAt.delete(name),
    has(name) {
      const at = addedAt.get(name);
      if (at === undefined) return false;
      if (clock.now() - at <= forgetMs) return true;
      addedAt.delete(name);
      return false;
    },
  };
}
