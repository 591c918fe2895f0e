/** The options of every command that calls a running node. */
import { type Command, Option } from 'commander';

export interface NodeFlags {
  url: string;
  apiKey?: string;
}

/** Options of commands that call the privacy methods, which may have an API key of their own. */
export const privacyOptions = (command: Command): Command =>
  withKey(command, 'API key of the privacy methods', 'PLATFORM_NODE_PRIVACY_API_KEY');

export const nodeOptions = (command: Command): Command =>
  withKey(command, 'API key', 'PLATFORM_NODE_API_KEY');

function withKey(command: Command, doc: string, variable: string): Command {
  return command
    .addOption(
      new Option('-u, --url <url>', 'REST interface of the node')
        .env('PLATFORM_NODE_URL')
        .default('http://127.0.0.1:6862'),
    )
    .addOption(new Option('--api-key <key>', doc).env(variable));
}
