/**
 * Who has had the part of a round for atomic transactions with contracts, and who has used it for
 * nothing. A sender can make a new transaction for each round, so it is the sender that gives way, and
 * not the transaction. Accounts cost nothing either, but the creator of a contract needs a role: so a
 * creator answers for senders that have had no success yet (contracts.md#inside-atomic-transactions).
 */
import { BoundedCache } from '../concurrency/bounded-cache.ts';

export interface GroupTurns {
  /** Something runs for the sender. */
  began(sender: string): void;
  /** The higher, the later the sender had its last turn; 0 where none is known. */
  lastOf(sender: string): number;
  /**
   * It has used time, and nothing of it is in the block. `creator`: that of the contract in which it
   * has failed.
   */
  failed(sender: string, creator: string | undefined): void;
  /** `creators`: those of all its contracts. */
  succeeded(sender: string, creators: readonly string[]): void;
  /**
   * True where the last one of the sender had no success; of an unknown sender, where that is so of a
   * creator.
   */
  isFailing(sender: string, creators: () => readonly string[]): boolean;
}

const KNOWN_MAX = 10_000;

export function createGroupTurns(): GroupTurns {
  const last = new BoundedCache<string, number>(KNOWN_MAX);
  /** By sender: whether the last one had success. */
  const outcomes = new BoundedCache<string, boolean>(KNOWN_MAX);
  const failingCreators = new Set<string>();
  let turns = 0;
  return {
    began: (sender) => last.set(sender, ++turns),
    lastOf: (sender) => last.get(sender) ?? 0,
    failed(sender, creator) {
      outcomes.set(sender, false);
      if (creator === undefined) return;
      failingCreators.add(creator);
      if (failingCreators.size > KNOWN_MAX)
        failingCreators.delete(failingCreators.values().next().value!);
    },
    succeeded(sender, creators) {
      outcomes.set(sender, true);
      for (const creator of creators) failingCreators.delete(creator);
    },
    isFailing(sender, creators) {
      const outcome = outcomes.get(sender);
      if (outcome !== undefined) return !outcome;
      if (failingCreators.size === 0) return false;
      return creators().some((creator) => failingCreators.has(creator));
    },
  };
}
