/**
 * The place of key files: one file with all accounts, or a folder with one file for each account,
 * as the cryptography family requires (`wallet.file`).
 */
import { base58 } from '../base/base58.ts';
import type { Files } from '../base/ports.ts';
import type { CryptoFamily } from '../crypto/family.ts';
import type { KeyFile } from './format.ts';

export interface KeystoreFiles extends Files {
  list(path: string): string[];
  isDirectory(path: string): boolean;
  exists(path: string): boolean;
}

export type Layout = CryptoFamily['keystoreLayout'];

export interface NamedBytes {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const EXTENSION = '.key';

/** The existing files; an empty list for a keystore that does not exist yet. */
export function readKeyFiles(files: KeystoreFiles, path: string, layout: Layout): NamedBytes[] {
  const names =
    layout === 'file'
      ? [path]
      : files
          .list(path)
          .filter((name) => name.endsWith(EXTENSION))
          .map((name) => `${path}/${name}`);
  return names.flatMap((name) => {
    const bytes = files.read(name);
    return bytes === undefined || bytes.length === 0 ? [] : [{ name, bytes }];
  });
}

/** Splits the accounts into files: all in one, or one file each, named by public key. */
export function splitByLayout(
  file: KeyFile,
  path: string,
  layout: Layout,
): { readonly name: string; readonly file: KeyFile }[] {
  if (layout === 'file') return [{ name: path, file }];
  return file.entries.map((entry) => ({
    name: `${path}/${base58.encode(entry.publicKey)}${EXTENSION}`,
    file: { ...file, entries: [entry] },
  }));
}
