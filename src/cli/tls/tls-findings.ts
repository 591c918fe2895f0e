/** What a node would say at its start of the files of rest-api.tls. */
import { checkTlsFiles } from '../../adapters/http/tls/tls-files.ts';
import { TlsFileError } from '../../base/ports/http.ts';
import type { Config } from '../../node/config/settings.ts';
import { TLS_SETTINGS, tlsFiles } from '../../node/listen-rest.ts';

/** Undefined where they can be used, or there are none. */
export function tlsProblem({ restApi }: Pick<Config, 'restApi'>): string | undefined {
  const files = restApi.enable ? tlsFiles(restApi.tls) : undefined;
  if (files === undefined) return undefined;
  try {
    checkTlsFiles(files);
    return undefined;
  } catch (cause) {
    if (!(cause instanceof TlsFileError)) throw cause;
    return `rest-api.tls.${TLS_SETTINGS[cause.which]}: ${cause.message}`;
  }
}
