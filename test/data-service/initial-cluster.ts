/** The files of an empty PGlite, made once for all test files: initdb takes seconds each time. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';

const MODULES = join(import.meta.dirname, '../../node_modules');
const FOLDER = join(MODULES, '.cache');
const PACKAGE = readFileSync(join(MODULES, '@electric-sql/pglite/package.json'), 'utf8');
const { version } = JSON.parse(PACKAGE) as { version: string };
const FILE = join(FOLDER, `pglite-${version}.tar`);

let read: Promise<Blob> | undefined;

export function initialCluster(): Promise<Blob> {
  read ??= (async () => {
    if (!existsSync(FILE)) await make();
    return new Blob([await readFile(FILE)]);
  })();
  return read;
}

/** Two test files may make it at once. */
async function make(): Promise<void> {
  const db = await PGlite.create({ extensions: { pg_trgm } });
  const files = await db.dumpDataDir('none');
  await db.close();
  await mkdir(FOLDER, { recursive: true });
  const made = `${FILE}.${process.pid}`;
  await writeFile(made, files.stream(), { flush: true });
  await rename(made, FILE);
}
