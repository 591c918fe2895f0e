/** An authority with certificates for a signer and its node, and a stranger with one of its own. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificates {
  /** Paths by name: `ca.crt`, `signer.crt`, `signer.key`, `node.crt`, … */
  readonly files: Readonly<Record<string, string>>;
  of(name: string, authority?: string): { cert: Uint8Array; key: Uint8Array; ca: Uint8Array };
}

const openssl = (...words: string[]): void => {
  execFileSync('openssl', words, { stdio: 'ignore' });
};

export function certificates(dir: string): Certificates {
  const path = (name: string): string => join(dir, name);
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const authority = (name: string): void => {
    const out = ['-keyout', path(`${name}.key`), '-out', path(`${name}.crt`)];
    openssl('req', '-x509', ...ec, '-days', '2', '-subj', `/CN=${name}`, ...out);
  };
  writeFileSync(path('names'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  const signed = (name: string, by: string): void => {
    const out = ['-keyout', path(`${name}.key`), '-out', path(`${name}.csr`)];
    openssl('req', ...ec, '-subj', `/CN=${name}`, ...out);
    const ca = ['-CA', path(`${by}.crt`), '-CAkey', path(`${by}.key`), '-CAcreateserial'];
    const to = ['-days', '2', '-extfile', path('names'), '-out', path(`${name}.crt`)];
    openssl('x509', '-req', '-in', path(`${name}.csr`), ...ca, ...to);
  };
  authority('ca');
  authority('other');
  signed('signer', 'ca');
  signed('node', 'ca');
  signed('stranger', 'other');
  const names = ['ca', 'other', 'signer', 'node', 'stranger'];
  const all = names.flatMap((name) => [`${name}.crt`, `${name}.key`]);
  return {
    files: Object.fromEntries(all.map((name) => [name, path(name)])),
    of: (name, by = 'ca') => ({
      cert: readFileSync(path(`${name}.crt`)),
      key: readFileSync(path(`${name}.key`)),
      ca: readFileSync(path(`${by}.crt`)),
    }),
  };
}
