/**
 * Hosts with offences before a proof of identity (network.md#penalties). Anybody behind an address
 * can commit them, so they shut out nobody: they limit how often connections of that host may
 * begin. Connections with the transport key of a node that has proved itself before have a rate of
 * their own, above what an honest node does, so neither takes the room of the other.
 */

import { latin1 } from '../../base/bytes.ts';
import { clientOf } from '../../base/ip-range.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { BoundedCache } from '../../concurrency/bounded-cache.ts';
import { TokenBucket } from '../../concurrency/token-bucket.ts';

interface Limit {
  /** On the monotonic clock. */
  readonly until: number;
  /** Connections that may begin. */
  readonly bucket: TokenBucket;
}

interface Proved {
  /** The last transport key of the owner. */
  readonly key: string;
  /** It stays with the owner, whatever keys it takes. */
  readonly bucket: TokenBucket;
}

/** Connections of a limited host: at once, and in a second. */
export const LIMITED_BURST = 4;
export const LIMITED_PER_SECOND = 2;
/** The same of each owner that has proved itself; a node dials another one every few seconds. */
export const PROVED_BURST = 20;
export const PROVED_PER_SECOND = 1;
/** Hosts and owners that are remembered, at least; the oldest are dropped first. */
const HOSTS_MAX = 1_000;
const PROVED_MAX = 10_000;

export class HostLimits {
  private readonly clock: Pick<Clock, 'monotonic'>;
  private readonly limitMs: number;
  private readonly limits = new BoundedCache<string, Limit>(HOSTS_MAX);
  /** One key of each owner, so that no owner can take the places of others. */
  private readonly proved = new BoundedCache<string, Proved>(PROVED_MAX);
  /** Owners by their keys. */
  private readonly provedKeys = new BoundedCache<string, string>(PROVED_MAX);

  private readonly isKept: (host: string) => boolean;

  /**
   * `limitMs`: how long a host is limited after its last offence. `isKept`: true for a host that the
   * configuration names, which counts alone.
   */
  constructor(
    limitMs: number,
    clock: Pick<Clock, 'monotonic'>,
    isKept: (host: string) => boolean = () => false,
  ) {
    this.limitMs = limitMs;
    this.clock = clock;
    this.isKept = isKept;
  }

  /** An offence before a proof of identity. True where the host was not limited so far. */
  offend(host: string): boolean {
    const client = this.clientOf(host);
    const now = this.clock.monotonic();
    const known = this.limits.get(client);
    const isNew = known === undefined || now >= known.until;
    const bucket = isNew
      ? new TokenBucket(LIMITED_BURST, LIMITED_PER_SECOND, this.clock)
      : known.bucket;
    this.limits.set(client, { until: now + this.limitMs, bucket });
    return isNew;
  }

  /** The owner has proved itself on a connection with this transport key. */
  prove(owner: Uint8Array, transportId: Uint8Array): void {
    const [name, key] = [latin1(owner), latin1(transportId)];
    const known = this.proved.get(name);
    const before = known?.key ?? key;
    if (this.provedKeys.get(before) === name) this.provedKeys.delete(before);
    const bucket = known?.bucket ?? new TokenBucket(PROVED_BURST, PROVED_PER_SECOND, this.clock);
    this.proved.set(name, { key, bucket });
    this.provedKeys.set(key, name);
  }

  /** Counts a connection that begins; false where it is one too many. */
  mayBegin(host: string, transportId: Uint8Array): boolean {
    const client = this.clientOf(host);
    const limit = this.limits.get(client);
    if (limit === undefined) return true;
    if (this.clock.monotonic() >= limit.until) {
      this.limits.delete(client);
      return true;
    }
    const proved = this.proved.get(this.provedKeys.get(latin1(transportId)) ?? '');
    return (proved ?? limit).bucket.tryTake();
  }

  clear(): void {
    this.limits.clear();
  }

  private clientOf(host: string): string {
    return this.isKept(host) ? host : clientOf(host);
  }
}
