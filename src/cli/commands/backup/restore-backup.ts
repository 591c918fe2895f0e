/** Puts the chain of a backup, and the keystore where it has one, in the place of a configuration. */

import { existsSync, readdirSync, renameSync, rmdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { giveTo, missingFolders, ownerAbove } from '../../../adapters/file-owner.ts';
import { lockFolder, StoreLockedError } from '../../../adapters/folder-lock.ts';
import { syncFolder } from '../../../adapters/folders.ts';
import { base58 } from '../../../base/base58.ts';
import { StoreCorruptError } from '../../../base/faults/store-damage.ts';
import type { Config } from '../../../node/config/settings.ts';
import type { SetFlags } from '../../config-file.ts';
import { loadConfig } from '../../config-file.ts';
import { genesisBlock } from '../../genesis-block.ts';
import { requireOwnFileSystem } from '../../opening/require-own-file-system.ts';
import { CliError, lockedBy } from '../../terminal/exit.ts';
import { temporaryFolder } from '../../terminal/temporary-folder.ts';
import { requireNoNote, withChain } from '../chain/chain.ts';
import { chainFolder } from '../chain/chain-store.ts';
import { requireSpace } from '../db/require-space.ts';
import { chainFacts } from './chain-facts.ts';
import { copyDurably, synced } from './durable-copy.ts';
import { placeConfig } from './included-files.ts';
import { CHAIN_FILE, type Manifest, verifiedManifest } from './manifest.ts';
import { type StagedKeystore, stageKeystore } from './restore-keystore.ts';

export interface RestoreFlags extends SetFlags {
  readonly keepNote?: true;
}

export interface Restored {
  readonly manifest: Manifest;
  readonly keystore: StagedKeystore['state'];
  /** Files of the configuration that were absent. */
  readonly configuration: readonly string[];
}

/** Throws CliError; then nothing has changed. */
export async function restoreBackup(
  from: string,
  path: string,
  flags: RestoreFlags,
): Promise<Restored> {
  const manifest = await verifiedManifest(from);
  const { placed, undo } = placeConfig(manifest, from, path);
  try {
    const keystore = await restoreChain(manifest, from, path, flags);
    return { manifest, keystore, configuration: placed };
  } catch (cause) {
    undo();
    throw cause;
  }
}

async function restoreChain(
  manifest: Manifest,
  from: string,
  path: string,
  flags: RestoreFlags,
): Promise<StagedKeystore['state']> {
  const { config } = await loadConfig(path, flags);
  const genesis = base58.encode(genesisBlock(config).header.signature);
  if (genesis !== manifest.genesisId) {
    throw new CliError(
      `the backup is of another network: its genesis block is ${manifest.genesisId}, that of '${path}' is ${genesis}`,
    );
  }
  if (flags.keepNote !== true) await requireNoNote(config);
  requireOwnFileSystem(config, chainFolder(config));
  return inLockedFolder(chainFolder(config), () =>
    putInPlace(manifest, { from, path, flags, config }),
  );
}

/**
 * No node can start while the work lasts. Root leaves what it makes to the owner of the folders that
 * were there, whose node could not open it otherwise.
 */
async function inLockedFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  requireNoChain(folder);
  const isNew = !existsSync(folder);
  const owner = ownerAbove(folder);
  const made = missingFolders(folder);
  const lock = await lockFolder(folder).catch((cause: unknown) => {
    throw cause instanceof StoreLockedError ? lockedBy(cause) : cause;
  });
  try {
    for (const path of made) giveTo(owner, path);
    requireNoChain(folder);
    return await work();
  } finally {
    lock.release();
    if (isNew && readdirSync(folder).length === 0) rmdirSync(folder);
  }
}

/** In the folder of the chain, which may be a link or a volume. */
const PART = 'restore-';

function requireNoChain(folder: string): void {
  if (!existsSync(folder)) return;
  if (readdirSync(folder).every((name) => /^(lock|locking|restore)-/.test(name))) return;
  throw new CliError(`'${folder}' has a chain: stop the node and move that folder away`);
}

interface Task {
  readonly from: string;
  readonly path: string;
  readonly flags: RestoreFlags;
  readonly config: Config;
}

async function putInPlace(manifest: Manifest, task: Task): Promise<StagedKeystore['state']> {
  const { from, config } = task;
  const folder = chainFolder(config);
  const part = temporaryFolder(join(folder, PART));
  try {
    const staged = join(part.path, basename(CHAIN_FILE));
    await requireSpace(config, folder, statSync(join(from, CHAIN_FILE)).size);
    copyDurably(join(from, CHAIN_FILE), staged);
    await requireChain(manifest, part.path, task);
    synced(staged);
    const owner = ownerAbove(folder);
    giveTo(owner, staged);
    const keystore = stageKeystore(manifest, from, config, owner);
    try {
      const placed = join(folder, basename(CHAIN_FILE));
      renameSync(staged, placed);
      try {
        keystore.place();
      } catch (cause) {
        renameSync(placed, staged);
        throw cause;
      }
      syncFolder(folder);
    } finally {
      keystore.discard();
    }
    return keystore.state;
  } finally {
    part.remove();
  }
}

/** The checksums of a manifest say nothing of the chain in the file. Throws CliError. */
async function requireChain(
  manifest: Manifest,
  copy: string,
  { from, path, flags: { set } }: Task,
): Promise<void> {
  const flags = { copy, set };
  const found = await withChain(path, flags, async (chain) => chainFacts(chain)).catch(
    (cause: unknown) => {
      if (!(cause instanceof StoreCorruptError)) throw cause;
      throw new CliError(`the chain in '${from}' is damaged: ${cause.message}`);
    },
  );
  for (const key of ['genesisId', 'height', 'blockId', 'stateHash'] as const) {
    if (found[key] === manifest[key]) continue;
    throw new CliError(
      `the chain in '${from}' has ${key} ${found[key]}, but the manifest says ${manifest[key]}`,
    );
  }
}
