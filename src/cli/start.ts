/** `platform-node start <config>`: runs a node until it is told to stop. */
import type { Command } from 'commander';
import { setOption } from './config.ts';

export function register(command: Command): void {
  command
    .argument('[config]', 'configuration file (HOCON)')
    .addOption(setOption())
    .action(async (path: string | undefined, options: { set?: string[] }) => {
      const { loadConfig } = await import('./config-file.ts');
      const { warn } = await import('./output.ts');
      const { config, warnings } = await loadConfig(path, options);
      for (const warning of warnings) warn(warning);
      const { runNode } = await import('./run-node.ts');
      const { endOnFailure } = await import('./fatal.ts');
      const { sayStarted } = await import('./start-screen.ts');
      const node = await runNode(config);
      endWithParent();
      endOnFailure(node.log);
      sayStarted(node.facts, node.log, process.stderr.isTTY === true);
      await node.ended;
    });
}

/** A node that `platform-node dev` has started does not outlive it, however that ends. */
function endWithParent(): void {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel?.unref();
}
