/** The options of every command that calls a running node. */
import { type Command, Option } from 'commander';

export interface TlsFlags {
  tlsCa?: string | undefined;
  tlsCert?: string | undefined;
  tlsKey?: string | undefined;
}

export interface NodeFlags extends TlsFlags {
  url: string;
  apiKey?: string;
}

/** Of commands that an account of the node signs. */
export interface SignFlags extends NodeFlags {
  sender: string;
  passwordEnv?: string;
  fee?: string;
  wait?: string;
}

/** `awaited`: what the command waits for. */
export const signOptions = (command: Command, awaited: string): Command =>
  command
    .requiredOption('--sender <address>', 'account of the node that signs')
    .option('--password-env <variable>', 'variable that holds the password of the account')
    .option('--fee <units>', 'fee; default: the minimum fee')
    .option('--wait <seconds>', `seconds to wait for ${awaited}`);

/** For nodes whose certificate the system does not trust, or that ask for one of the client. */
export const tlsOptions = (command: Command): Command =>
  command
    .addOption(
      new Option('--tls-ca <file>', 'PEM authorities of nodes, instead of those of the system').env(
        'PLATFORM_NODE_TLS_CA',
      ),
    )
    .addOption(
      new Option('--tls-cert <file>', 'PEM certificate to show to the node').env(
        'PLATFORM_NODE_TLS_CERT',
      ),
    )
    .addOption(
      new Option('--tls-key <file>', 'PEM private key of that certificate').env(
        'PLATFORM_NODE_TLS_KEY',
      ),
    );

/** Options of commands that call the privacy methods, which may have an API key of their own. */
export const privacyOptions = (command: Command): Command =>
  withKey(command, 'API key of the privacy methods', 'PLATFORM_NODE_PRIVACY_API_KEY');

export const nodeOptions = (command: Command): Command =>
  withKey(command, 'API key', 'PLATFORM_NODE_API_KEY');

function withKey(command: Command, doc: string, variable: string): Command {
  const named = command
    .addOption(
      new Option('-u, --url <url>', 'REST interface of the node')
        .env('PLATFORM_NODE_URL')
        .default('http://127.0.0.1:6862'),
    )
    .addOption(new Option('--api-key <key>', doc).env(variable));
  return tlsOptions(named);
}
