/**
 * Penalties of nodes that fail or misbehave (network.md#penalties).
 *
 *   suspended     an address that failed, or whose connection ended: not dialled for a while
 *   blacklisted   an owner and its host: refused in both directions, for a quarter of an hour
 *   limited       a host with an offence before any proof of identity: few of its connections begin,
 *                 for a quarter of an hour (host-limits.ts)
 *
 * A configured node is blacklisted for at most a minute, and so is any node for being slow. A
 * configured one is suspended, or blacklisted for being slow, for at most some seconds. So a network
 * heals. Nodes share the hosts of the loopback, so there only the owner is refused. Honest lateness
 * (a block that is no child of the tip, or a little ahead of the clock) is no offence.
 */
import { latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { isLoopback } from '../messages/peer-address.ts';
import { HostLimits } from './host-limits.ts';
import type { Offence } from './session.ts';

export interface PenaltyOptions {
  readonly suspensionMs: number;
  readonly blacklistMs: number;
  /** False: offences close sessions and leave no mark. */
  readonly blacklisting: boolean;
  /** True for a host that the configuration names; absent: there is none. */
  readonly isKept?: (host: string) => boolean;
}

export interface Culprit {
  /** Proved. */
  readonly owner: Uint8Array;
  readonly host: string;
  /** True for a node that the configuration names. */
  readonly configured: boolean;
}

export type PenaltyOutcome = 'noted' | 'close' | 'limited' | 'blacklisted';

export interface BlacklistEntry {
  readonly host: string;
  readonly owner: Uint8Array;
  /** Time of day. */
  readonly since: number;
  /** On the monotonic clock, so that a time server can neither end nor prolong it. */
  readonly until: number;
  readonly reason: string;
}

interface Weight {
  readonly times: number;
  readonly closes: boolean;
  /** A connection that works in one direction only looks the same. */
  readonly slow?: true;
}

/** Offences within an hour that lead to the blacklist, and whether each ends a session. */
const WEIGHTS: Readonly<Record<Offence, Weight>> = {
  'malformed-message': { times: 1, closes: true },
  'invalid-block': { times: 1, closes: true },
  'wrong-private-data': { times: 1, closes: true },
  'forged-status': { times: 1, closes: true },
  'forged-handshake': { times: 1, closes: true },
  flood: { times: 1, closes: true },
  'unanswered-request': { times: 3, closes: true, slow: true },
  'invalid-transactions': { times: 4, closes: false },
  // The limits on time are short, so a busy peer may miss some.
  withheld: { times: 10, closes: false, slow: true },
};
const HOUR_MS = 3_600_000;
const CONFIGURED_MS_MAX = 60_000;
/** Two miners that need each other make no block meanwhile. A peer that stays slow comes back here. */
const SLOW_MS_MAX = 60_000;
/** A divided network must be whole again soon after its connections work. */
const CONFIGURED_PAUSE_MS_MAX = 5_000;
/** Rows of each kind; the oldest are dropped first. */
const ROWS_MAX = 1000;

export class Penalties {
  private readonly options: PenaltyOptions;
  private readonly clock: Clock;
  private readonly suspensions = new Map<
    string,
    { readonly since: number; readonly until: number }
  >();
  private readonly offences = new Map<string, number[]>();
  private readonly entries = new Map<string, BlacklistEntry>();
  private readonly limits: HostLimits;
  private readonly listeners: ((offence: Offence, verdict: PenaltyOutcome) => void)[] = [];

  constructor(options: PenaltyOptions, clock: Clock) {
    this.options = options;
    this.clock = clock;
    this.limits = new HostLimits(options.blacklistMs, clock, options.isKept);
  }

  offend(culprit: Culprit, offence: Offence, detail: string): PenaltyOutcome {
    const verdict = this.judge(culprit, offence, detail);
    this.tell(offence, verdict);
    return verdict;
  }

  /** Before the other side has proved who it is. True where the host was not limited so far. */
  offendUnproved(host: string, offence: Offence): boolean {
    this.tell(offence, this.options.blacklisting ? 'limited' : 'close');
    return this.options.blacklisting && this.limits.offend(host);
  }

  /** The owner has proved itself on a connection with this transport key. */
  prove(owner: Uint8Array, transportId: Uint8Array): void {
    this.limits.prove(owner, transportId);
  }

  /** Counts a connection that another node opens; false where its host opens too many. */
  mayBegin(host: string, transportId: Uint8Array): boolean {
    return this.limits.mayBegin(host, transportId);
  }

  /** `action` is called for every offence. */
  onOffence(action: (offence: Offence, verdict: PenaltyOutcome) => void): void {
    this.listeners.push(action);
  }

  suspend(place: string, configured: boolean): void {
    const { suspensionMs } = this.options;
    const ms = configured ? Math.min(suspensionMs, CONFIGURED_PAUSE_MS_MAX) : suspensionMs;
    const until = this.clock.monotonic() + ms;
    put(this.suspensions, place, { since: this.clock.now(), until });
  }

  isSuspended(place: string): boolean {
    const suspension = this.suspensions.get(place);
    return suspension !== undefined && this.clock.monotonic() < suspension.until;
  }

  /** Reason for which the owner, or its host, is refused. */
  blacklistReason(owner: Uint8Array | undefined, host: string): string | undefined {
    const key = owner === undefined ? undefined : latin1(owner);
    return this.blacklisted().find(
      (entry) => latin1(entry.owner) === key || (entry.host === host && !isLoopback(host)),
    )?.reason;
  }

  suspended(): readonly { readonly place: string; readonly since: number }[] {
    const now = this.clock.monotonic();
    for (const [place, { until }] of this.suspensions) {
      if (until <= now) this.suspensions.delete(place);
    }
    return Array.from(this.suspensions, ([place, { since }]) => ({ place, since }));
  }

  /** Also the limits of hosts. */
  clearBlacklist(): void {
    this.entries.clear();
    this.limits.clear();
  }

  /** Counts this offence together with those of the last hour. */
  private count(culprit: Culprit, offence: Offence): number {
    const key = `${offence} ${latin1(culprit.owner)}`;
    const now = this.clock.monotonic();
    const recent = (this.offences.get(key) ?? []).filter((time) => now - time < HOUR_MS);
    recent.push(now);
    put(this.offences, key, recent);
    return recent.length;
  }

  private blacklist(culprit: Culprit, reason: string, isSlow: boolean): boolean {
    const { owner, host, configured } = culprit;
    if (!this.options.blacklisting) return false;
    const since = this.clock.now();
    const ms = Math.min(this.options.blacklistMs, longestMs(configured, isSlow));
    const until = this.clock.monotonic() + ms;
    put(this.entries, latin1(owner), { host, owner, since, until, reason });
    return true;
  }

  blacklisted(): readonly BlacklistEntry[] {
    const now = this.clock.monotonic();
    for (const [key, entry] of this.entries) if (entry.until <= now) this.entries.delete(key);
    return [...this.entries.values()];
  }

  private judge(culprit: Culprit, offence: Offence, detail: string): PenaltyOutcome {
    const { times, closes, slow } = WEIGHTS[offence];
    if (this.count(culprit, offence) < times) return closes ? 'close' : 'noted';
    return this.blacklist(culprit, `${offence}: ${detail}`, slow === true)
      ? 'blacklisted'
      : 'close';
  }

  private tell(offence: Offence, verdict: PenaltyOutcome): void {
    for (const listener of this.listeners) listener(offence, verdict);
  }
}

function longestMs(configured: boolean, isSlow: boolean): number {
  if (configured) return isSlow ? CONFIGURED_PAUSE_MS_MAX : CONFIGURED_MS_MAX;
  return isSlow ? SLOW_MS_MAX : Infinity;
}

function put<V>(rows: Map<string, V>, key: string, value: V): void {
  rows.delete(key);
  rows.set(key, value);
  if (rows.size > ROWS_MAX) rows.delete(rows.keys().next().value!);
}
