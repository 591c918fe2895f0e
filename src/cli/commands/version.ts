/** `platform-node version`. */
import type { Command } from 'commander';
import packageJson from '../../../package.json' with { type: 'json' };
import { printJson } from '../terminal/output.ts';

export const version: string = packageJson.version;

export function register(command: Command): void {
  command
    .option('--json', 'print an object with the versions of all components')
    .action((options: { json?: true }) => {
      if (options.json !== true) {
        console.log(`platform-node v${version}`);
        return;
      }
      const { node, openssl, v8 } = process.versions;
      printJson({
        version,
        node,
        openssl,
        v8,
        platform: `${process.platform}-${process.arch}`,
        modules: process.versions.modules,
      });
    });
}
