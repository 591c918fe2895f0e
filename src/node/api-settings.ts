/** What the REST interface is told of the configuration, in the main thread and in its own threads. */

import { parseAddress } from '../network/messages/peer-address.ts';
import type { KeySettings } from '../rest/access-keys.ts';
import type { ApiSettings } from '../rest/services.ts';
import type { Config } from './config/settings.ts';

const WILDCARDS: readonly string[] = ['0.0.0.0', '::'];

/** Plain data, without the rest of the sections. */
export function apiSettings({
  restApi,
  network,
}: Pick<Config, 'restApi' | 'network'>): ApiSettings {
  const {
    sdkCompatible,
    transactionsByAddressLimit,
    distributionAddressLimit,
    cryptoApiKey,
    hostNames,
    bindAddress,
  } = restApi;
  const { declaredAddress } = network;
  const declared = declaredAddress === undefined ? undefined : parseAddress(declaredAddress);
  const bound = WILDCARDS.includes(bindAddress) ? [] : [bindAddress];
  return {
    sdkCompatible,
    transactionsByAddressLimit,
    distributionAddressLimit,
    cryptoApiKey,
    ownNames: [...hostNames, ...bound, ...(declared === undefined ? [] : [declared.host])],
  };
}

/** What may change while the node runs. */
export const keySettings = ({ restApi }: Pick<Config, 'restApi'>): KeySettings => ({
  apiKeyHash: restApi.apiKeyHash,
  privacyApiKeyHash: restApi.privacyApiKeyHash,
  apiKeys: restApi.apiKeys,
});
