/**
 * How much one peer may send in a second (architecture: 500 messages and 4 MB). Whoever is faster
 * is not read from until it is due again, which the transport turns into back-pressure; a peer that
 * keeps this up is a flood.
 */
import type { Clock } from '../base/ports.ts';

const MESSAGES_PER_SECOND = 500;
const BYTES_PER_SECOND = 4 * 1024 * 1024;
/** What may come at once: two seconds' worth. */
const BURST_SECONDS = 2;
/** Waiting without a break for so long is a flood. */
const FLOOD_MS = 60_000;

export interface Pace {
  /** Milliseconds to wait before the next message is read. */
  spend(bytes: number): number;
  isFlood(): boolean;
}

export function createPace(clock: Clock): Pace {
  let credit = BURST_SECONDS;
  let last = clock.now();
  let waitingSince: number | undefined;

  return {
    spend(bytes) {
      const now = clock.now();
      credit = Math.min(BURST_SECONDS, credit + Math.max(0, now - last) / 1000);
      last = now;
      credit -= Math.max(1 / MESSAGES_PER_SECOND, bytes / BYTES_PER_SECOND);
      if (credit >= 0) {
        waitingSince = undefined;
        return 0;
      }
      waitingSince ??= now;
      return Math.ceil(-credit * 1000);
    },
    isFlood: () => waitingSince !== undefined && clock.now() - waitingSince > FLOOD_MS,
  };
}
