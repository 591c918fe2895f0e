/**
 * Which of the waiting transactions a phase has in play. Senders share the places: none gets more than
 * an equal part while others want theirs. What was left out comes in when half of the rest is done.
 */
import { roundLimits as limits } from '../../base/limits/round-limits.ts';
import type { PoolEntry } from '../../mempool/entries/entry.ts';

/** Transactions in play at once. */
export const ENTRIES_MAX = limits.inPlay.value;
/** Those of one contract, which are executed one after the other, and those of one sender. */
export const ENTRIES_OF_ONE_MAX = limits.inPlayOfOne.value;
/** Left out and not forgotten. */
const LEFT_OUT_MAX = limits.leftOut.value;

export interface PhaseIntake {
  /** Shares the places out among the senders of these, before they are offered. */
  share(entries: readonly PoolEntry[]): void;
  /**
   * True where the transaction is in play now; otherwise it may be offered again later. `comesBehind`: not
   * before those of the contract that were left out.
   */
  offer(entry: PoolEntry, contract: string, comesBehind?: boolean): boolean;
  /** It has been executed, has left, or has to wait for another block. */
  leave(entry: PoolEntry, contract: string): void;
  /** What was left out, once there is room for it. */
  again(): readonly PoolEntry[];
}

export function createPhaseIntake(): PhaseIntake {
  const bySender = new Map<string, number>();
  const byContract = new Map<string, number>();
  let leftOut: PoolEntry[] = [];
  /** The contracts of these. */
  const lacking = new Set<string>();
  let shareOfOne = ENTRIES_OF_ONE_MAX;
  let inPlay = 0;
  let filled = 0;

  return {
    share(entries) {
      shareOfOne = fairShare(entries);
    },
    offer(entry, contract, comesBehind = false) {
      const ofSender = bySender.get(entry.sender) ?? 0;
      const ofContract = byContract.get(contract) ?? 0;
      const isFull = inPlay >= ENTRIES_MAX || ofContract >= ENTRIES_OF_ONE_MAX;
      const isEarly = comesBehind && lacking.has(contract);
      if (isFull || ofSender >= shareOfOne || isEarly) {
        lacking.add(contract);
        if (leftOut.length < LEFT_OUT_MAX) leftOut.push(entry);
        return false;
      }
      bySender.set(entry.sender, ofSender + 1);
      byContract.set(contract, ofContract + 1);
      filled = Math.max(filled, ++inPlay);
      return true;
    },
    leave(entry, contract) {
      bySender.set(entry.sender, bySender.get(entry.sender)! - 1);
      byContract.set(contract, byContract.get(contract)! - 1);
      inPlay--;
    },
    again() {
      if (leftOut.length === 0 || inPlay > filled / 2) return NONE;
      const entries = leftOut.filter(({ removed }) => !removed);
      leftOut = [];
      lacking.clear();
      filled = inPlay;
      shareOfOne = fairShare(entries);
      return entries;
    },
  };
}

const NONE: readonly PoolEntry[] = [];

/** The most that one sender may have, so that all together have as many as possible. */
function fairShare(entries: readonly PoolEntry[]): number {
  const counts = new Map<string, number>();
  for (const { sender } of entries) counts.set(sender, (counts.get(sender) ?? 0) + 1);
  let places = ENTRIES_MAX;
  let senders = counts.size;
  for (const count of [...counts.values()].sort((a, b) => a - b)) {
    const equal = Math.floor(places / senders);
    if (count > equal) return Math.min(ENTRIES_OF_ONE_MAX, Math.max(1, equal));
    places -= count;
    senders--;
  }
  return ENTRIES_OF_ONE_MAX;
}
