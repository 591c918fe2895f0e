/**
 * The time of day from time servers, some of which may be silent or wrong.
 *
 *   a round   asks all servers at once and takes the median of their answers, provided that more than
 *             half of the configured servers are close to it
 *   a step    beyond `maxStepMs` is taken only if it leads to what the machine's own clock shows, or if
 *             three servers agree on it in three rounds running; else the time stays as it is
 *   all steps together never lead farther than `maxDeviationMs` from the machine's own clock
 *
 * Until the first usable round the time is that of the machine's clock. Between rounds it advances
 * with the monotonic clock, so that a jump of the machine's clock does not move it.
 *
 * Invariants: a trouble of the servers is logged once until a round is usable again; the fatal
 * timeout counts from the last usable round or from the start, and `onFatal` is called once.
 */
import type { Log } from '../base/ports.ts';
import { AGREE_MS, askTime, type Reply } from './ntp-question.ts';

export interface TimeSource {
  /** Milliseconds since 1970; the machine's clock until the first usable round. */
  now(): number;
  /** True until the fatal timeout has passed without a usable round. */
  fresh(): boolean;
  /** Why the last round was not usable, for people; undefined before it and where it was. */
  trouble(): string | undefined;
  /** Resolves with whether the first round was usable, or with false after `ms` or a stop. */
  ready(ms: number): Promise<boolean>;
  stop(): void;
}

export interface NtpOptions {
  /** host, host:port or [IPv6 address]:port */
  readonly servers: readonly string[];
  readonly requestTimeoutMs: number;
  readonly expirationMs: number;
  /** Infinity: none. */
  readonly fatalMs: number;
  readonly maxStepMs: number;
  readonly maxDeviationMs: number;
}

const WITNESSES = 3;
const ROUNDS = 3;
/** A server that refused a question is asked again so much later. */
const REFUSED_MS = 3_600_000;
/** A question, and a pause between rounds, take at most this part of the fatal timeout. */
const PARTS_OF_FATAL = 4;
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Why a round cannot be used: the end of its event in the log, and a text for people. */
interface Trouble {
  readonly kind: 'silent' | 'disagreement' | 'step-refused' | 'too-far';
  readonly why: string;
}

