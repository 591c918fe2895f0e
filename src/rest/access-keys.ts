/**
 * API keys: what each of them may do, and until when (rest.md#api-keys-in-requests). They may be
 * replaced while the node runs.
 *
 * Invariant: a secret is compared with the hash of every key, whatever matched before.
 */
import { base58 } from '../base/base58.ts';
import { type ApiError, apiError } from '../base/errors.ts';
import type { HttpRequest } from '../base/ports/http.ts';
import { type Hashes, hashOf, sameSecret, secretOf } from '../rest-framework/auth.ts';

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

/** The settings `rest-api.*` with hashes of keys; without any, every protected method refuses. */
export interface KeySettings {
  /** Base58 of secureHash. */
  readonly apiKeyHash: string | undefined;
  readonly privacyApiKeyHash: string | undefined;
  readonly apiKeys: readonly NamedKey[];
}

/** A key that opens methods of one kind without having scopes. */
export type WholeKey = 'api' | 'privacy';

interface HeldKey {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly whole?: WholeKey;
  readonly named?: NamedKey;
}

export class AccessKeys {
  private readonly hashes: Hashes;
  private readonly now: () => number;
  private held: readonly HeldKey[];

  /** Throws Base58Error where a hash is not Base58. */
  constructor(settings: KeySettings, hashes: Hashes, now: () => number) {
    this.hashes = hashes;
    this.now = now;
    this.held = heldKeys(settings);
  }

  /** Throws Base58Error where a hash is not Base58; the keys then stay. */
  replace(settings: KeySettings): void {
    this.held = heldKeys(settings);
  }

  has(kind: WholeKey): boolean {
    return this.held.some(({ whole }) => whole === kind);
  }

  /** The key of a request; undefined where it has no key, or an unknown one. */
  keyOf(request: HttpRequest): AccessKey | undefined {
    const secret = secretOf(request);
    if (secret === '') return undefined;
    const hash = hashOf(secret, this.hashes);
    const matching = this.held.filter(({ bytes }) => sameSecret(hash, bytes));
    return matching.length === 0 ? undefined : new AccessKey(matching, this.now());
  }
}

/** What one secret opens: usually one key, but two settings may have the same hash. */
export class AccessKey {
  private readonly keys: readonly HeldKey[];
  private readonly now: number;

  constructor(keys: readonly HeldKey[], now: number) {
    this.keys = keys;
    this.now = now;
  }

  /** Its name, or the setting that has its hash. */
  get holder(): string {
    return this.keys[0]!.name;
  }

  is(kind: WholeKey): boolean {
    return this.keys.some(({ whole }) => whole === kind);
  }

  /** True for a key with scopes. */
  get isNamed(): boolean {
    return this.keys.some(({ named }) => named !== undefined);
  }

  /** Why a named key lacks this scope, for `address` where given; undefined where it has the scope. */
  lacks(scope: Scope, address?: string): ApiError | undefined {
    const refusals = this.keys.flatMap(({ named }) =>
      named === undefined ? [] : [refusalOf(named, scope, address, this.now)],
    );
    return refusals.includes(undefined) ? undefined : refusals[0];
  }
}

function heldKeys({ apiKeyHash, privacyApiKeyHash, apiKeys }: KeySettings): readonly HeldKey[] {
  const whole = (name: string, kind: WholeKey, hash: string | undefined): HeldKey[] =>
    hash === undefined || hash === '' ? [] : [{ name, bytes: base58.decode(hash), whole: kind }];
  return [
    ...apiKeys.map((named) => ({ name: named.name, bytes: base58.decode(named.hash), named })),
    ...whole('rest-api.api-key-hash', 'api', apiKeyHash),
    ...whole('rest-api.privacy-api-key-hash', 'privacy', privacyApiKeyHash),
  ];
}

function refusalOf(
  { name, scopes, expires }: NamedKey,
  scope: Scope,
  address: string | undefined,
  now: number,
): ApiError | undefined {
  if (expires !== undefined && now >= expires) return apiError('ApiKeyExpired', name);
  const bound = `${scope}:`;
  const fits = (given: string): boolean =>
    given === scope ||
    (given.startsWith(bound) && (address === undefined || given === bound + address));
  if (scopes.some(fits)) return undefined;
  return apiError('ApiKeyScope', name, address === undefined ? scope : bound + address);
}
