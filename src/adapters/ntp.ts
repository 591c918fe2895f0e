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
import type { Log } from '../base/ports/log.ts';
import { AGREE_MS, askTime, type Reply } from './ntp-question.ts';

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

export class TimeSource {
  private readonly options: NtpOptions;
  private readonly log: Log;
  private readonly onFatal: (why: string) => void;
  private readonly servers: readonly string[];
  private readonly machine = machineClock();
  /** The time of day at moment 0 of the monotonic clock; undefined: no round was usable yet. */
  private origin: number | undefined;
  private usableAt = performance.now();
  /** A large step on which the last rounds agreed, and the number of these rounds. */
  private claimed = { origin: 0, rounds: 0 };
  private lastTrouble: Trouble | undefined;
  private readonly told = new Set<string>();
  private readonly refusedUntil = new Map<string, number>();
  private nextRound: NodeJS.Timeout | undefined;
  private fatal: NodeJS.Timeout | undefined;
  private readonly stopped = new AbortController();
  private readonly first = Promise.withResolvers<boolean>();

  /** `onFatal` gets the trouble of the last round. */
  constructor(options: NtpOptions, log: Log, onFatal: (why: string) => void = () => undefined) {
    this.options = options;
    this.log = log;
    this.onFatal = onFatal;
    // A server that is listed twice is one witness.
    this.servers = [...new Set(options.servers)];
  }

  start(): void {
    void this.round();
    if (this.options.fatalMs !== Number.POSITIVE_INFINITY) this.watch();
  }

  stop(): void {
    this.stopped.abort();
    this.first.resolve(false);
    clearTimeout(this.nextRound);
    clearTimeout(this.fatal);
  }

  /** Milliseconds since 1970; the machine's clock until the first usable round. */
  now(): number {
    return this.origin === undefined ? Date.now() : Math.round(this.origin + performance.now());
  }

  /** True until the fatal timeout has passed without a usable round. */
  fresh(): boolean {
    return performance.now() - this.usableAt <= this.options.fatalMs;
  }

  /** Why the last round was not usable, for people; undefined before it and where it was. */
  trouble(): string | undefined {
    return this.lastTrouble?.why;
  }

  /** Resolves with whether the first round was usable, or with false after `ms` or a stop. */
  ready(ms: number): Promise<boolean> {
    // Somebody waits for it, so the process must not end before.
    const timer = setTimeout(() => this.first.resolve(false), ms);
    return this.first.promise.finally(() => clearTimeout(timer));
  }

  private within(ms: number): number {
    return Math.ceil(Math.min(ms, this.options.fatalMs / PARTS_OF_FATAL, TIMER_MS_MAX));
  }

  private async round(): Promise<void> {
    const replies = await Promise.all(this.servers.map((server) => this.ask(server)));
    if (this.stopped.signal.aborted) return;
    const offsets = replies.flatMap((reply) => (typeof reply === 'object' ? reply.offsetMs : []));
    const trouble = this.judge(offsets);
    this.lastTrouble = trouble;
    this.note(trouble, offsets);
    this.first.resolve(trouble === undefined);
    const { expirationMs, requestTimeoutMs } = this.options;
    const pause = trouble === undefined ? expirationMs : requestTimeoutMs;
    this.nextRound = setTimeout(() => this.round(), this.within(pause)).unref();
  }

  private async ask(server: string): Promise<Reply> {
    if (performance.now() < (this.refusedUntil.get(server) ?? 0)) return undefined;
    const reply = await askTime(server, {
      timeoutMs: this.within(this.options.requestTimeoutMs),
      now: () => this.now(),
      signal: this.stopped.signal,
    });
    if (reply === 'refusal') this.refusedUntil.set(server, performance.now() + REFUSED_MS);
    return reply;
  }

  /** Sets the time from the answers of a round, or says why they cannot be used. */
  private judge(offsets: readonly number[]): Trouble | undefined {
    if (offsets.length === 0) return { kind: 'silent', why: 'no time server answers' };
    const { offset, agreeing } = medianOf(offsets);
    const { length } = this.servers;
    if (agreeing * 2 <= length) {
      const why = `${agreeing} of ${length} time servers agree, which is no majority`;
      return { kind: 'disagreement', why };
    }
    const next = this.now() + offset - performance.now();
    const step = `the time servers ask for a step of ${offset} ms`;
    if (this.machine.distanceTo(next) > this.options.maxDeviationMs) {
      const why = `${step}, farther from the clock of the machine than ntp.max-deviation`;
      return { kind: 'too-far', why };
    }
    if (Math.abs(offset) > this.options.maxStepMs && !this.isConfirmed(next, agreeing)) {
      return { kind: 'step-refused', why: `${step}, which is more than ntp.max-step` };
    }
    this.claimed = { origin: 0, rounds: 0 };
    this.origin = next;
    this.usableAt = performance.now();
    return undefined;
  }

  private isConfirmed(next: number, agreeing: number): boolean {
    const { origin, claimed, machine } = this;
    if (origin !== undefined && machine.distanceNow(next) <= this.options.maxStepMs) return true;
    const isSame = claimed.rounds > 0 && Math.abs(next - claimed.origin) <= AGREE_MS;
    const rounds = agreeing < WITNESSES ? 0 : isSame ? claimed.rounds + 1 : 1;
    this.claimed = { origin: next, rounds };
    return rounds >= ROUNDS;
  }

  private note(found: Trouble | undefined, offsets: readonly number[]): void {
    const { log, told, servers } = this;
    if (found === undefined) {
      if (told.size > 0) log.info('ntp.usable', { offsets });
      told.clear();
    } else if (!told.has(found.kind)) {
      told.add(found.kind);
      log.warn(`ntp.${found.kind}`, { why: found.why, servers, offsets });
    }
  }

  /** Waits until the last usable round is too old, however often there is a newer one. */
  private watch(): void {
    const left = this.usableAt + this.options.fatalMs - performance.now();
    if (left < 0) this.onFatal(this.trouble() ?? 'no time server has answered yet');
    else this.fatal = setTimeout(() => this.watch(), Math.min(left + 1, TIMER_MS_MAX)).unref();
  }
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
