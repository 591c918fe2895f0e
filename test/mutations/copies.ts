/** The guards of the sources, and a folder with copies of these sources in which each has a switch. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Guard, switchGuards } from './guards.ts';
import { LIST } from './switches.ts';

export const ROOT = join(import.meta.dirname, '../..');

/** What decides whether a block, a transaction, a result, a vote or confidential data are taken. */
const FOLDERS = [
  ...['src/tx', 'src/mempool', 'src/chain', 'src/finality', 'src/contracts', 'src/privacy'],
  'src/node/finality',
];
/** What connects them, where it decides something itself. */
const FILES = ['src/node/open-finality.ts'];
/** The JSON of transactions is a door of the REST interface, and no block passes it. */
const LEFT_OUT = /^src\/tx\/json\//;

export interface Copies {
  readonly folder: string;
  /** By number. */
  readonly guards: readonly Guard[];
  remove(): void;
}

export function makeCopies(): Copies {
  const folder = mkdtempSync(join(tmpdir(), 'mutations-'));
  const guards: Guard[] = [];
  const files: string[] = [];
  for (const file of sources()) {
    const source = readFileSync(join(ROOT, file), 'utf8');
    const switched = switchGuards(file, source, guards.length);
    if (switched.guards.length === 0) continue;
    guards.push(...switched.guards);
    files.push(file);
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), switched.text);
  }
  writeFileSync(join(folder, LIST), JSON.stringify(files));
  return { folder, guards, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

const sources = (): readonly string[] =>
  FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`),
  )
    .concat(FILES)
    .filter((file) => !LEFT_OUT.test(file))
    .sort();

/** Of the text of a file of the project. */
export const hashOf = (file: string): string =>
  createHash('sha256')
    .update(readFileSync(join(ROOT, file)))
    .digest('hex')
    .slice(0, 16);
