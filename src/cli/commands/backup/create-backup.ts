/** Makes a backup of a node that may be running. */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { files } from '../../../adapters/files.ts';
import { makeFolder, syncFolder } from '../../../adapters/folders.ts';
import { base58 } from '../../../base/base58.ts';
import { encodeHex } from '../../../base/hex.ts';
import { headerRowAt } from '../../../chain/store/stored-blocks.ts';
import type { Config } from '../../../node/config/settings.ts';
import { CliError } from '../../terminal/exit.ts';
import { withChain } from '../chain/chain.ts';
import { version } from '../version.ts';
import {
  type BackupChain,
  CHAIN_FILE,
  CONFIG_FILE,
  KEYSTORE,
  type Manifest,
  writeManifest,
} from './manifest.ts';

export interface CreateFlags {
  readonly set?: string[];
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
  const part = `${target}.part`;
  rmSync(part, { recursive: true, force: true });
  makeFolder(part, 0o700);
  try {
    const chain = await copyChain(config, part, flags);
    const names = [CHAIN_FILE, ...copyConfig(config, part), ...chain.keystore];
    const manifest = await writeManifest(part, names, { release: version, ...chain.facts });
    renameSync(part, target);
    syncFolder(dirname(target));
    return manifest;
  } catch (cause) {
    rmSync(part, { recursive: true, force: true });
    throw cause;
  }
}

async function copyChain(
  path: string,
  part: string,
  { set, withKeystore }: CreateFlags,
): Promise<{ readonly facts: BackupChain; readonly keystore: readonly string[] }> {
  const folder = join(part, dirname(CHAIN_FILE));
  const flags = { copyTo: folder, ...(set === undefined ? {} : { set }) };
  const copied = await withChain(path, flags, async (blockchain, { config }) => {
    const { height, id } = blockchain.tip();
    const stateHash = encodeHex(blockchain.stateHash(height) ?? new Uint8Array(0));
    const genesis = headerRowAt(blockchain.view, 1)!.header.signature;
    const facts = {
      genesisId: base58.encode(genesis),
      height,
      blockId: base58.encode(id),
      stateHash,
    };
    return { facts, keystore: withKeystore === true ? copyKeystore(config, part) : [] };
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
  const found = files.isDirectory(file)
    ? files
        .list(file)
        .filter((name) => name.endsWith('.key'))
        .map((name) => join(file, name))
    : [file];
  return found.map((path) => {
    const bytes = files.read(path);
    if (bytes === undefined) throw new CliError(`wallet.file '${path}' does not exist`);
    const name = `${KEYSTORE}/${basename(path)}`;
    files.replace(join(part, name), bytes, { secret: true });
    return name;
  });
}

/** Copies a file of any size and waits until it is on disk. */
export function copyDurably(from: string, to: string): void {
  copyFileSync(from, to);
  synced(to);
  syncFolder(dirname(to));
}

function synced(path: string): void {
  const file = openSync(path, 'r+');
  fsyncSync(file);
  closeSync(file);
}
