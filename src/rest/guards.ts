/**
 * Access to protected endpoints (rest.md#api-keys-in-requests; decisions 12, 18, 38). Without a
 * configured hash no request passes.
 */
import { assert } from '../base/assert.ts';
import { base58 } from '../base/base58.ts';
import { type ApiError, apiError } from '../base/errors.ts';
import { type Guard, type Hashes, matches, secretOf } from '../rest-framework/auth.ts';
import { isLocalProgram } from '../rest-framework/local-caller.ts';
import type { Access } from './route.ts';
import type { ApiSettings } from './services.ts';

/**
 * The guard of each access level; undefined where every request passes. Without `contractToken` no
 * token is valid. Throws Base58Error where a configured hash is not Base58.
 */
export function createGuards(
  settings: ApiSettings,
  hashes: Hashes,
  contractToken: Guard = () => apiError('ContractTokenMissing'),
): (access: string) => Guard | undefined {
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
  return (access) => {
    assert(Object.hasOwn(guards, access), `${access} is no level of access`);
    return guards[access as Access];
  };
}

const decoded = (hash: string | undefined): Uint8Array | undefined =>
  hash === undefined || hash === '' ? undefined : base58.decode(hash);
