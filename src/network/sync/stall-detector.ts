/**
 * Detects a peer that is followed without progress. A peer can serve correct but useless blocks for
 * ever, slowly enough that each answer is in time. So only blocks that this node adopted count as
 * progress.
 *
 * Only time spent on following counts, in ticks of a timer: neither a jump of the clock nor a node
 * that was stopped for a while makes an honest peer look idle.
 */
import { latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { BoundedCache } from '../../concurrency/bounded-cache.ts';
import { every } from '../../concurrency/interval.ts';

/** Watches one peer while it is being followed. */
export interface StallWatch {
  /** So many of its blocks were adopted. */
  adopted(blocks: number): void;
  /** The peer rolled back from the score for which it was followed. */
  rolledBack(): void;
  /** Its blocks could not be used, although no rule says that this is its fault. */
  unusable(): void;
  end(): void;
}

export interface StallDetector {
  /** Calls `onStalled` when the peer should no longer be followed: after `idleMs` without an adopted block. */
  watch(owner: Uint8Array, idleMs: number, onStalled: () => void): StallWatch;
  /** Blocks adopted within the last minute or two of following. */
  recentlyAdopted(): number;
}

const TICK_MS = 1_000;
/** A peer is left when it was followed for so long without an adopted block … */
export const IDLE_MS_MAX = 90_000;
/** … for each so many blocks that have to be fetched before any of them is adopted. */
const IDLE_BLOCKS = 100;
/** A rollback of the peer, and blocks that could not be used, count like so much time. */
const ROLLED_BACK_MS = 30_000;
const UNUSABLE_MS = 10_000;
/** An adopted block offsets so much time. A peer slower than that never catches us up. */
const ADOPTED_MS = 15_000;
const RECENT_TICKS = 60;
/** Owners whose idle time is remembered. */
const OWNERS_MAX = 1_000;

/** How long a peer may take where so many blocks may be given up for its chain. */
export const idleMsOf = (depthMax: number): number =>
  IDLE_MS_MAX * Math.max(1, Math.ceil(depthMax / IDLE_BLOCKS));

export function createStallDetector(clock: Clock): StallDetector {
  /** Milliseconds by owner, since a new session does not make an old idler useful. */
  const idle = new BoundedCache<string, number>(OWNERS_MAX);
  /** Blocks adopted in this minute of following, and in the one before. */
  const adopted = { ticks: 0, now: 0, before: 0 };

  function pass(): void {
    if (++adopted.ticks % RECENT_TICKS !== 0) return;
    adopted.before = adopted.now;
    adopted.now = 0;
  }

  return {
    watch(owner, idleMs, onStalled) {
      const key = latin1(owner);
      const end = every(clock, TICK_MS, () => {
        pass();
        spend(TICK_MS);
      });

      function spend(ms: number): void {
        const spent = Math.max(0, (idle.get(key) ?? 0) + ms);
        idle.set(key, spent);
        if (spent < idleMs) return;
        idle.delete(key);
        end();
        onStalled();
      }

      return {
        adopted(blocks) {
          adopted.now += blocks;
          spend(-blocks * ADOPTED_MS);
        },
        rolledBack: () => spend(ROLLED_BACK_MS),
        unusable: () => spend(UNUSABLE_MS),
        end,
      };
    },
    recentlyAdopted: () => adopted.before + adopted.now,
  };
}
