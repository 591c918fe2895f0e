/** The files of a new PostgreSQL server, made once for all test files: initdb takes seconds each time. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import {
  findPrograms,
  SUPERUSER,
  startPostgresServer,
} from '../../bench/denominators/postgres-server.ts';
import { CACHE } from './initial-cluster.ts';

const run = promisify(execFile);

/** A new folder with them, for `startPostgresServer`. Throws NotInstalledError. */
export async function initialServer(): Promise<string> {
  const version = basename(dirname(findPrograms()));
  const { LC_ALL = '', LANG = '' } = process.env;
  const kept = join(
    CACHE,
    `postgres-small-${[version, LC_ALL, LANG].join('-').replaceAll('/', '_')}`,
  );
  if (!existsSync(kept)) await make(kept);
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'));
  await copied(join(kept, 'data'), folder);
  return folder;
}

/** Two test files may make it at once. */
async function make(kept: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'));
  const server = await startPostgresServer(undefined, [], folder);
  const client = new pg.Client({ host: folder, user: SUPERUSER, database: 'postgres' });
  await client.connect();
  // A third of the files, which each test file copies; template0 is the same.
  await client.query(`UPDATE pg_database SET datistemplate = false WHERE datname = 'template1'`);
  await client.query('DROP DATABASE template1');
  await client.end();
  await server.stop();
  const made = `${kept}.${process.pid}`;
  mkdirSync(made, { recursive: true });
  await copied(join(folder, 'data'), made);
  rmSync(folder, { recursive: true });
  await rename(made, kept).catch((cause: unknown) => {
    if (!existsSync(kept)) throw cause;
    rmSync(made, { recursive: true });
  });
}

/** The account of the server keeps its files. */
const copied = (from: string, to: string) => run('cp', ['-a', from, to]);
