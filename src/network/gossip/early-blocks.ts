/**
 * Announced blocks whose time has not come. Honest clocks differ a little, so a block that is just
 * ahead of the clock waits here and is judged again at its time.
 *
 * Invariant: what waits is limited for each peer, so none takes the places of another; a block that
 * several have announced waits in the place of one that has room.
 */
import type { Clock } from '../../base/ports/clock.ts';

export interface EarlyBlocks<Peer> {
  /**
   * True for a block that is so much ahead of the clock that it cannot be judged now. `again` is
   * called at its time, unless that is far away or too much of all these peers waits.
   */
  holds(aheadMs: number, announced: Announced<Peer>, again: () => void): boolean;
  stop(): void;
}

export interface Announced<Peer> {
  /** Those that have announced it, the first one first. */
  readonly peers: readonly Peer[];
  /** Size of the message that is kept meanwhile. */
  readonly bytes: number;
}

const AHEAD_MS_MAX = 5_000;
/** One millisecond less would do (blocks.md#checks-of-a-received-block). */
const AHEAD_MS = 100;
/** Of one peer; its first block waits whatever its size. */
const WAITING_MAX = 32;
const WAITING_BYTES_MAX = 4 * 1024 * 1024;

export function createEarlyBlocks<Peer>(clock: Pick<Clock, 'after'>): EarlyBlocks<Peer> {
  /** By the function that cancels the wait. */
  const waiting = new Map<() => void, { readonly peer: Peer; readonly bytes: number }>();

  function hasRoom(peer: Peer, bytes: number): boolean {
    const own = [...waiting.values()].filter((one) => one.peer === peer);
    const held = own.reduce((sum, one) => sum + one.bytes, 0);
    return own.length === 0 || (own.length < WAITING_MAX && held + bytes <= WAITING_BYTES_MAX);
  }

  return {
    holds(aheadMs, { peers, bytes }, again) {
      if (aheadMs < AHEAD_MS) return false;
      const peer = peers.find((one) => hasRoom(one, bytes));
      if (aheadMs > AHEAD_MS_MAX || peer === undefined) return true;
      const cancel = clock.after(aheadMs - AHEAD_MS + 1, () => {
        waiting.delete(cancel);
        again();
      });
      waiting.set(cancel, { peer, bytes });
      return true;
    },
    stop() {
      for (const cancel of waiting.keys()) cancel();
    },
  };
}
