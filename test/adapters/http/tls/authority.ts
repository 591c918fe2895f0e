/** Authorities and certificates for tests of TLS, made by OpenSSL. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { leftOut } from '../../../left-out.ts';

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

const openssl = (...args: string[]): void =>
  void execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });

/** The reason to leave such tests out; false where the program is there. */
export function withoutOpenssl(): string | false {
  try {
    openssl('version');
    return false;
  } catch {
    return leftOut('there is no openssl');
  }
}

export interface Pair {
  readonly cert: string;
  readonly key: string;
}

export class Authority {
  private readonly folder: string;
  readonly cert: string;
  private readonly key: string;

  constructor(folder: string, name: string) {
    mkdirSync(folder, { recursive: true });
    this.folder = folder;
    this.cert = join(folder, 'ca.pem');
    this.key = join(folder, 'ca-key.pem');
    const files = ['-keyout', this.key, '-out', this.cert];
    openssl('req', '-x509', ...KEY, ...files, '-days', '30', '-subj', `/CN=${name}`);
  }

  /** `days` below 0: it has ended. */
  sign(name: string, days: number): Pair {
    const [cert, key, asked] = ['.pem', '-key.pem', '.csr'].map((end) =>
      join(this.folder, `${name}${end}`),
    ) as [string, string, string];
    openssl('req', ...KEY, '-keyout', key, '-out', asked, '-subj', `/CN=${name}`);
    const by = ['-CA', this.cert, '-CAkey', this.key, '-CAcreateserial'];
    openssl('x509', '-req', '-in', asked, ...by, '-days', String(days), '-out', cert);
    return { cert, key };
  }
}
