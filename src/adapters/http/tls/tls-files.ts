/**
 * Checks the files of TLS before the native server reads them, because that server gives
 * no reasons.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { TlsFileError, type TlsFiles } from '../../../base/ports/http.ts';

/** Returns when the certificate ends, in ms; undefined where it does not say. Throws TlsFileError. */
export function checkTlsFiles(tls: TlsFiles): number | undefined {
  const cert = read('cert', tls.cert);
  const key = read('key', tls.key);
  if (tls.clientCa !== undefined) checkAuthorities(tls.clientCa);
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

const ONE_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** An authority that is left out unnoticed would shut its clients out. */
function checkAuthorities(path: string): void {
  const text = read('clientCa', path).toString('latin1');
  const refuse = (why: string, cause?: unknown): never => {
    throw new TlsFileError('clientCa', `'${path}' ${why}`, { cause });
  };
  const found = text.match(ONE_CERTIFICATE) ?? [];
  if (found.length === 0) refuse('holds no PEM certificate');
  for (const [index, pem] of found.entries()) {
    const what = `holds ${found.length} certificates, of which number ${index + 1}`;
    let isAuthority = false;
    try {
      isAuthority = new X509Certificate(pem).ca;
    } catch (cause) {
      refuse(`${what} cannot be read`, cause);
    }
    if (!isAuthority) refuse(`${what} is not that of an authority`);
  }
}

/** Of the first one in the file, which is that of the server. */
function endOf(cert: Buffer): number | undefined {
  try {
    return Date.parse(new X509Certificate(cert).validTo);
  } catch {
    return undefined;
  }
}

function read(which: keyof TlsFiles, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new TlsFileError(which, `'${path}' cannot be read`, { cause });
  }
}
