/** Puts the chain of a backup, and the keystore where it has one, in the place of a configuration. */
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { files } from '../../../adapters/files.ts';
import { makeFolder, syncFolder } from '../../../adapters/folders.ts';
import { base58 } from '../../../base/base58.ts';
import type { Config } from '../../../node/config/settings.ts';
import { loadConfig } from '../../config-file.ts';
import { genesisBlock } from '../../genesis-block.ts';
import { CliError } from '../../terminal/exit.ts';
import { requireNoNote } from '../chain/chain.ts';
import { chainFolder } from '../chain/chain-store.ts';
import { copyDurably } from './create-backup.ts';
import { CHAIN_FILE, KEYSTORE, type Manifest, verifiedManifest } from './manifest.ts';

export interface RestoreFlags {
  readonly set?: string[];
  readonly keepNote?: true;
}

export interface Restored {
  readonly manifest: Manifest;
  readonly keystore: 'restored' | 'kept' | 'not in the backup';
}

/** Throws CliError; then nothing has changed. */
export async function restoreBackup(
  from: string,
  path: string,
  flags: RestoreFlags,
): Promise<Restored> {
  const manifest = await verifiedManifest(from);
  const { config } = await loadConfig(path, flags);
  const genesis = base58.encode(genesisBlock(config).header.signature);
  if (genesis !== manifest.genesisId) {
    throw new CliError(
      `the backup is of another network: its genesis block is ${manifest.genesisId}, that of '${path}' is ${genesis}`,
    );
  }
  const folder = chainFolder(config);
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new CliError(`'${folder}' has a chain: stop the node and move that folder away`);
  }
  if (flags.keepNote !== true) await requireNoNote(config);
  const keystore = restoreKeystore(manifest, from, config);
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  makeFolder(part);
  copyDurably(join(from, CHAIN_FILE), join(part, basename(CHAIN_FILE)));
  rmSync(folder, { recursive: true, force: true });
  renameSync(part, folder);
  syncFolder(dirname(folder));
  return { manifest, keystore };
}

/** Existing keys stay. */
function restoreKeystore(
  { files: list }: Manifest,
  from: string,
  { wallet, platformCrypto }: Config,
): Restored['keystore'] {
  const keys = list.filter(({ name }) => name.startsWith(`${KEYSTORE}/`));
  if (keys.length === 0) return 'not in the backup';
  if (existsSync(wallet.file)) return 'kept';
  for (const { name } of keys) {
    const bytes = files.read(join(from, name)) ?? new Uint8Array(0);
    const to = platformCrypto ? wallet.file : join(wallet.file, basename(name));
    files.replace(to, bytes, { secret: true });
  }
  return 'restored';
}
