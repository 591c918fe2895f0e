/**
 * The time of day from time servers, some of which may be wrong.
 *
 *   a round   asks all servers at once and takes the median of their answers, provided that more than
 *             half of the answers are close to it
 *   a step    beyond `maxStepMs` is taken only if it leads to what the machine's own clock shows, or if
 *             three servers agree on it in three rounds running; else the time stays as it is
 *
 * Between rounds the time advances with the monotonic clock, so that a jump of the machine's clock
 * does not move it. Without a usable round the time counts as stale after the fatal timeout.
 */
import type { Log } from '../base/ports.ts';
import { askTime } from './ntp-question.ts';

export interface TimeSource {
  /** Milliseconds since 1970; the machine's clock until the first usable round. */
  now(): number;
  /** True while the last usable round is younger than the fatal timeout. */
  fresh(): boolean;
  /** Resolves at the first usable round, or with false after `ms` or a stop. */
  ready(ms: number): Promise<boolean>;
  stop(): void;
}

export interface NtpOptions {
  /** host or host:port */
  readonly servers: readonly string[];
  readonly requestTimeoutMs: number;
  readonly expirationMs: number;
  readonly fatalMs: number;
  readonly maxStepMs: number;
}

/** Answers that differ by at most this much agree. */
const AGREE_MS = 1000;
const WITNESSES = 3;
const ROUNDS = 3;

export function ntpSource(options: NtpOptions, log: Log): TimeSource {
  const { servers, maxStepMs } = options;
  /** The time of day at moment 0 of the monotonic clock; undefined: no server has answered yet. */
  let origin: number | undefined;
  let answeredAt = Number.NEGATIVE_INFINITY;
  /** A large step on which the last rounds agreed, and the number of these rounds. */
  let claimed = { origin: 0, rounds: 0 };
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const waiting = new Set<(ok: boolean) => void>();

  const now = (): number =>
    origin === undefined ? Date.now() : Math.round(origin + performance.now());

  async function round(): Promise<void> {
    const asked = servers.map((server) => askTime(server, options.requestTimeoutMs, now));
    const offsets = (await Promise.all(asked)).flatMap((answer) => answer?.offsetMs ?? []);
    if (stopped) return;
    const isUsable = judge(offsets);
    if (isUsable) {
      answeredAt = performance.now();
      for (const resolve of waiting) resolve(true);
      waiting.clear();
    }
    timer = setTimeout(round, isUsable ? options.expirationMs : options.requestTimeoutMs);
    timer.unref();
  }

  /** Sets the time from the answers of a round; false: they are unusable. */
  function judge(offsets: readonly number[]): boolean {
    if (offsets.length === 0) {
      log.warn('ntp.silent', { servers });
      return false;
    }
    const { offset, agreeing } = medianOf(offsets);
    if (agreeing * 2 <= offsets.length) {
      log.warn('ntp.disagreement', { offsets });
      return false;
    }
    const next = now() + offset - performance.now();
    if (Math.abs(offset) > maxStepMs && !isConfirmed(next, agreeing)) {
      log.warn('ntp.step-refused', { offset, maxStep: maxStepMs, servers: agreeing });
      return false;
    }
    claimed = { origin: 0, rounds: 0 };
    origin = next;
    return true;
  }

  function isConfirmed(next: number, agreeing: number): boolean {
    if (origin !== undefined && Math.abs(next + performance.now() - Date.now()) <= maxStepMs) {
      return true;
    }
    const isSame = claimed.rounds > 0 && Math.abs(next - claimed.origin) <= AGREE_MS;
    const rounds = agreeing < WITNESSES ? 0 : isSame ? claimed.rounds + 1 : 1;
    claimed = { origin: next, rounds };
    return rounds >= ROUNDS;
  }

  void round();

  return {
    now,
    fresh: () => performance.now() - answeredAt <= options.fatalMs,
    ready(ms) {
      if (answeredAt > 0) return Promise.resolve(true);
      return new Promise((resolve) => {
        waiting.add(resolve);
        setTimeout(() => resolve(false), ms).unref();
      });
    },
    stop() {
      for (const resolve of waiting) resolve(false);
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** The median (the lower of two), and the number of answers close to it. */
function medianOf(offsets: readonly number[]): { offset: number; agreeing: number } {
  const sorted = offsets.toSorted((a, b) => a - b);
  const offset = sorted[(sorted.length - 1) >> 1]!;
  const agreeing = sorted.filter((other) => Math.abs(other - offset) <= AGREE_MS).length;
  return { offset, agreeing };
}
