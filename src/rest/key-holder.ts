/** Whose key a request has, for the audit log. */
import { base58 } from '../base/base58.ts';
import type { HttpRequest } from '../base/http.ts';
import { type Hashes, hashOf, sameSecret, secretOf } from '../rest-framework/auth.ts';
import type { ApiSettings } from './services.ts';

/** The name of a key, the setting of one without a name, or undefined: no key, or one of nobody. */
export function keyHolder(
  { apiKeyHash, privacyApiKeyHash, apiKeys }: ApiSettings,
  hashes: Hashes,
): (request: HttpRequest) => string | undefined {
  const holders = [
    ...apiKeys.map(({ name, hash }) => ({ name, hash })),
    { name: 'rest-api.api-key-hash', hash: apiKeyHash ?? '' },
    { name: 'rest-api.privacy-api-key-hash', hash: privacyApiKeyHash ?? '' },
  ].flatMap(({ name, hash }) => (hash === '' ? [] : { name, bytes: base58.decode(hash) }));
  return (request) => {
    const secret = secretOf(request);
    if (secret === '') return undefined;
    const given = hashOf(secret, hashes);
    // All are compared: the time must not show which of them matched.
    return holders.filter(({ bytes }) => sameSecret(given, bytes))[0]?.name;
  };
}
