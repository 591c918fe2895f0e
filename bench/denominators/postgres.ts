/**
 * P and P_s: pgbench on a separate PostgreSQL cluster: TPC-B with every commit synchronised to
 * disk, and select-only.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { type Contender, NotInstalledError } from '../measure/contender.ts';
import { withCost } from '../measure/cost.ts';
import { SUPERUSER, startPostgresServer } from './postgres-server.ts';

export interface Postgres {
  readonly tpcb: Contender;
  readonly selectOnly: Contender;
  stop(): Promise<void>;
}

const CLIENTS = 32;
/** Branches; fewer than clients would measure their waiting for one row. */
const SCALE = 32;

const run = promisify(execFile);

export async function startPostgres(): Promise<Postgres> {
  if (!existsSync('/usr/bin/pgbench')) {
    throw new NotInstalledError('pgbench is not installed (Debian: apt install postgresql)');
  }
  const { folder, stop } = await startPostgresServer();
  const pgbench = (args: readonly string[]) =>
    run('pgbench', ['-h', folder, '-U', SUPERUSER, ...args, 'postgres'], { cwd: folder });
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
    stop,
  };
}
