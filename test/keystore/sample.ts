// A keystore on files in memory, with a cheap derivation.
import { systemRandom } from '../../src/adapters/system.ts';
import { Semaphore } from '../../src/concurrency/semaphore.ts';
import { createChainScheme } from '../../src/crypto/chain-scheme.ts';
import type { KeystoreFiles } from '../../src/keystore/account-files.ts';
import { type Keystore, openKeystore } from '../../src/keystore/keystore.ts';
import { family } from '../family.ts';

export { family };
export const scheme = createChainScheme(family, 'T'.charCodeAt(0));
export const random = systemRandom;
export const CHEAP = { N: 2 ** 10, r: 8, p: 1 };
export const alice = family.keyPairFromPhrase('alice');
export const bob = family.keyPairFromPhrase('bob');
export const address = (key: { publicKey: Uint8Array }) => scheme.addressOf(key.publicKey);

export function memoryFiles(): KeystoreFiles & { readonly content: Map<string, Uint8Array> } {
  const content = new Map<string, Uint8Array>();
  const alone = new Semaphore(1);
  const inside = (path: string) =>
    [...content.keys()].filter((name) => name.startsWith(`${path}/`));
  return {
    content,
    read: (path) => content.get(path),
    replace: (path, bytes) => void content.set(path, bytes),
    list: (path) => inside(path).map((name) => name.slice(path.length + 1)),
    isDirectory: (path) => inside(path).length > 0,
    exists: (path) => content.has(path) || inside(path).length > 0,
    lock: async () => ({ release: await alone.acquire() }),
  };
}

export const open = (
  files: KeystoreFiles,
  more: { password?: string; layout?: 'file' | 'directory' } = {},
): Promise<Keystore> =>
  openKeystore(
    { path: 'wallet', layout: 'file', password: 'wallet password', cost: CHEAP, ...more },
    { files, random, family, scheme },
  );