/** `onFatal` gets the trouble of the last round. */
export function ntpSource(
  options: NtpOptions,
  log: Log,
  onFatal: (why: string) => void = () => undefined,
): TimeSource {
  const { maxStepMs, fatalMs } = options;
  const within = (ms: number): number => Math.min(ms, fatalMs / PARTS_OF_FATAL);
  // A server that is listed twice is one witness.
  const servers = [...new Set(options.servers)];
  const machine = machineClock();
  /** The time of day at moment 0 of the monotonic clock; undefined: no round was usable yet. */
  let origin: number | undefined;
  let usableAt = performance.now();
  /** A large step on which the last rounds agreed, and the number of these rounds. */
  let claimed = { origin: 0, rounds: 0 };
  let trouble: Trouble | undefined;
  const told = new Set<string>();
  const refusedUntil = new Map<string, number>();
  let nextRound: NodeJS.Timeout | undefined;
  let fatal: NodeJS.Timeout | undefined;
  const stop = new AbortController();
  const first = Promise.withResolvers<boolean>();

  const now = (): number =>
    origin === undefined ? Date.now() : Math.round(origin + performance.now());

  async function round(): Promise<void> {
    const replies = await Promise.all(servers.map(ask));
    if (stop.signal.aborted) return;
    const offsets = replies.flatMap((reply) => (typeof reply === 'object' ? reply.offsetMs : []));
    trouble = judge(offsets);
    note(trouble, offsets);
    first.resolve(trouble === undefined);
    const pause = trouble === undefined ? options.expirationMs : options.requestTimeoutMs;
    nextRound = setTimeout(round, within(pause)).unref();
  }

  async function ask(server: string): Promise<Reply> {
    if (performance.now() < (refusedUntil.get(server) ?? 0)) return undefined;
    const reply = await askTime(server, {
      timeoutMs: within(options.requestTimeoutMs),
      now,
      signal: stop.signal,
    });
    if (reply === 'refusal') refusedUntil.set(server, performance.now() + REFUSED_MS);
    return reply;
  }

  /** Sets the time from the answers of a round, or says why they cannot be used. */
  function judge(offsets: readonly number[]): Trouble | undefined {
    if (offsets.length === 0) return { kind: 'silent', why: 'no time server answers' };
    const { offset, agreeing } = medianOf(offsets);
    if (agreeing * 2 <= servers.length) {
      const why = `${agreeing} of ${servers.length} time servers agree, which is no majority`;
      return { kind: 'disagreement', why };
    }
    const next = now() + offset - performance.now();
    const step = `the time servers ask for a step of ${offset} ms`;
    if (machine.distanceTo(next) > options.maxDeviationMs) {
      const why = `${step}, farther from the clock of the machine than ntp.max-deviation`;
      return { kind: 'too-far', why };
    }
    if (Math.abs(offset) > maxStepMs && !isConfirmed(next, agreeing)) {
      return { kind: 'step-refused', why: `${step}, which is more than ntp.max-step` };
    }
    claimed = { origin: 0, rounds: 0 };
    origin = next;
    usableAt = performance.now();
    return undefined;
  }

  function isConfirmed(next: number, agreeing: number): boolean {
    if (origin !== undefined && machine.distanceNow(next) <= maxStepMs) return true;
    const isSame = claimed.rounds > 0 && Math.abs(next - claimed.origin) <= AGREE_MS;
    const rounds = agreeing < WITNESSES ? 0 : isSame ? claimed.rounds + 1 : 1;
    claimed = { origin: next, rounds };
    return rounds >= ROUNDS;
  }

  function note(found: Trouble | undefined, offsets: readonly number[]): void {
    if (found === undefined) {
      if (told.size > 0) log.info('ntp.usable', { offsets });
      told.clear();
    } else if (!told.has(found.kind)) {
      told.add(found.kind);
      log.warn(`ntp.${found.kind}`, { why: found.why, servers, offsets });
    }
  }

  /** Waits until the last usable round is too old, however often there is a newer one. */
  function watch(): void {
    const left = usableAt + fatalMs - performance.now();
    if (left < 0) onFatal(trouble?.why ?? 'no time server has answered yet');
    else fatal = setTimeout(watch, Math.min(left + 1, TIMER_MS_MAX)).unref();
  }

  void round();
  if (fatalMs !== Number.POSITIVE_INFINITY) watch();

  return {
    now,
    fresh: () => performance.now() - usableAt <= fatalMs,
    trouble: () => trouble?.why,
    ready(ms) {
      // Somebody waits for it, so the process must not end before.
      const timer = setTimeout(() => first.resolve(false), ms);
      return first.promise.finally(() => clearTimeout(timer));
    },
    stop() {
      stop.abort();
      first.resolve(false);
      clearTimeout(nextRound);
      clearTimeout(fatal);
    },
  };
}

/** How far a time is from the machine's own clock, given as its moment 0 of the monotonic clock. */
function machineClock() {
  const atStart = Date.now() - performance.now();
  const distanceNow = (origin: number): number => Math.abs(origin + performance.now() - Date.now());
  return {
    distanceNow,
    /** The machine's clock may have been set since the start; either reading will do. */
    distanceTo: (origin: number): number =>
      Math.min(distanceNow(origin), Math.abs(origin - atStart)),
  };
}

/** The median (the lower of two), and the number of answers close to it. */
function medianOf(offsets: readonly number[]): { offset: number; agreeing: number } {
  const sorted = offsets.toSorted((a, b) => a - b);
  const offset = sorted[(sorted.length - 1) >> 1]!;
  const agreeing = sorted.filter((other) => Math.abs(other - offset) <= AGREE_MS).length;
  return { offset, agreeing };
}
