/** Gives a keystore another wallet password. */
import { AccountFiles, type HeldAccount } from './account-files.ts';
import type { KeystoreDeps, KeystoreOptions } from './keystore.ts';
import { KeyError } from './keystore-errors.ts';
import { type NewKey, unlockEntry, unsealEntry, Wallets } from './wallet.ts';

/**
 * `passwordOf`: that of an account, by its address, which has one of its own. A run that was cut off
 * is completed by the same call. Rejects with KeystoreError, or with KeyError; then nothing was
 * written.
 */
export async function changeWalletPassword(
  options: KeystoreOptions,
  deps: KeystoreDeps,
  password: string,
  passwordOf: (address: string) => Promise<string>,
): Promise<void> {
  const wallets = new Wallets(options.password);
  const next = new Wallets(password);
  const open = async ({ address, entry, wallet }: HeldAccount): Promise<NewKey> => {
    const name = deps.scheme.addressToText(address);
    const own = entry.password ? await passwordOf(name) : undefined;
    const privateKey =
      own === undefined ? unsealEntry(wallet, entry) : await unlockEntry(wallet, entry, own);
    if (privateKey === undefined) throw new KeyError(name, 'Wrong password');
    return { privateKey, password: own };
  };
  try {
    await new AccountFiles(options, deps, wallets).reseal(next, open);
  } finally {
    wallets.wipe();
    next.wipe();
  }
}
