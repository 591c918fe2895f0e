/** The files of a new PGlite, made once for all test files: initdb and all tables take seconds each time. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { PGlite } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { pgliteDatabase } from '../../src/adapters/database/pglite.ts';
import { migrate } from '../../src/data-service/schema/migrate.ts';

const MODULES = join(import.meta.dirname, '../../node_modules');
export const CACHE = join(MODULES, '.cache');
const PACKAGE = readFileSync(join(MODULES, '@electric-sql/pglite/package.json'), 'utf8');
const { version } = JSON.parse(PACKAGE) as { version: string };
const BUFFERS = '32MB';
const EMPTY = join(CACHE, `pglite-${version}-${BUFFERS}-empty.tar`);

const SCHEMA = join(import.meta.dirname, '../../src/data-service/schema');
const ofSchema = createHash('sha256');
for (const name of readdirSync(SCHEMA).sort()) ofSchema.update(readFileSync(join(SCHEMA, name)));
const MIGRATED = join(
  CACHE,
  `pglite-${version}-${BUFFERS}-${ofSchema.digest('hex').slice(0, 12)}.tar`,
);

// Most statements of a test run a few times, so optimising the code of PGlite for them takes longer
// than it saves: code has to run fifteen times as much first as by default.
setFlagsFromString('--wasm-tiering-budget=200000000');

const extensions = { pg_trgm };
const run = promisify(execFile);

const empty = once(EMPTY, async () => {
  const db = await PGlite.create({ extensions });
  // Every start fills its buffers with zeros, and the store of a test is small.
  await db.exec(`ALTER SYSTEM SET shared_buffers = '${BUFFERS}'`);
  // Two thirds of the files belong to databases that nobody opens.
  await db.exec('UPDATE pg_database SET datistemplate = false');
  for (const name of ['template0', 'template1']) await db.exec(`DROP DATABASE ${name}`);
  return dumped(db);
});

const migrated = once(MIGRATED, async () => {
  await empty();
  const folder = await extracted(EMPTY, await mkdtemp(join(tmpdir(), 'pglite-')));
  const db = await pgliteDatabase(folder);
  await migrate(db, { indexText: true });
  await db.close();
  const files = await dumped(await PGlite.create(join(folder, 'pgdata'), { extensions }));
  await rm(folder, { recursive: true });
  return files;
});

/** Of a store without tables. */
export const initialCluster = (): Promise<Blob> => empty();
/** Of a store with all tables and indexes of this release, and no row. */
export const migratedCluster = (): Promise<Blob> => migrated();

/** Puts a store without tables into a folder, for `pgliteDatabase`. */
export async function initialFolder(folder: string): Promise<string> {
  await empty();
  return extracted(EMPTY, folder);
}

/** The same with all tables. */
export async function migratedFolder(folder: string): Promise<string> {
  await migrated();
  return extracted(MIGRATED, folder);
}

async function extracted(file: string, folder: string): Promise<string> {
  const data = join(folder, 'pgdata');
  await mkdir(data, { recursive: true });
  await run('tar', ['-xf', file, '-C', data]);
  return folder;
}

async function dumped(db: PGlite): Promise<Blob> {
  await db.exec('CHECKPOINT');
  const files = await db.dumpDataDir('none');
  await db.close();
  return files;
}

/** The content of a file that is made where it is missing. Two test files may make it at once. */
function once(file: string, make: () => Promise<Blob>): () => Promise<Blob> {
  let read: Promise<Blob> | undefined;
  const readOrMade = async (): Promise<Blob> => {
    if (!existsSync(file)) {
      const files = await make();
      await mkdir(CACHE, { recursive: true });
      const made = `${file}.${process.pid}`;
      await writeFile(made, files.stream(), { flush: true });
      await rename(made, file);
    }
    return new Blob([await readFile(file)]);
  };
  return () => {
    read ??= readOrMade();
    return read;
  };
}
