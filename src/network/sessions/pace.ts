/**
 * How much one peer may send of a protocol in a second, and get for it. What is faster is not read
 * until it is due, which the transport turns into back-pressure; a peer that goes on to send notices
 * faster than that is a flood.
 */
import type { PaceLimits } from '../../base/budget.ts';
import { latin1 } from '../../base/bytes.ts';
import type { PeerStream } from '../../base/network.ts';
import type { Clock } from '../../base/ports.ts';
import { Recent } from '../../base/recent.ts';

/** For protocols that declare no pace of their own. */
const ORDINARY: PaceLimits = { messages: 500, bytes: 4 * 1024 * 1024 };
/** What may come at once: two seconds' worth. */
const BURST_SECONDS = 2;
/** Waiting without a break for so long is a flood. */
const FLOOD_MS = 60_000;
/** Paces that are remembered. */
const PACES_MAX = 5_000;

export interface Pace {
  /** Milliseconds to wait before anything more is done for the peer. */
  spend(bytes: number, messages?: number): number;
  isFlood(): boolean;
}

export function createPace(clock: Clock, limits: PaceLimits = ORDINARY): Pace {
  let credit = BURST_SECONDS;
  let last = clock.monotonic();
  let waitingSince: number | undefined;

  return {
    spend(bytes, messages = 1) {
      const now = clock.monotonic();
      credit = Math.min(BURST_SECONDS, credit + Math.max(0, now - last) / 1000);
      last = now;
      credit -= Math.max(messages / limits.messages, bytes / limits.bytes);
      // To the microsecond, since sums of fractions are not exact.
      const waitMs = Math.ceil(Math.round(-credit * 1e6) / 1e3);
      if (waitMs > 0) waitingSince ??= now;
      else waitingSince = undefined;
      return Math.max(0, waitMs);
    },
    isFlood: () => waitingSince !== undefined && clock.monotonic() - waitingSince > FLOOD_MS,
  };
}

/** The paces of owners and protocols: a new session does not make one forgotten. */
export class Paces {
  private readonly clock: Clock;
  private readonly paces = new Recent<string, Pace>(PACES_MAX);

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

/** Resolves when what was spent is due. */
export async function pause(clock: Clock, ms: number): Promise<void> {
  if (ms > 0) await new Promise<void>((resolve) => void clock.after(ms, resolve));
}

/** The same stream, on which nothing is sent faster than the pace allows. */
export const paced = (stream: PeerStream, pace: Pace, clock: Clock): PeerStream => ({
  async send(message) {
    await stream.send(message);
    await pause(clock, pace.spend(message.length, 0));
  },
  receive: () => stream.receive(),
  end: () => stream.end(),
  abort: () => stream.abort(),
});
