/** The REST interface on the address of the configuration. */

import { StartError } from '../base/faults/start-error.ts';
import {
  type HttpRoute,
  type HttpServer,
  TlsFileError,
  type TlsFiles,
} from '../base/ports/http.ts';
import type { FamilyName } from '../crypto/family.ts';
import type { KeySettings } from '../rest/access-keys.ts';
import type { ApiSettings } from '../rest/services.ts';
import { apiSettings, keySettings } from './api-settings.ts';
import type { Config } from './config/settings.ts';
import type { NodePorts } from './node-ports.ts';

/** Of each file, the setting below rest-api.tls. */
export const TLS_SETTINGS = { cert: 'cert', key: 'key', clientCa: 'client-ca' } as const;

const OWN = 'name a PEM certificate and its private key, or leave both settings out';
const TLS_REMEDIES = {
  cert: OWN,
  key: OWN,
  clientCa: 'name a file with the PEM certificates of authorities, or leave the setting out',
} as const;

/** Undefined for plain HTTP. */
export function tlsFiles({ cert, key, clientCa }: Config['restApi']['tls']): TlsFiles | undefined {
  return cert === undefined || key === undefined ? undefined : { cert, key, clientCa };
}

/** What a thread of the server is told of the node. */
export interface ForThreads {
  readonly family: FamilyName;
  readonly chainId: number;
  readonly nativeToken: string;
  readonly settings: ApiSettings;
  readonly keys: KeySettings;
}

/** Undefined where it is switched off, and no route is made then; rejects with StartError. */
export async function listenRest(
  config: Pick<Config, 'restApi' | 'network'>,
  { http, restHttp = http, family, scheme, telemetry }: NodePorts,
  routes: () => readonly HttpRoute[],
): Promise<HttpServer | undefined> {
  const { enable, bindAddress: host, port, tls, cors } = config.restApi;
  if (!enable) return undefined;
  const { chainId, nativeToken } = scheme;
  const forThreads: ForThreads = {
    family: family.name,
    chainId,
    nativeToken,
    settings: apiSettings(config),
    keys: keySettings(config),
  };
  const files = tlsFiles(tls);
  const served = routes();
  try {
    const measured = telemetry !== undefined;
    return await restHttp.listen(served, { host, port, tls: files, cors, measured, forThreads });
  } catch (cause) {
    if (cause instanceof TlsFileError) {
      const remedy = TLS_REMEDIES[cause.which];
      const setting = `rest-api.tls.${TLS_SETTINGS[cause.which]}`;
      throw new StartError('certificate of the REST interface', setting, cause, remedy);
    }
    const settings = 'rest-api.bind-address, rest-api.port';
    const { cause: reason = cause } = cause as Error;
    throw StartError.ofAddress(`REST interface on ${host}:${port}`, settings, reason);
  }
}
