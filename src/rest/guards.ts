/**
 * Access to protected endpoints (rest.md#api-keys-in-requests; decisions 12, 18, 38). Without a
 * configured hash no request passes.
 */
import { assert } from '../base/assert.ts';
import { type ApiError, apiError } from '../base/errors.ts';
import type { HttpRequest } from '../base/ports/http.ts';
import { type Guard, secretOf } from '../rest-framework/auth.ts';
import { isLocalProgram } from '../rest-framework/local-caller.ts';
import type { AccessKey, AccessKeys } from './access-keys.ts';
import { type Access, keys as levels } from './route.ts';
import type { ApiSettings, Services } from './services.ts';

export interface GuardOptions {
  readonly settings: ApiSettings;
  readonly keys: AccessKeys;
  /** Absent: no token is valid. */
  readonly contractToken?: Guard | undefined;
}

/** The guard of each access level; undefined where every request passes. */
export function createGuards({
  settings,
  keys,
  contractToken = () => apiError('ContractTokenMissing'),
}: GuardOptions): (access: string) => Guard | undefined {
  /** `isWhole`: the key may do everything of this kind. */
  const guard =
    (
      level: keyof typeof levels,
      isWhole = (key: AccessKey): boolean => key.is('api'),
      missing: ApiError = apiError('ApiKeyNotGiven'),
      wrong: ApiError = apiError('ApiKeyNotValid'),
    ): Guard =>
    (request) => {
      if (secretOf(request) === '') return missing;
      const key = keys.keyOf(request);
      if (key === undefined) return wrong;
      if (isWhole(key)) return undefined;
      return key.isNamed ? key.lacks(levels[level].scope) : wrong;
    };
  const privacyGuard = (
    level: 'privacyKey' | 'anyKey',
    isWhole: (key: AccessKey) => boolean,
  ): Guard =>
    guard(level, isWhole, apiError('PrivacyApiKeyNotGiven'), apiError('PrivacyApiKeyNotValid'));

  const reload = guard('loopbackOrApiKey');
  const guards: Readonly<Record<Access, Guard | undefined>> = {
    public: undefined,
    readKey: guard('readKey'),
    signKey: guard('signKey'),
    peersKey: guard('peersKey'),
    adminKey: guard('adminKey'),
    privacyKey: privacyGuard('privacyKey', (key) =>
      key.is(keys.has('privacy') ? 'privacy' : 'api'),
    ),
    anyKey: privacyGuard('anyKey', (key) => key.is('privacy') || key.is('api')),
    loopbackOrApiKey: (request) =>
      isLocalProgram(request, settings.ownNames) ? undefined : reload(request),
    cryptoKey: settings.cryptoApiKey ? guard('cryptoKey') : undefined,
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
  { keys, scheme }: Pick<Services, 'keys' | 'scheme'>,
): void {
  const key = keys.keyOf(http);
  // The operator has removed the key since the guard saw it.
  if (key === undefined) throw apiError('ApiKeyNotValid');
  if (key.is('api') || !key.isNamed) return;
  const refusal = key.lacks('sign', scheme.addressToText(address));
  if (refusal !== undefined) throw refusal;
}
