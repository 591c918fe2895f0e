/** The container engine that commands reach, with the address and keys that its own tools use. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from '../../../adapters/containers/engine.ts';
import { systemClock } from '../../../adapters/system.ts';
import { CliError } from '../../terminal/exit.ts';

const START = 'start Docker or Podman, or name its address with DOCKER_HOST';
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: `there is no such socket (${START})`,
  ECONNREFUSED: `nothing listens there (${START})`,
  EACCES: 'this user may not use it (with Docker, members of the group docker may)',
};

/** Rejects with CliError where no engine answers at the address. */
export async function openEngine(host: string): Promise<Engine> {
  let engine: Engine | undefined;
  try {
    // Most starts of a private network find none, and need not load what it is reached with.
    if (isAbsent(host)) throw new Error('ENOENT');
    const { Engine } = await import('../../../adapters/containers/engine.ts');
    engine = new Engine({ host, ...tlsOf(host) }, systemClock());
    await engine.negotiate();
    return engine;
  } catch (cause) {
    await engine?.close();
    const why = (cause as Error).message;
    throw new CliError(`No container engine answers at ${host}: ${REASONS[why] ?? why}`);
  }
}

const SOCKET = /^unix:\/\//;
const isAbsent = (host: string): boolean =>
  SOCKET.test(host) && !existsSync(host.replace(SOCKET, ''));

function tlsOf(host: string) {
  const folder = process.env['DOCKER_CERT_PATH'];
  if (folder === undefined || folder === '' || host.startsWith('unix:')) return {};
  const [ca, cert, key] = ['ca.pem', 'cert.pem', 'key.pem'].map((name) => join(folder, name));
  return { tls: { ca, cert: cert!, key: key! } };
}
