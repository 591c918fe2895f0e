/** What a command shows to a node over HTTPS, and whom it trusts, from the files of its options. */
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { ClientTls } from '../../adapters/http/undici.ts';
import type { TlsFlags } from '../node-options.ts';
import { CliError, EXIT } from '../terminal/exit.ts';

/** `from`: where the files are named. Throws CliError. */
export function clientTls(
  { tlsCa, tlsCert, tlsKey }: TlsFlags,
  from = '--tls-ca, --tls-cert, --tls-key',
): ClientTls {
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new CliError(
      `${from}: a certificate needs its key, and the key its certificate`,
      EXIT.usage,
    );
  }
  const files = { ca: read(tlsCa, from), cert: read(tlsCert, from), key: read(tlsKey, from) };
  try {
    createSecureContext(files);
  } catch (cause) {
    const { message } = cause as Error;
    throw new CliError(`${from}: ${message}`, EXIT.usage);
  }
  return files;
}

function read(path: string | undefined, from: string): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new CliError(`${from}: '${path}' cannot be read`, EXIT.usage);
  }
}
