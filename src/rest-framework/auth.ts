/**
 * Access to protected endpoints (rest.md#api-keys-in-requests; decisions 12, 18, 38).
 *
 * Invariants: the hash of the received secret is compared without early exit, before any byte of
 * the body is read; without a configured hash no request passes.
 */
import { base58 } from '../base/base58.ts';
import { utf8 } from '../base/bytes.ts';
import { type ApiError, apiError } from '../base/errors.ts';
import type { HttpRequest } from '../base/http.ts';
import type { CryptoFamily } from '../crypto/family.ts';
import type { ApiSettings } from '../rest/services.ts';
import { isLocalProgram } from './local-caller.ts';
import type { Access } from './route.ts';

type Hashes = Pick<CryptoFamily, 'secureHash'>;

/** The refusal of a request, or undefined. */
export type Guard = (request: HttpRequest) => ApiError | undefined;

/**
 * The guard of each access level; undefined where every request passes. Without `contractToken` no
 * token is valid. Throws Base58Error where a configured hash is not Base58.
 */
export function createGuards(
  settings: ApiSettings,
  hashes: Hashes,
  contractToken: Guard = () => apiError('ContractTokenMissing'),
): (access: Access) => Guard | undefined {
  const api = decoded(settings.apiKeyHash);
  const privacy = decoded(settings.privacyApiKeyHash);

  const key =
    (allowed: readonly (Uint8Array | undefined)[], missing: ApiError, wrong: ApiError): Guard =>
    (request) => {
      const secret = secretOf(request);
      if (matches(secret, allowed, hashes)) return undefined;
      return secret === '' ? missing : wrong;
    };
  const privacyKey = (...allowed: readonly (Uint8Array | undefined)[]): Guard =>
    key(allowed, apiError('PrivacyApiKeyNotGiven'), apiError('PrivacyApiKeyNotValid'));

  const apiKey = key([api], apiError('ApiKeyNotGiven'), apiError('ApiKeyNotValid'));
  const guards: Readonly<Record<Access, Guard | undefined>> = {
    public: undefined,
    apiKey,
    privacyKey: privacyKey(privacy ?? api),
    anyKey: privacyKey(privacy, api),
    loopbackOrApiKey: (request) =>
      isLocalProgram(request, settings.ownNames) ? undefined : apiKey(request),
    cryptoKey: settings.cryptoApiKey ? apiKey : undefined,
    contractToken,
  };
  return (access) => guards[access];
}

const decoded = (hash: string | undefined): Uint8Array | undefined =>
  hash === undefined || hash === '' ? undefined : base58.decode(hash);

/** Headers with a secret. */
export const KEY_HEADERS = ['x-api-key', 'api_key'] as const;

/** The current header wins over the old one. */
export function secretOf(request: HttpRequest): string {
  const current = request.header('x-api-key');
  return current === '' ? request.header('api_key') : current;
}

export function matches(
  secret: string,
  allowed: readonly (Uint8Array | undefined)[],
  hashes: Hashes,
): boolean {
  if (secret === '') return false;
  const hash = hashes.secureHash(utf8(secret));
  let found = false;
  for (const expected of allowed) {
    // No short circuit: the time must not show which of the hashes matched.
    if (expected !== undefined) found = sameSecret(hash, expected) || found;
  }
  return found;
}

/** The time depends on the length alone. */
function sameSecret(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
}
