/**
 * Who may ask, and how often (data-service.md#access). Both are judged before a body is read.
 *
 * A secret is compared by its hash, in a time that does not depend on it.
 */

import { apiError } from '../../base/errors.ts';
import { clientOf, type IpRange, ipBytes, isInRanges } from '../../base/ip-range.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { HttpRequest } from '../../base/ports/http.ts';
import { BoundedCache } from '../../concurrency/bounded-cache.ts';
import { TokenBucket } from '../../concurrency/token-bucket.ts';
import { type Guard, type Hashes, matches, secretOf } from '../../rest-framework/auth.ts';

export interface AccessOptions {
  readonly auth: 'none' | 'api-key' | 'proxy';
  /** Hashes of the valid keys, as bytes. */
  readonly keyHashes: readonly Uint8Array[];
  /** Addresses of proxies that vouch for their requests. */
  readonly trustedProxies: readonly IpRange[];
  /** Requests a second for one client; 0: no limit. */
  readonly rate: number;
  readonly burst: number;
}

/** Who sends a request: a key or an address. A handler cannot find out any more. */
export type Clients = WeakMap<HttpRequest, string>;

/** Clients whose rate is remembered. */
const CLIENTS_MAX = 10_000;

/**
 * A valid key has a rate of its own; whatever else a request says about its sender counts for the
 * address, so a client does not get more by inventing keys, and cannot try keys without limit.
 */
export function accessGuard(
  options: AccessOptions,
  hashes: Hashes,
  clock: Clock,
  clients?: Clients,
): Guard {
  const judge = permission(options, hashes);
  const isTooOften = rateLimit(options, clock);
  return (request) => {
    const refusal = judge(request);
    const hasKey = options.auth === 'api-key' && refusal === undefined;
    const client = hasKey
      ? keyOf(request)
      : clientOf(clientAddress(request, options.trustedProxies));
    clients?.set(request, client);
    return isTooOften(client) ? apiError('TooManyRequests') : refusal;
  };
}

function permission({ auth, keyHashes, trustedProxies }: AccessOptions, hashes: Hashes): Guard {
  if (auth === 'none') return () => undefined;
  if (auth === 'proxy') {
    return (request) =>
      isInRanges(request.remoteAddress(), trustedProxies) ? undefined : apiError('ApiKeyNotValid');
  }
  return (request) => {
    const secret = keyOf(request);
    if (secret === '') return apiError('ApiKeyMissing');
    return matches(secret, keyHashes, hashes) ? undefined : apiError('ApiKeyNotValid');
  };
}

/** The last address of the way here that is no trusted proxy; what stands before it may be made up. */
function clientAddress(request: HttpRequest, trusted: readonly IpRange[]): string {
  const remote = request.remoteAddress();
  if (trusted.length === 0 || !isInRanges(remote, trusted)) return remote;
  const way = request.headers('x-forwarded-for').split(',');
  const client = way.map((one) => one.trim()).findLast((one) => !isInRanges(one, trusted));
  return client === undefined || ipBytes(client) === undefined ? remote : client;
}

function keyOf(request: HttpRequest): string {
  const secret = secretOf(request);
  if (secret !== '') return secret;
  return /^Bearer (.+)$/i.exec(request.header('authorization'))?.[1]?.trim() ?? '';
}

/** A bucket of tokens for each client. */
function rateLimit({ rate, burst }: AccessOptions, clock: Clock): (client: string) => boolean {
  if (rate === 0) return () => false;
  const buckets = new BoundedCache<string, TokenBucket>(CLIENTS_MAX);
  return (client) => {
    const known = buckets.get(client);
    const bucket = known ?? new TokenBucket(burst, rate, clock);
    if (known === undefined) buckets.set(client, bucket);
    return !bucket.tryTake();
  };
}
