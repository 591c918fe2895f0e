/**
 * Hosts with offences before a proof of identity (network.md#penalties). Anybody behind an address
 * can commit them, so they shut out nobody: they limit how often connections of that host may
 * begin. Connections with the transport key of a node that has proved itself before have a rate of
 * their own, above what an honest node does, so neither takes the room of the other.
 */
import { latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports.ts';

interface Credit {
  /** Connections that may begin at once. */
  credit: number;
  /** On the monotonic clock, as all times here. */
  creditAt: number;
}

interface Limit extends Credit {
  readonly until: number;
}

interface Proved extends Credit {
  /** The last transport key of the owner. */
  key: string;
}

/** Connections of a limited host: at once, and in a second. */
export const LIMITED_BURST = 4;
export const LIMITED_PER_SECOND = 2;
/** The same of each owner that has proved itself; a node dials another one every few seconds. */
export const PROVED_BURST = 20;
export const PROVED_PER_SECOND = 1;
/** Rows of each kind; the oldest are dropped first. */
const HOSTS_MAX = 1_000;
const PROVED_MAX = 10_000;

export class HostLimits {
  private readonly clock: Pick<Clock, 'monotonic'>;
  private readonly limitMs: number;
  private readonly limits = new Map<string, Limit>();
  /** One key of each owner, so that no owner can take the places of others. */
  private readonly proved = new Map<string, Proved>();
  /** Owners by their keys. */
  private readonly provedKeys = new Map<string, string>();

  /** `limitMs`: how long a host is limited after its last offence. */
  constructor(limitMs: number, clock: Pick<Clock, 'monotonic'>) {
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
    // The credit stays with the owner, whatever keys it takes.
    const full = { credit: PROVED_BURST, creditAt: this.clock.monotonic() };
    const known = this.proved.get(name) ?? full;
    this.forget(name);
    this.proved.set(name, { ...known, key });
    this.provedKeys.set(key, name);
    const [oldest] = this.proved.keys();
    if (this.proved.size > PROVED_MAX && oldest !== undefined) this.forget(oldest);
  }

  /** Counts a connection that begins; false where it is one too many. */
  mayBegin(host: string, transportId: Uint8Array): boolean {
    const limit = this.limits.get(host);
    if (limit === undefined) return true;
    const now = this.clock.monotonic();
    if (now >= limit.until) {
      this.limits.delete(host);
      return true;
    }
    const proved = this.proved.get(this.provedKeys.get(latin1(transportId)) ?? '');
    if (proved !== undefined) return spend(proved, now, PROVED_BURST, PROVED_PER_SECOND);
    return spend(limit, now, LIMITED_BURST, LIMITED_PER_SECOND);
  }

  clear(): void {
    this.limits.clear();
  }

  private forget(owner: string): void {
    const key = this.proved.get(owner)?.key;
    if (key !== undefined && this.provedKeys.get(key) === owner) this.provedKeys.delete(key);
    this.proved.delete(owner);
  }
}

/** False where there is no credit for one connection more. */
function spend(of: Credit, now: number, burst: number, perSecond: number): boolean {
  of.credit = Math.min(burst, of.credit + ((now - of.creditAt) / 1000) * perSecond);
  of.creditAt = now;
  if (of.credit < 1) return false;
  of.credit -= 1;
  return true;
}

function dropOldest<V>(rows: Map<string, V>, max: number): void {
  const [oldest] = rows.keys();
  if (rows.size > max && oldest !== undefined) rows.delete(oldest);
}
