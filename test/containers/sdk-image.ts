/**
 * An image with the unmodified npm package @wavesenterprise/contract-core, as this repository has
 * installed it, and a contract that uses it.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Engine } from './engine.ts';
import { nodeImage, type TestImage } from './images.ts';
import type { TarFile } from './tar.ts';

/** `contract` is a CommonJS module whose default export is the class of the contract. */
export function sdkImage(
  engine: Engine,
  name: string,
  contract: string,
  lines: readonly string[] = [],
): Promise<TestImage> {
  const files: Record<string, TarFile> = {
    'index.js': {
      bytes: "require('@wavesenterprise/contract-core').start('contract.js');\n",
    },
    'dist/contract.js': { bytes: contract },
  };
  for (const folder of packages()) {
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const path = join(folder, file);
      const isProgram = /\.(c?js|json)$/.test(file) && !/(^|\/)node_modules\//.test(file);
      if (isProgram && statSync(path).isFile()) files[path.slice(ROOT.length)] = { copyOf: path };
    }
  }
  return nodeImage(engine, name, files, 'index.js', lines);
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SDK = '@wavesenterprise/contract-core';
/** It stands in the manifest, and no module of the SDK loads it. */
const UNUSED = '@wavesenterprise/sdk';
/** Modules load these, and no manifest names them. */
const UNNAMED = ['long', 'protobufjs'];

/** Folders of the SDK and of everything that it loads. */
function packages(): Set<string> {
  const found = new Set<string>();
  const visit = (name: string, from: string): void => {
    const folder = resolved(name, from);
    if (found.has(folder)) return;
    found.add(folder);
    const { dependencies = {} } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    ) as { dependencies?: Record<string, string> };
    for (const next of Object.keys(dependencies)) if (next !== UNUSED) visit(next, folder);
  };
  for (const name of [SDK, ...UNNAMED]) visit(name, ROOT);
  return found;
}

/** Where Node finds the package when a module of `from` loads it. */
function resolved(name: string, from: string): string {
  const folder = join(from, 'node_modules', name);
  if (existsSync(join(folder, 'package.json'))) return folder;
  if (from === dirname(from)) throw new Error(`${name} is not installed`);
  return resolved(name, dirname(from));
}
