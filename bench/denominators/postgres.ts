/**
 * P and P_s: pgbench on a separate PostgreSQL cluster: TPC-B with every commit synchronised to
 * disk, and select-only, both with prepared statements.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { type Contender, NotInstalledError } from '../measure/contender.ts';
import { withCost } from '../measure/cost.ts';
import { cpuSecondsOf } from '../measure/cpu.ts';
import { SUPERUSER, startPostgresServer } from './postgres-server.ts';

export interface Postgres {
  readonly tpcb: Contender;
  readonly selectOnly: Contender;
  stop(): Promise<void>;
}

const CLIENTS = 32;
/** Each transaction changes the row of a branch. With few of them, clients wait for one another. */
const SCALE = 4 * CLIENTS;
const LOAD = [
  ...['--client', String(CLIENTS), '--jobs', '1'],
  ...['--no-vacuum', '--protocol', 'prepared'],
];
/** Its data fit into memory, and checkpoints are few. */
const SETTINGS = ['shared_buffers=2GB', 'max_wal_size=4GB'];

const run = promisify(execFile);

export async function startPostgres(): Promise<Postgres> {
  if (!existsSync('/usr/bin/pgbench')) {
    throw new NotInstalledError('pgbench is not installed (Debian: apt install postgresql)');
  }
  const { folder, pid, stop } = await startPostgresServer(undefined, SETTINGS);
  const pgbench = (args: readonly string[]) =>
    run('pgbench', ['-h', folder, '-U', SUPERUSER, ...args, 'postgres'], { cwd: folder });
  await pgbench(['--initialize', '--quiet', '--scale', String(SCALE)]);

  const contender = (name: string, script: string, isPaidByServer: boolean): Contender => ({
    name,
    async run(ms) {
      const seconds = Math.max(1, Math.round(ms / 1000));
      const before = cpuSecondsOf(pid);
      const result = await withCost(async () => {
        const { stdout } = await pgbench([...LOAD, '--builtin', script, '--time', `${seconds}`]);
        const field = (name: string) => Number(new RegExp(`${name} ([\\d.]+)`).exec(stdout)?.[1]);
        return { perSecond: field('tps ='), answers: field('actually processed:') };
      });
      const cpu = (cpuSecondsOf(pid) - before) / result.answers;
      return { ...result, costPerOperation: isPaidByServer ? cpu : result.costPerOperation };
    },
  });
  return {
    tpcb: contender('P', 'tpcb-like', false),
    // As in row d, where the load is no cost of a read.
    selectOnly: contender('P_s', 'select-only', true),
    stop,
  };
}
