/** Counts what became of the requests, over the whole run and in the last second. */
import { isObject, parse } from '../../base/json/json.ts';
import { isOk } from './answers.ts';

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

export interface Report {
  readonly seconds: number;
  readonly accepted: number;
  readonly acceptedPerSecond: number;
  /** From the time when the request was due until its answer, in milliseconds. */
  readonly acceptedMs: Percentiles;
  readonly confirmed: number;
  readonly confirmedPerSecond: number;
  /** From the time when the request was due until its block was seen, in milliseconds. */
  readonly confirmedMs: Percentiles;
  /** Number of refusals by status and message. */
  readonly refused: Readonly<Record<string, number>>;
  /** Requests whose connection ended before the answer. */
  readonly lost: number;
}

const REASONS_MAX = 50;
const REASON_CHARS_MAX = 200;
const OTHER = 'other reasons';

export class Tally {
  private readonly accepted = new Latencies();
  private readonly confirmed = new Latencies();
  private readonly refused = new Map<string, number>();
  /** Accepted, and in no block yet: id → when it was due. */
  private readonly waiting = new Map<string, number>();
  /** Seen in a block before the answer arrived. */
  private readonly early = new Map<string, number>();
  private readonly start: number;
  private lastAnswer: number;
  private lastConfirmed: number;
  private lost = 0;

  constructor(start: number) {
    this.start = start;
    this.lastAnswer = start;
    this.lastConfirmed = start;
  }

  answered(id: string, due: number, answer: Buffer, now: number): void {
    this.lastAnswer = now;
    if (!isOk(answer)) {
      this.refuse(reasonOf(answer));
      return;
    }
    this.accepted.add(now - due);
    const seen = this.early.get(id);
    if (seen === undefined) this.waiting.set(id, due);
    else {
      this.early.delete(id);
      this.confirm(due, seen);
    }
  }

  /** `isOurs` is true for a request that was sent. */
  seen(id: string, now: number, isOurs: boolean): void {
    const due = this.waiting.get(id);
    if (due !== undefined) {
      this.waiting.delete(id);
      this.confirm(due, now);
    } else if (isOurs) this.early.set(id, now);
  }

  loses(): void {
    this.lost++;
  }

  get unconfirmed(): number {
    return this.waiting.size;
  }

  get total(): { readonly accepted: number; readonly confirmed: number; readonly refused: number } {
    let refused = this.lost;
    for (const count of this.refused.values()) refused += count;
    return { accepted: this.accepted.count, confirmed: this.confirmed.count, refused };
  }

  report(): Report {
    const seconds = (this.lastAnswer - this.start) / 1000;
    const confirming = (this.lastConfirmed - this.start) / 1000;
    return {
      seconds: rounded(seconds),
      accepted: this.accepted.count,
      acceptedPerSecond: rate(this.accepted.count, seconds),
      acceptedMs: percentiles(this.accepted),
      confirmed: this.confirmed.count,
      confirmedPerSecond: rate(this.confirmed.count, confirming),
      confirmedMs: percentiles(this.confirmed),
      refused: Object.fromEntries(this.refused),
      lost: this.lost,
    };
  }

  private confirm(due: number, now: number): void {
    this.confirmed.add(now - due);
    this.lastConfirmed = Math.max(this.lastConfirmed, now);
  }

  private refuse(reason: string): void {
    const known = this.refused.has(reason) || this.refused.size < REASONS_MAX ? reason : OTHER;
    this.refused.set(known, (this.refused.get(known) ?? 0) + 1);
  }
}

/** `503 Server is overloaded`: the status and the message of the answer. */
function reasonOf(answer: Buffer): string {
  const text = answer.toString();
  const status = text.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length);
  const body = text.slice(text.indexOf('\r\n\r\n') + 4);
  let message = body;
  try {
    const json = parse(body);
    if (isObject(json) && typeof json['message'] === 'string') message = json['message'];
  } catch {
    // What is not JSON is shown as it came.
  }
  return `${status} ${message}`.slice(0, REASON_CHARS_MAX);
}

const rounded = (value: number): number => Math.round(value * 100) / 100;
const rate = (count: number, seconds: number): number =>
  seconds === 0 ? 0 : Math.round(count / seconds);

function percentiles(of: Latencies): Percentiles {
  const at = (share: number): number => (of.count === 0 ? 0 : rounded(of.quantileMs(share)));
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: rounded(of.maxMs()) };
}

/** Counts latencies in steps of 10 µs, so that a long run needs no more memory than a short one. */
const STEPS_PER_MS = 100;
const MAX_MS = 10_000;

export class Latencies {
  private readonly counts = new Uint32Array(MAX_MS * STEPS_PER_MS + 1);
  private max = 0;
  count = 0;

  add(ms: number): void {
    // A timer may fire a little early, and so an answer may come before its request was due.
    const step = Math.max(0, Math.min((ms * STEPS_PER_MS) | 0, MAX_MS * STEPS_PER_MS));
    this.counts[step]!++;
    this.count++;
    if (ms > this.max) this.max = ms;
  }

  maxMs(): number {
    return this.max;
  }

  /** The time within which this share of all answers came. */
  quantileMs(share: number): number {
    let left = this.count * share;
    for (const [step, count] of this.counts.entries()) {
      left -= count;
      if (left <= 0) return step / STEPS_PER_MS;
    }
    return MAX_MS;
  }
}
