/** Decrypts the private keys of accounts. */
import type { Random } from '../base/ports.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { accountName, type HeldAccount } from './account-files.ts';
import { KeyError } from './keystore-errors.ts';
import { createUnlockedKeys, type Purpose, type UnlockedKeys } from './unlock.ts';
import { unlockEntry, unsealEntry } from './wallet.ts';

const SECRET_BYTES = 32;

export class AccountKeys {
  private readonly unlocked: UnlockedKeys;
  private readonly scheme: Pick<ChainScheme, 'addressToText'>;

  constructor(random: Random, scheme: Pick<ChainScheme, 'addressToText'>) {
    this.unlocked = createUnlockedKeys(random.bytes(SECRET_BYTES));
    this.scheme = scheme;
  }

  /** Returns at once where no scrypt is needed. Throws or rejects with KeyError. */
  open(
    account: HeldAccount,
    given: string | undefined,
    purpose: Purpose,
  ): Uint8Array | Promise<Uint8Array> {
    const { entry, wallet } = account;
    const alias = this.scheme.addressToText(account.address);
    const wrong = (): KeyError => new KeyError(alias, 'Wrong password');
    if (!account.password) {
      const key = given === undefined || given === '' ? unsealEntry(wallet, entry) : undefined;
      if (key === undefined) throw wrong();
      return key;
    }
    if (given === undefined || given === '') throw new KeyError(alias, 'Expected password');
    const name = accountName(account.address);
    const cached = this.unlocked.get(name, given);
    if (cached !== undefined) return cached;
    const derive = () => unlockEntry(wallet, entry, given);
    return this.unlocked.unlock(name, given, derive, purpose).then((key) => {
      if (key === undefined) throw wrong();
      return key;
    });
  }

  wipe(): void {
    this.unlocked.wipe();
  }
}
