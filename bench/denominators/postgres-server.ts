/**
 * A separate PostgreSQL cluster, in a temporary folder and on a socket there, so that no other
 * program interferes. PostgreSQL refuses to run as root, so root starts it as an unprivileged user.
 */
import { execFile, spawn } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { NotInstalledError } from '../measure/contender.ts';

export interface PostgresServer {
  /** Holds the socket. */
  readonly folder: string;
  readonly pid: number;
  /** The account that the server runs as, where this process is root. */
  readonly account: { readonly uid: number; readonly gid: number } | undefined;
  /** Ends at once, in the middle of its work, and leaves its data; `start` begins it again. */
  crash(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The superuser of the cluster. */
export const SUPERUSER = 'bench';

const VERSIONS = '/usr/lib/postgresql';
const USERS = ['postgres', 'nobody'];
const WAIT_MS = 100;
const WAIT_MS_MAX = 60_000;

const run = promisify(execFile);

/**
 * With a password it is asked for; else whoever reaches the socket is let in. A `kept` folder stays
 * when the server stops, and its data are used again.
 */
export async function startPostgresServer(
  password?: string,
  settings: readonly string[] = [],
  kept?: string,
): Promise<PostgresServer> {
  const programs = findPrograms();
  const user = await unprivilegedUser();
  if (kept !== undefined) mkdirSync(kept, { recursive: true });
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'postgres-'));
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const prepared = { programs, folder, user, settings, isKept: kept !== undefined };
  if (existsSync(join(data, 'PG_VERSION'))) return served(prepared);
  const initdb = ['-D', data, '-U', SUPERUSER, '-E', 'UTF8', '--no-instructions'];
  if (password === undefined) {
    initdb.push('-A', 'trust');
  } else {
    const file = join(folder, 'password');
    writeFileSync(file, password);
    initdb.push('-A', 'scram-sha-256', '--pwfile', file);
  }
  await run(join(programs, 'initdb'), initdb, { cwd: folder, ...user });
  return served(prepared);
}

/** A copy of a server that streams its changes; it reads only until it is promoted. */
export async function startReplica(
  of: PostgresServer,
  name: string,
  settings: readonly string[] = [],
): Promise<PostgresServer> {
  const programs = findPrograms();
  const user = await unprivilegedUser();
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'));
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const from = `host=${of.folder} user=${SUPERUSER} application_name=${name}`;
  const copy = ['-d', from, '-D', join(folder, 'data'), '-R', '-X', 'stream', '-c', 'fast'];
  await run(join(programs, 'pg_basebackup'), copy, { cwd: folder, ...user });
  return served({ programs, folder, user, settings });
}

interface Prepared {
  readonly programs: string;
  /** Has the data. */
  readonly folder: string;
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  readonly settings: readonly string[];
  /** Whether the folder stays when the server stops. */
  readonly isKept?: boolean;
}

async function served({
  programs,
  folder,
  user,
  settings,
  isKept = false,
}: Prepared): Promise<PostgresServer> {
  const options = ['max_connections=100', ...settings].flatMap((one) => ['-c', one]);
  const command = ['-D', join(folder, 'data'), '-k', folder, '-h', '', ...options];
  let server = launched();
  function launched() {
    const child = spawn(join(programs, 'postgres'), command, {
      cwd: folder,
      stdio: 'ignore',
      ...user,
    });
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    return { child, ended };
  }
  const end = async (signal: 'SIGINT' | 'SIGQUIT'): Promise<void> => {
    server.child.kill(signal);
    await server.ended;
  };
  const stop = async (): Promise<void> => {
    await end('SIGINT');
    if (!isKept) rmSync(folder, { recursive: true, force: true });
  };
  try {
    await connected(folder);
  } catch (cause) {
    await stop();
    throw cause;
  }
  return {
    folder,
    pid: server.child.pid!,
    account: user,
    crash: () => end('SIGQUIT'),
    async start() {
      server = launched();
      await connected(folder);
    },
    stop,
  };
}

export function findPrograms(): string {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort() : [];
  for (const version of versions.reverse()) {
    const folder = join(VERSIONS, version, 'bin');
    if (existsSync(join(folder, 'initdb'))) return folder;
  }
  throw new NotInstalledError('PostgreSQL is not installed (Debian: apt install postgresql)');
}

async function unprivilegedUser(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of USERS) {
    try {
      const id = async (option: string) => Number((await run('id', [option, name])).stdout);
      return { uid: await id('-u'), gid: await id('-g') };
    } catch {
      // The next one, then.
    }
  }
  throw new NotInstalledError('PostgreSQL needs an unprivileged user, and there is none');
}

async function connected(folder: string): Promise<void> {
  for (let waited = 0; waited < WAIT_MS_MAX; waited += WAIT_MS) {
    try {
      // Not the one in the path: that may be a script which looks for this one.
      await run(join(findPrograms(), 'pg_isready'), ['-h', folder]);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    }
  }
  throw new NotInstalledError('PostgreSQL does not start');
}
