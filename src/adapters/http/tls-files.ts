/**
 * Checks the files of a certificate before the native server reads them, because that server gives
 * no reasons.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { type HttpServerOptions, TlsFileError } from '../../base/http.ts';

/** Returns when the certificate ends, in ms; undefined where it does not say. Throws TlsFileError. */
export function checkTlsFiles(tls: NonNullable<HttpServerOptions['tls']>): number | undefined {
  const cert = read('cert', tls.cert);
  const key = read('key', tls.key);
  const judge = (which: 'cert' | 'key', why: string, parts: object): void => {
    try {
      createSecureContext(parts);
    } catch (cause) {
      throw new TlsFileError(which, `'${tls[which]}' ${why}`, { cause });
    }
  };
  judge('cert', 'holds no PEM certificate', { cert });
  judge('key', 'holds no PEM key', { key });
  judge('key', 'is not the key of the certificate', { cert, key });
  return endOf(cert);
}

/** Of the first one in the file, which is that of the server. */
function endOf(cert: Buffer): number | undefined {
  try {
    return Date.parse(new X509Certificate(cert).validTo);
  } catch {
    return undefined;
  }
}

function read(which: 'cert' | 'key', path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new TlsFileError(which, `'${path}' cannot be read`, { cause });
  }
}
