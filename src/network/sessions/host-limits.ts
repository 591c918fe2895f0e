/**
 * Hosts with offences before a proof of identity (network.md#penalties). Anybody behind an address
 * can commit them, so they shut out nobody: they limit how often connections of that host may
 * begin. Connections with the transport key of a node that has proved itself before are not
 * limited.
 */
import { latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports.ts';

interface Limit {
  /** On the monotonic clock. */
  readonly until: number;
  /** Connections that may begin at once. */
  credit: number;
  creditAt: number;
}

/** Connections of a limited host: at once, and in a second. */
export const LIMITED_BURST = 4;
export const LIMITED_PER_SECOND = 2;
/** Rows of each kind; the oldest are dropped first. */
const HOSTS_MAX = 1_000;
const PROVED_MAX = 10_000;

export class HostLimits {
  private readonly clock: Clock;
  private readonly limitMs: number;
  private readonly limits = new Map<string, Limit>();
  /** The last transport key of each owner, so that no owner can take the places of others. */
  private readonly keyOfOwner = new Map<string, string>();
  private readonly provedKeys = new Map<string, string>();

  /** `limitMs`: how long a host is limited after its last offence. */
  constructor(limitMs: number, clock: Clock) {
    this.limitMs = limitMs;
    this.clock = clock;
  }

  /** An offence before a proof of identity. True where the host was not limited so far. */
  offend(host: string): boolean {
    const now = this.clock.monotonic();
    const known = this.limits.get(host);
    const isNew = known === undefined || now >= known.until;
    const { credit, creditAt } = isNew ? { credit: LIMITED_BURST, creditAt: now } : known;
    this.limits.delete(host);
    this.limits.set(host, { until: now + this.limitMs, credit, creditAt });
    dropOldest(this.limits, HOSTS_MAX);
    return isNew;
  }

  /** The owner has proved itself on a connection with this transport key. */
  prove(owner: Uint8Array, transportId: Uint8Array): void {
    const [name, key] = [latin1(owner), latin1(transportId)];
    this.forget(name);
    this.keyOfOwner.set(name, key);
    this.provedKeys.set(key, name);
    const [oldest] = this.keyOfOwner.keys();
    if (this.keyOfOwner.size > PROVED_MAX && oldest !== undefined) this.forget(oldest);
  }

  /** Counts a connection that begins; false where it is one too many. */
  mayBegin(host: string, transportId: Uint8Array): boolean {
    const limit = this.limits.get(host);
    if (limit === undefined || this.provedKeys.has(latin1(transportId))) return true;
    const now = this.clock.monotonic();
    if (now >= limit.until) {
      this.limits.delete(host);
      return true;
    }
    const earned = ((now - limit.creditAt) / 1000) * LIMITED_PER_SECOND;
    limit.credit = Math.min(LIMITED_BURST, limit.credit + earned);
    limit.creditAt = now;
    if (limit.credit < 1) return false;
    limit.credit -= 1;
    return true;
  }

  clear(): void {
    this.limits.clear();
  }

  private forget(owner: string): void {
    const key = this.keyOfOwner.get(owner);
    if (key !== undefined && this.provedKeys.get(key) === owner) this.provedKeys.delete(key);
    this.keyOfOwner.delete(owner);
  }
}

function dropOldest<V>(rows: Map<string, V>, max: number): void {
  const [oldest] = rows.keys();
  if (rows.size > max && oldest !== undefined) rows.delete(oldest);
}
