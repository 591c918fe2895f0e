/**
 * The files that the configuration of a node includes, in a backup and back from it. Their names
 * there are their places below the folder of the configuration, to which they return.
 */
import { lstatSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { giveTo, missingFolders, ownerAbove } from '../../../adapters/file-owner.ts';
import { files } from '../../../adapters/files.ts';
import { makeFolder } from '../../../adapters/folders.ts';
import { hoconIncludes } from '../../../adapters/hocon.ts';
import { CliError } from '../../terminal/exit.ts';
import {
  CONFIG_FILE,
  INCLUDED,
  INCLUDED_BYTES_MAX,
  INCLUDED_MAX,
  type Manifest,
  NAMES,
} from './manifest.ts';

const STDIN = '-';

/** Names in the backup. Throws CliError where one cannot be kept there. */
export async function copyIncluded(config: string, part: string): Promise<readonly string[]> {
  const folder = dirname(resolve(config));
  const names: string[] = [];
  // A configuration from stdin includes nothing that has a place.
  if (config === STDIN) return names;
  for (const path of await hoconIncludes(resolve(config))) {
    if (!files.exists(path)) continue;
    const name = `${INCLUDED}${relative(folder, path)}`;
    if (!NAMES.test(name)) {
      throw new CliError(
        `'${path}' is included by '${config}' and not below its folder, or has an unusual name: a backup cannot restore it`,
      );
    }
    if (statSync(path).size > INCLUDED_BYTES_MAX || names.length === INCLUDED_MAX) {
      throw new CliError(`'${config}' includes more or larger files than a backup takes`);
    }
    files.replace(join(part, name), files.read(path) ?? new Uint8Array(0), { secret: true });
    names.push(name);
  }
  return names;
}

export interface PlacedFiles {
  /** Paths that were absent and are there now. */
  readonly placed: readonly string[];
  /** Takes them away again. */
  undo(): void;
}

/** Puts the configuration and what it includes where they are absent; nothing that is there changes. */
export function placeConfig({ files: list }: Manifest, from: string, config: string): PlacedFiles {
  const folder = dirname(resolve(config));
  const placed: string[] = [];
  if (config === STDIN) return { placed, undo() {} };
  const undo = (): void => {
    for (const path of placed) rmSync(path, { force: true });
  };
  const place = (name: string, path: string): void => {
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return;
    requireNoLink(folder, dirname(path));
    const owner = ownerAbove(dirname(path));
    const made = missingFolders(dirname(path));
    makeFolder(dirname(path), 0o700);
    for (const one of made) giveTo(owner, one);
    files.replace(path, files.read(join(from, name)) ?? new Uint8Array(0), { secret: true });
    placed.push(path);
    giveTo(owner, path);
  };
  try {
    for (const { name } of list) {
      if (name === CONFIG_FILE) place(name, resolve(config));
      else if (name.startsWith(INCLUDED)) place(name, join(folder, name.slice(INCLUDED.length)));
    }
  } catch (cause) {
    undo();
    throw cause;
  }
  return { placed, undo };
}

/** A folder on the way that is a link could lead anywhere. */
function requireNoLink(folder: string, to: string): void {
  for (let at = to; at !== folder; at = dirname(at)) {
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
    throw new CliError(`'${at}' is a link: a backup restores nothing through it`);
  }
}
