/**
 * The paths that an ignore file keeps out of an image, by the rules of the engine's own tools: a
 * pattern a line, of which the last one that matches decides; `!` takes a path in again; `#` begins a
 * comment. A pattern also holds for all that is below what it matches.
 */
import { posix } from 'node:path';
import { CliError } from '../../terminal/exit.ts';

/** The first one that a folder has counts; the first is of its Dockerfile alone. */
export const IGNORE_FILES = ['Dockerfile.dockerignore', '.dockerignore'] as const;

export interface IgnoredFiles {
  has(path: string): boolean;
  /** True where nothing below an ignored folder can be taken in again. */
  readonly isFinal: boolean;
}

interface Rule {
  readonly takesIn: boolean;
  readonly pattern: RegExp;
}

/** `file`: where the text comes from. Throws CliError for a malformed pattern. */
export function ignoredFiles(text: string, file = '.dockerignore'): IgnoredFiles {
  const rules = text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .filter((line) => !line.startsWith('#') && line.trim() !== '')
    .map((line) => ruleOf(line.trim(), file))
    .filter((rule) => rule !== undefined);
  return {
    isFinal: !rules.some(({ takesIn }) => takesIn),
    has: (path) => {
      const last = rules.findLast(({ pattern }) => pattern.test(path));
      return last !== undefined && !last.takesIn;
    },
  };
}

/** Undefined for the folder itself, which is always there. */
function ruleOf(line: string, file: string): Rule | undefined {
  const takesIn = line.startsWith('!');
  const named = takesIn ? line.slice(1).trim() : line;
  if (named === '') throw new CliError(`${file}: '${line}' is no pattern`);
  // As a path below the folder, without parts that mean nothing.
  const glob = posix.normalize(named).replace(/^\/|\/$/g, '');
  if (glob === '' || glob === '.') return undefined;
  try {
    return { takesIn, pattern: new RegExp(`^${sourceOf(glob)}(?:/.*)?$`, 'su') };
  } catch {
    throw new CliError(`${file}: '${line}' is no pattern`);
  }
}

/** Parts of a pattern: `**` and a slash, `**`, `*`, `?`, a class, a character that is meant itself. */
const PARTS = /\*\*\/|\*\*|\*|\?|\[\^?(?:\\.|[^\]\\])+\]|\\.|./gsu;

const sourceOf = (glob: string): string =>
  glob.replace(PARTS, (part) => SOURCES[part] ?? literal(part));

const SOURCES: Readonly<Record<string, string>> = {
  '**/': '(?:.*/)?',
  '**': '.*',
  '*': '[^/]*',
  '?': '[^/]',
};

/** A class stays as it is, but for what only this language gives a meaning. Throws for a part without its end. */
function literal(part: string): string {
  if (part === '[' || part === '\\') throw new SyntaxError(part);
  if (part.length > 1 && part.startsWith('[')) return part.replace(/(?<!^)\[/g, '\\[');
  const character = part.startsWith('\\') && part.length > 1 ? part.slice(1) : part;
  return character.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&');
}
