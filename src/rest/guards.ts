/**
 * Access to protected endpoints (rest.md#api-keys-in-requests; decisions 12, 18, 38). Without a
 * configured hash no request passes.
 */
import { assert } from '../base/assert.ts';
import { base58 } from '../base/base58.ts';
import { type ApiError, apiError } from '../base/errors.ts';
import type { HttpRequest } from '../base/http.ts';
import { type Guard, type Hashes, hashOf, isAmong, secretOf } from '../rest-framework/auth.ts';
import { isLocalProgram } from '../rest-framework/local-caller.ts';
import { keyRing } from './named-keys.ts';
import { type Access, keys } from './route.ts';
import type { ApiSettings, Services } from './services.ts';

export interface GuardOptions {
  readonly settings: ApiSettings;
  readonly hashes: Hashes;
  /** For keys that expire. */
  now(): number;
  /** Absent: no token is valid. */
  readonly contractToken?: Guard | undefined;
}

/**
 * The guard of each access level; undefined where every request passes. Throws Base58Error where a
 * configured hash is not Base58.
 */
export function createGuards({
  settings,
  hashes,
  now,
  contractToken = () => apiError('ContractTokenMissing'),
}: GuardOptions): (access: string) => Guard | undefined {
  const api = decoded(settings.apiKeyHash);
  const privacy = decoded(settings.privacyApiKeyHash);
  const ring = keyRing(settings.apiKeys, now);

  /** `allowed`: hashes of the keys that may do everything of this kind. */
  const key =
    (
      level: keyof typeof keys,
      allowed: readonly (Uint8Array | undefined)[] = [api],
      missing: ApiError = apiError('ApiKeyNotGiven'),
      wrong: ApiError = apiError('ApiKeyNotValid'),
    ): Guard =>
    (request) => {
      const secret = secretOf(request);
      if (secret === '') return missing;
      const hash = hashOf(secret, hashes);
      const verdict = ring.judge(hash, keys[level].scope);
      return isAmong(hash, allowed) || verdict === 'pass' ? undefined : (verdict ?? wrong);
    };
  const privacyKey = (
    level: 'privacyKey' | 'anyKey',
    ...allowed: readonly (Uint8Array | undefined)[]
  ): Guard =>
    key(level, allowed, apiError('PrivacyApiKeyNotGiven'), apiError('PrivacyApiKeyNotValid'));

  const reload = key('loopbackOrApiKey');
  const guards: Readonly<Record<Access, Guard | undefined>> = {
    public: undefined,
    readKey: key('readKey'),
    signKey: key('signKey'),
    peersKey: key('peersKey'),
    adminKey: key('adminKey'),
    privacyKey: privacyKey('privacyKey', privacy ?? api),
    anyKey: privacyKey('anyKey', privacy, api),
    loopbackOrApiKey: (request) =>
      isLocalProgram(request, settings.ownNames) ? undefined : reload(request),
    cryptoKey: settings.cryptoApiKey ? key('cryptoKey') : undefined,
    contractToken,
  };
  return (access) => {
    assert(Object.hasOwn(guards, access), `${access} is no level of access`);
    return guards[access as Access];
  };
}

/**
 * For methods that use the private key of an account, after their guard has let the request pass.
 * Throws ApiError where its key signs for other accounts only.
 */
export function requireSigner(
  http: HttpRequest,
  address: Uint8Array,
  { settings, family, scheme, clock }: Services,
): void {
  if (settings.apiKeys.length === 0) return;
  const secret = secretOf(http);
  // The guard lets a request without a key pass where the method needs none.
  if (secret === '') return;
  const hash = hashOf(secret, family);
  if (isAmong(hash, [decoded(settings.apiKeyHash)])) return;
  const ring = keyRing(settings.apiKeys, () => clock.now());
  const verdict = ring.judge(hash, 'sign', scheme.addressToText(address));
  if (verdict !== undefined && verdict !== 'pass') throw verdict;
}

const decoded = (hash: string | undefined): Uint8Array | undefined =>
  hash === undefined || hash === '' ? undefined : base58.decode(hash);
