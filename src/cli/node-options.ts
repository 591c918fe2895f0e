/** The options of every command that calls a running node. */
import { type Command, Option } from 'commander';

export interface NodeFlags {
  url: string;
  apiKey?: string;
}

export function nodeOptions(command: Command): Command {
  return command
    .addOption(
      new Option('-u, --url <url>', 'REST interface of the node')
        .env('PLATFORM_NODE_URL')
        .default('http://127.0.0.1:6862'),
    )
    .addOption(new Option('--api-key <key>', 'API key').env('PLATFORM_NODE_API_KEY'));
}
