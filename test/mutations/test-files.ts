/**
 * Test files that may notice when a guard is gone: those that import, over however many files, a
 * source with guards, and run it in their own process.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { ROOT } from './copies.ts';

/** These start nodes and commands as processes of their own, which run the sources as they are. */
const OTHER_PROCESSES =
  /^test\/(adapters|bench|cli|compliance|containers|data-service|examples|mutations|project|system\/(cost|crash|e2e|load))\//;

/** Shorter runs of what takes long by its number of cases. */
export const SHORT: Readonly<Record<string, string>> = {
  CONFORMITY_CASES: '1',
  FUZZ_FRAMES: '2000',
  FUZZ_REQUESTS: '500',
  MUTATIONS: '5000',
  ROUND_TRIPS: '5000',
  SCRIPT_BINARIES: '2000',
  SCRIPT_SOURCES: '500',
};

/** `guarded`: names of the sources with guards. */
export function testFiles(guarded: ReadonlySet<string>): readonly string[] {
  const known = new Map<string, readonly string[]>();
  return globSync('test/**/*.test.ts', { cwd: ROOT })
    .filter((file) => !OTHER_PROCESSES.test(file) && reaches(file, guarded, known))
    .sort();
}

function reaches(
  first: string,
  guarded: ReadonlySet<string>,
  known: Map<string, readonly string[]>,
): boolean {
  const seen = new Set([first]);
  for (const file of seen) {
    if (guarded.has(file)) return true;
    const imported = known.get(file) ?? importsOf(file);
    known.set(file, imported);
    for (const other of imported) seen.add(other);
  }
  return false;
}

function importsOf(file: string): readonly string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(ROOT, file), 'utf8'), true);
  return importedFiles
    .filter(({ fileName }) => fileName.startsWith('.') && fileName.endsWith('.ts'))
    .map(({ fileName }) => relative(ROOT, join(ROOT, dirname(file), fileName)))
    .filter((name) => existsSync(join(ROOT, name)));
}
