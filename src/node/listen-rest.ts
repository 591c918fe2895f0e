/** The REST interface on the address of the configuration. */
import { type Http, type HttpRoute, type HttpServer, TlsFileError } from '../base/http.ts';
import { StartError } from '../base/start-error.ts';
import type { Config } from './config/settings.ts';

/** Undefined where it is switched off; rejects with StartError. */
export async function listenRest(
  { enable, bindAddress: host, port, tls, cors }: Config['restApi'],
  http: Http,
  routes: readonly HttpRoute[],
): Promise<HttpServer | undefined> {
  if (!enable) return undefined;
  const { cert, key } = tls;
  const files = cert === undefined || key === undefined ? undefined : { cert, key };
  try {
    return await http.listen(routes, { host, port, tls: files, cors });
  } catch (cause) {
    if (cause instanceof TlsFileError) {
      const remedy = 'name a PEM certificate and its private key, or leave both settings out';
      const setting = `rest-api.tls.${cause.which}`;
      throw new StartError('certificate of the REST interface', setting, cause, remedy);
    }
    const remedy = 'stop that process or choose another address or port';
    const settings = 'rest-api.bind-address, rest-api.port';
    const { cause: reason = cause } = cause as Error;
    throw new StartError(`REST interface on ${host}:${port}`, settings, reason, remedy);
  }
}
