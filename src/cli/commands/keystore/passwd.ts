/** `platform-node keystore passwd`: another password for the wallet, or for one of its accounts. */
import type { SetFlags } from '../../config-file.ts';
import { CliError } from '../../terminal/exit.ts';
import { printJson, say } from '../../terminal/output.ts';
import { fromVariable, type PasswordFlags, passwordSource } from './account-passwords.ts';
import { openWallet, placeFromFile, reencryptWallet } from './open-wallet.ts';

export interface PasswdFlags extends PasswordFlags, SetFlags {
  /** The variable that holds the new password. */
  newPasswordEnv?: string;
}

const NO_CONSOLE =
  'use --new-password-env <variable>, and --password-env <variable> for the present one of an account';

export async function passwd(
  file: string,
  address: string | undefined,
  flags: PasswdFlags,
): Promise<void> {
  const place = await placeFromFile(file, flags.set);
  const typed = passwordSource({}, NO_CONSOLE);
  const ask = async (name: string): Promise<string> =>
    fromVariable(flags.passwordEnv) ?? typed.ask(`Password of ${name}: `);
  const choose = async (of: string): Promise<string> =>
    fromVariable(flags.newPasswordEnv) ?? typed.choose(`New password of ${of}: `);
  try {
    if (address === undefined) {
      const chosen = async (): Promise<string> => {
        const password = await choose('the wallet');
        if (password === '') throw new CliError('The new password of the wallet is empty');
        return password;
      };
      await reencryptWallet(place, chosen, ask);
      printJson({ wallet: place.path, changed: true });
      say('Set wallet.password to the new password; a running node takes it over on SIGHUP');
      return;
    }
    const keystore = await openWallet(place);
    try {
      const { scheme } = place.network;
      const account = keystore
        .accounts()
        .find((one) => scheme.addressToText(one.address) === address);
      if (account === undefined) throw new CliError(`'${address}' is not in '${place.path}'`);
      const current = account.password ? await ask(address) : undefined;
      await keystore.changeAccountPassword(account.address, current, await choose(address));
      printJson({ address, changed: true });
    } finally {
      keystore.close();
    }
  } finally {
    typed.close();
  }
}
