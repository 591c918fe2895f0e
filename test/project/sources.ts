// The files of this repository, as text and as syntax trees.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = new URL('../../', import.meta.url);

/** All TypeScript files of a folder, as paths from the root. */
export function files(folder: string): string[] {
  const path = fileURLToPath(new URL(folder, root));
  if (!existsSync(path)) return [];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .sort();
}

const texts = new Map<string, string>();
const trees = new Map<string, ts.SourceFile>();

/** Reads each file once. */
export function read(file: string): string {
  const text = texts.get(file) ?? readFileSync(new URL(file, root), 'utf8');
  texts.set(file, text);
  return text;
}

/** Parses each file once. */
export function parse(file: string): ts.SourceFile {
  const tree = trees.get(file) ?? parseText(file, read(file));
  trees.set(file, tree);
  return tree;
}

export function parseText(file: string, text: string): ts.SourceFile {
  return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
}
