/**
 * Who may ask, and how often (data-service.md#access). Both are judged before a body is read.
 *
 * A secret is compared by its hash, in a time that does not depend on it.
 */
import { matches, secretOf } from '../../api/auth.ts';
import { type ApiError, apiError } from '../../base/errors.ts';
import type { HttpRequest } from '../../base/http.ts';
import type { Clock } from '../../base/ports.ts';

export interface AccessOptions {
  readonly auth: 'none' | 'api-key' | 'proxy';
  /** Hashes of the valid keys, as bytes. */
  readonly keyHashes: readonly Uint8Array[];
  /** Addresses of proxies that vouch for their requests. */
  readonly trustedProxies: readonly string[];
  /** Requests a second for one client; 0: no limit. */
  readonly rate: number;
  readonly burst: number;
}

type Hashes = Parameters<typeof matches>[2];
type Guard = (request: HttpRequest) => ApiError | undefined;

/** Clients whose rate is remembered. */
const CLIENTS_MAX = 10_000;

export function accessGuard(options: AccessOptions, hashes: Hashes, clock: Clock): Guard {
  const mayAsk = permission(options, hashes);
  const tooOften = rateLimit(options, clock);
  return (request) => mayAsk(request) ?? tooOften(request);
}

function permission({ auth, keyHashes, trustedProxies }: AccessOptions, hashes: Hashes): Guard {
  if (auth === 'none') return () => undefined;
  if (auth === 'proxy') {
    const trusted = new Set(trustedProxies);
    return (request) =>
      trusted.has(bareAddress(request.remoteAddress())) ? undefined : apiError('ApiKeyNotValid');
  }
  return (request) => {
    const secret = keyOf(request);
    if (secret === '') return apiError('ApiKeyMissing');
    return matches(secret, keyHashes, hashes) ? undefined : apiError('ApiKeyNotValid');
  };
}

const bareAddress = (address: string): string => address.replace(/^::ffff:/, '');

function keyOf(request: HttpRequest): string {
  const secret = secretOf(request);
  if (secret !== '') return secret;
  return /^Bearer (.+)$/i.exec(request.header('authorization'))?.[1]?.trim() ?? '';
}

interface Bucket {
  tokens: number;
  at: number;
}

/** A bucket of tokens for each key, or for each address where there is none. */
function rateLimit({ rate, burst }: AccessOptions, clock: Clock): Guard {
  if (rate === 0) return () => undefined;
  const buckets = new Map<string, Bucket>();
  return (request) => {
    const client = keyOf(request) || request.remoteAddress();
    const now = clock.monotonic();
    const bucket = buckets.get(client) ?? { tokens: burst, at: now };
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * rate);
    bucket.at = now;
    // The one that has waited longest is forgotten first.
    buckets.delete(client);
    buckets.set(client, bucket);
    if (buckets.size > CLIENTS_MAX) buckets.delete(buckets.keys().next().value ?? client);
    if (bucket.tokens < 1) return apiError('TooManyRequests');
    bucket.tokens--;
    return undefined;
  };
}
