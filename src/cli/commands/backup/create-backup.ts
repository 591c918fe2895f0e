/** Makes a backup of a node that may be running. */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { files } from '../../../adapters/files.ts';
import { makeFolder, syncFolder } from '../../../adapters/folders.ts';
import type { Config } from '../../../node/config/settings.ts';
import type { SetFlags } from '../../config-file.ts';
import { CliError } from '../../terminal/exit.ts';
import { temporaryFolder } from '../../terminal/temporary-folder.ts';
import { withChain } from '../chain/chain.ts';
import { version } from '../version.ts';
import { chainFacts } from './chain-facts.ts';
import { synced } from './durable-copy.ts';
import { copyIncluded } from './included-files.ts';
import {
  type BackupChain,
  CHAIN_FILE,
  CONFIG_FILE,
  KEYSTORE,
  KEYSTORE_FILE,
  type Manifest,
  NAMES,
  writeManifest,
} from './manifest.ts';

export interface CreateFlags extends SetFlags {
  readonly withKeystore?: true;
}

/** The folder appears whole or not at all. Throws CliError where it exists. */
export async function createBackup(
  config: string,
  to: string,
  flags: CreateFlags,
): Promise<Manifest> {
  if (existsSync(to)) throw new CliError(`'${to}' exists already`);
  const target = resolve(to);
  makeFolder(dirname(target), 0o700);
  const part = temporaryFolder(`${target}.part-`);
  try {
    const chain = await copyChain(config, part.path, flags);
    const included = await copyIncluded(config, part.path);
    const names = [CHAIN_FILE, ...copyConfig(config, part.path), ...included, ...chain.keystore];
    const manifest = await writeManifest(part.path, names, { release: version, ...chain.facts });
    try {
      renameSync(part.path, target);
    } catch (cause) {
      // Another command was faster.
      throw existsSync(target) ? new CliError(`'${to}' exists already`) : cause;
    }
    syncFolder(dirname(target));
    return manifest;
  } finally {
    part.remove();
  }
}

async function copyChain(
  path: string,
  part: string,
  { set, withKeystore }: CreateFlags,
): Promise<{ readonly facts: BackupChain; readonly keystore: readonly string[] }> {
  const folder = join(part, dirname(CHAIN_FILE));
  const flags = { copyTo: folder, set };
  const copied = await withChain(path, flags, async (blockchain, { config }) => {
    const keystore = withKeystore === true ? copyKeystore(config, part) : [];
    return { facts: chainFacts(blockchain), keystore };
  });
  // Of the folder only the file belongs to the backup.
  for (const name of readdirSync(folder)) {
    if (name !== basename(CHAIN_FILE)) rmSync(join(folder, name), { recursive: true });
  }
  synced(join(part, CHAIN_FILE));
  return copied;
}

function copyConfig(path: string, part: string): string[] {
  const bytes = files.read(path);
  if (bytes === undefined) return [];
  files.replace(join(part, CONFIG_FILE), bytes, { secret: true });
  return [CONFIG_FILE];
}

function copyKeystore({ wallet }: Config, part: string): string[] {
  const { file } = wallet;
  const isFolder = files.isDirectory(file);
  const found = isFolder
    ? files
        .list(file)
        .filter((name) => name.endsWith('.key'))
        .map((name) => join(file, name))
    : [file];
  return found.map((path) => {
    const bytes = files.read(path);
    if (bytes === undefined) throw new CliError(`wallet.file '${path}' does not exist`);
    const name = isFolder ? nameOf(path, bytes) : KEYSTORE_FILE;
    files.replace(join(part, name), bytes, { secret: true });
    return name;
  });
}

/** A name that a manifest accepts. */
function nameOf(path: string, bytes: Uint8Array): string {
  const name = `${KEYSTORE}/${basename(path)}`;
  if (NAMES.test(name)) return name;
  return `${KEYSTORE}/${createHash('sha256').update(bytes).digest('hex')}.key`;
}
