/**
 * Passwords of wallet and owner: from configuration and environment, else from the console
 * (node.md#start, node.md#key-files, decision 46: spellings of the configuration).
 */
import { CliError, EXIT } from '../../terminal/exit.ts';
import { askHidden } from '../../terminal/prompt.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const PASSWORD = 'PLATFORM_NODE_OWNER_PASSWORD';
const EMPTY = 'PLATFORM_NODE_OWNER_PASSWORD_EMPTY';

/** The owner's password from the environment; undefined means that the command must ask for it. */
export function ownerPasswordFrom(env: Environment): { password: string | undefined } | undefined {
  const value = (name: string): string | undefined =>
    env[name] ?? env[name.replace('PLATFORM_', 'WE_')];
  const empty = value(EMPTY);
  switch (empty?.trim().toLowerCase()) {
    case 'true':
    case 'yes':
      return { password: undefined };
    case 'false':
    case 'no':
      if (value(PASSWORD) === undefined) {
        throw new CliError(
          `${EMPTY} is '${empty}', so the password of the node owner must be in ${PASSWORD}, ` +
            'which is not set',
        );
      }
      break;
    case undefined:
      break;
    default:
      throw new CliError(`${EMPTY} is '${empty}': expected true or false`);
  }
  const password = value(PASSWORD);
  return password === undefined ? undefined : { password };
}

/** The password of the owner's key; undefined if it has none. Exit code 61 without a console. */
export async function ownerPassword(): Promise<string | undefined> {
  const known = ownerPasswordFrom(process.env);
  if (known !== undefined) return known.password;
  const typed = await askHidden('Enter the password for private key: ');
  if (typed === undefined) {
    throw new CliError(
      `No password for the private key of the node owner: set ${PASSWORD}, or ${EMPTY}=true if ` +
        'the key has none, or start on a console',
      EXIT.noConsole,
    );
  }
  return typed === '' ? undefined : typed;
}

/**
 * The password of the wallet: the configured one, or one that is asked for; exit code 61 without a
 * console.
 */
export async function walletPassword(configured: string | undefined): Promise<string> {
  if (configured !== undefined) return configured;
  const typed = await askHidden('Password > ');
  if (typed === undefined) {
    throw new CliError(
      'No wallet password: set wallet.password (or wallet.password-file, or NODE_WALLET_PASSWORD)',
      EXIT.noConsole,
    );
  }
  return typed;
}
