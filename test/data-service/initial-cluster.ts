/** The files of an empty PGlite, made once for all test files: initdb takes seconds each time. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { PGlite } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import packageJson from '../../package.json' with { type: 'json' };

const FOLDER = 'node_modules/.cache';
const VERSION = packageJson.dependencies['@electric-sql/pglite'];
const FILE = `${FOLDER}/pglite-${VERSION}.tar`;

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
  await writeFile(made, files.stream());
  await rename(made, FILE);
}
