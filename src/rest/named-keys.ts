/**
 * API keys with names: what each of them may do, and until when (rest.md#api-keys-in-requests).
 *
 * Invariant: a secret is compared with the hash of every key, whatever matched before.
 */
import { base58 } from '../base/base58.ts';
import { type ApiError, apiError } from '../base/errors.ts';
import { sameSecret } from '../rest-framework/auth.ts';

/** What the holder of a key may do; `sign` may be bound to one account: `sign:<address>`. */
export type Scope = 'read' | 'sign' | 'privacy' | 'peers' | 'admin';

export interface NamedKey {
  readonly name: string;
  /** Base58 of secureHash. */
  readonly hash: string;
  readonly scopes: readonly string[];
  /** Milliseconds since 1970; absent: it does not expire. */
  readonly expires?: number | undefined;
}

export interface KeyRing {
  /**
   * 'pass' for the secret of a key with this scope, and for `address` where that is given; the reason
   * where the key has not; undefined for the secret of no key.
   */
  judge(hash: Uint8Array, scope: Scope, address?: string): 'pass' | ApiError | undefined;
}

/** Throws Base58Error where a hash is not Base58. */
export function keyRing(keys: readonly NamedKey[], now: () => number): KeyRing {
  const all = keys.map((key) => ({ ...key, bytes: base58.decode(key.hash) }));
  return {
    judge(hash, scope, address) {
      let verdict: 'pass' | ApiError | undefined;
      for (const key of all) {
        if (!sameSecret(hash, key.bytes) || verdict === 'pass') continue;
        verdict = verdictOf(key, scope, address, now());
      }
      return verdict;
    },
  };
}

function verdictOf(
  { name, scopes, expires }: NamedKey,
  scope: Scope,
  address: string | undefined,
  now: number,
): 'pass' | ApiError {
  if (expires !== undefined && now >= expires) return apiError('ApiKeyExpired', name);
  const bound = `${scope}:`;
  const fits = (given: string): boolean =>
    given === scope ||
    (given.startsWith(bound) && (address === undefined || given === bound + address));
  if (scopes.some(fits)) return 'pass';
  return apiError('ApiKeyScope', name, address === undefined ? scope : bound + address);
}
