/**
 * How much one peer may send in a protocol in a second, and how much it gets as answers. Faster
 * messages are not read until they are due, which the transport turns into back-pressure. A peer
 * that keeps sending notices faster than that is flooding.
 */

import { latin1 } from '../../base/bytes.ts';
import { pause } from '../../base/deadline.ts';
import type { PaceLimits } from '../../base/limits/budget.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { PeerStream } from '../../base/ports/network.ts';
import { BoundedCache } from '../../concurrency/bounded-cache.ts';
import { TokenBucket } from '../../concurrency/token-bucket.ts';

/** For protocols that declare no pace of their own. */
const ORDINARY: PaceLimits = { messages: 500, bytes: 4 * 1024 * 1024 };
/** What may arrive at once: the amount of two seconds. */
const BURST_SECONDS = 2;
/** A continuous wait of this length counts as a flood. */
const FLOOD_MS = 60_000;
/** The most paces in memory. */
const PACES_MAX = 5_000;

export interface Pace {
  /** Milliseconds to wait before anything more is done for the peer. */
  spend(bytes: number, messages?: number): number;
  isFlood(): boolean;
}

export function createPace(clock: Clock, limits: PaceLimits = ORDINARY): Pace {
  const seconds = new TokenBucket(BURST_SECONDS, 1, clock);
  let waitingSince: number | undefined;

  return {
    spend(bytes, messages = 1) {
      const waitMs = seconds.take(Math.max(messages / limits.messages, bytes / limits.bytes));
      if (waitMs > 0) waitingSince ??= clock.monotonic();
      else waitingSince = undefined;
      return waitMs;
    },
    isFlood: () => waitingSince !== undefined && clock.monotonic() - waitingSince > FLOOD_MS,
  };
}

/**
 * The paces of owners and protocols. They survive the session, so a new session does not reset
 * them.
 */
export class Paces {
  private readonly clock: Clock;
  private readonly paces = new BoundedCache<string, Pace>(PACES_MAX);

  constructor(clock: Clock) {
    this.clock = clock;
  }

  of(owner: Uint8Array, protocol: string, limits: PaceLimits | undefined): Pace {
    const key = `${protocol} ${latin1(owner)}`;
    const pace = this.paces.get(key) ?? createPace(this.clock, limits);
    this.paces.set(key, pace);
    return pace;
  }
}

/** The same stream; nothing is sent on it faster than the pace allows. */
export const paced = (stream: PeerStream, pace: Pace, clock: Clock): PeerStream => ({
  async send(message) {
    await stream.send(message);
    await pause(clock, pace.spend(message.length, 0));
  },
  receive: () => stream.receive(),
  end: () => stream.end(),
  abort: () => stream.abort(),
});
