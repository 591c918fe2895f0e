/**
 * Checks the files of a certificate before the native server reads them, because that server gives
 * no reasons.
 */
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { type HttpServerOptions, TlsFileError } from '../../base/http.ts';

/** Throws TlsFileError. */
export function checkTlsFiles(tls: NonNullable<HttpServerOptions['tls']>): void {
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
}

function read(which: 'cert' | 'key', path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new TlsFileError(which, `'${path}' cannot be read`, { cause });
  }
}
