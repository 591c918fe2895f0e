/** `platform-node start <config>`: runs a node until it receives a request to stop. */

import type { Command } from 'commander';
import type { SetFlags } from '../config-file.ts';
import { setOption } from './config.ts';

export function register(command: Command): void {
  command
    .argument('[config]', 'configuration file (HOCON)')
    .addOption(setOption())
    .action(async (path: string | undefined, options: SetFlags) => {
      const { loadConfig } = await import('../config-file.ts');
      const { warn } = await import('../terminal/output.ts');
      const { config, warnings, origins } = await loadConfig(path, options);
      for (const warning of warnings) warn(warning);
      const { runNode } = await import('../run-node.ts');
      const { endWithParent } = await import('../terminal/end-with-parent.ts');
      const { sayStarted, settingsScreen } = await import('../terminal/start-screen.ts');
      if (process.stderr.isTTY === true) process.stderr.write(settingsScreen(config, origins));
      endWithParent();
      const { nonce } = config.network;
      const readAgain = async () => (await loadConfig(path, { ...options, nonce })).config;
      const node = await runNode(config, { readAgain, given: origins });
      sayStarted(node.facts, node.log, process.stderr.isTTY === true);
      await node.ended;
    });
}
