/**
 * Who has had the part of a round for atomic transactions with contracts, and who has used it for
 * nothing. A sender can make a new transaction for each round, so it is the sender that gives way, and
 * not the transaction (contracts.md#inside-atomic-transactions).
 */
import { BoundedCache } from '../concurrency/bounded-cache.ts';

export interface GroupTurns {
  /** Something runs for the sender. */
  began(sender: string): void;
  /** The higher, the later the sender had its last turn; 0 where none is known. */
  lastOf(sender: string): number;
  /** It has used time, and nothing of it is in the block. */
  failed(sender: string): void;
  succeeded(sender: string): void;
  /** True where the last one of the sender had no success. */
  isFailing(sender: string): boolean;
}

const KNOWN_MAX = 10_000;

export function createGroupTurns(): GroupTurns {
  const last = new BoundedCache<string, number>(KNOWN_MAX);
  const failing = new BoundedCache<string, true>(KNOWN_MAX);
  let turns = 0;
  return {
    began: (sender) => last.set(sender, ++turns),
    lastOf: (sender) => last.get(sender) ?? 0,
    failed: (sender) => failing.set(sender, true),
    succeeded: (sender) => void failing.delete(sender),
    isFailing: (sender) => failing.has(sender),
  };
}
