/**
 * P and P_s: pgbench on a PostgreSQL cluster of its own, TPC-B with every commit synced to disk,
 * and select-only. PostgreSQL refuses to run as root, so root hands it to an unprivileged user.
 */
import { execFile, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Contender, NotInstalledError } from '../measure/contender.ts';
import { withCost } from '../measure/cost.ts';

export interface Postgres {
  readonly tpcb: Contender;
  readonly selectOnly: Contender;
  stop(): Promise<void>;
}

const VERSIONS = '/usr/lib/postgresql';
const USERS = ['postgres', 'nobody'];
const CLIENTS = 32;
/** Branches; fewer than clients would measure their waiting for one row. */
const SCALE = 32;
const WAIT_MS = 100;
const WAIT_MS_MAX = 20_000;

const run = promisify(execFile);

export async function startPostgres(): Promise<Postgres> {
  const programs = findPrograms();
  const user = await unprivilegedUser();
  const folder = mkdtempSync(join(tmpdir(), 'bench-postgres-'));
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const identity = user ?? {};
  const data = join(folder, 'data');
  const initdb = ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--no-instructions'];
  await run(join(programs, 'initdb'), initdb, { cwd: folder, ...identity });

  // A socket in the same folder and no TCP port, so that nothing else can be in its way.
  const server = spawn(
    join(programs, 'postgres'),
    ['-D', data, '-k', folder, '-h', '', '-c', 'max_connections=100'],
    { cwd: folder, stdio: 'ignore', ...identity },
  );
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  const pgbench = (args: readonly string[]) =>
    run('pgbench', ['-h', folder, '-U', 'bench', ...args, 'postgres'], { cwd: folder });
  await connected(folder);
  await pgbench(['--initialize', '--quiet', '--scale', String(SCALE)]);

  const contender = (name: string, script: string): Contender => ({
    name,
    async run(ms) {
      const seconds = Math.max(1, Math.round(ms / 1000));
      const load = ['--client', String(CLIENTS), '--jobs', '1', '--no-vacuum'];
      return withCost(async () => {
        const { stdout } = await pgbench([...load, '--builtin', script, '--time', `${seconds}`]);
        const field = (name: string) => Number(new RegExp(`${name} ([\\d.]+)`).exec(stdout)?.[1]);
        return { perSecond: field('tps ='), answers: field('actually processed:') };
      });
    },
  });
  return {
    tpcb: contender('P', 'tpcb-like'),
    selectOnly: contender('P_s', 'select-only'),
    async stop() {
      server.kill('SIGINT');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

function findPrograms(): string {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort() : [];
  for (const version of versions.reverse()) {
    const folder = join(VERSIONS, version, 'bin');
    if (existsSync(join(folder, 'initdb')) && existsSync('/usr/bin/pgbench')) return folder;
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
      await run('pg_isready', ['-h', folder]);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    }
  }
  throw new NotInstalledError('PostgreSQL does not start');
}
