/** `platform-node contract init`: a project, which is a copy of an example (examples/). */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { emptyFolder } from '../../terminal/empty-folder.ts';
import { printJson, say } from '../../terminal/output.ts';

const TEMPLATES = ['shell', 'typescript'] as const;
export type Template = (typeof TEMPLATES)[number];

const examples = fileURLToPath(new URL('../../../../examples/', import.meta.url));

export function init(dir: string, { template }: { readonly template: Template }): void {
  const folder = emptyFolder(dir);
  const name = projectName(folder);
  cpSync(join(examples, template), folder, { recursive: true });
  nameManifest(join(folder, 'package.json'), name);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name: file }) => join(parentPath, file).slice(folder.length + 1))
    .sort();
  printJson({ name, template, folder, files });
  say(`Next: platform-node contract build ${dir}`);
}

/** A name that images and packages may have. */
export function projectName(folder: string): string {
  const name = basename(resolve(folder))
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return name === '' ? 'contract' : name;
}

/** A shell project has none. */
function nameManifest(path: string, name: string): void {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return;
  }
  const manifest = JSON.parse(text) as Record<string, unknown>;
  writeFileSync(path, `${JSON.stringify({ ...manifest, name }, null, 2)}\n`);
}
