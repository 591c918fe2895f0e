/**
 * Loaded before a test file, in its process and in its threads: replaces sources by their copies
 * with switches, turns one guard off, and notes which guards act.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

declare global {
  /** True where the guard may act; it is asked at the moment when it would. */
  var __guard: (guard: number) => boolean;
  var __isOn: (guard: number) => boolean;
}

/** Folder of the copies, with a list of their names. */
export const COPIES = 'MUTATION_COPIES';
/** File that gets the numbers of the guards that act, a line each. */
export const ACTED = 'MUTATION_ACTED';
/** Number of the guard that is off. */
export const OFF = 'MUTATION_OFF';
export const LIST = 'list.json';

const { [COPIES]: copies, [ACTED]: notes, [OFF]: number } = process.env;
if (copies !== undefined) install(copies);

function install(folder: string): void {
  const off = number === undefined ? -1 : Number(number);
  const acted = new Set<number>();
  globalThis.__isOn = (guard) => guard !== off;
  globalThis.__guard = (guard) => {
    if (notes !== undefined && !acted.has(guard)) {
      acted.add(guard);
      appendFileSync(notes, `${guard}\n`);
    }
    return guard !== off;
  };
  const root = pathToFileURL(join(import.meta.dirname, '../../')).href;
  const files = JSON.parse(readFileSync(join(folder, LIST), 'utf8')) as readonly string[];
  const urls = new Map(files.map((file) => [`${root}${file}`, join(folder, file)]));
  registerHooks({
    load(url, context, next) {
      const copy = urls.get(url);
      if (copy === undefined) return next(url, context);
      return {
        format: 'module-typescript',
        source: readFileSync(copy, 'utf8'),
        shortCircuit: true,
      };
    },
  });
}

/** What a process needs in its environment to run on the copies. */
export const switchedEnvironment = (
  folder: string,
  { off, acted }: { readonly off?: number; readonly acted?: string } = {},
): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=${pathToFileURL(fileURLToPath(import.meta.url)).href}`,
  [COPIES]: folder,
  ...(off === undefined ? {} : { [OFF]: String(off) }),
  ...(acted === undefined ? {} : { [ACTED]: acted }),
});
