/** `platform-node asset <id>`: the state of an asset, from a running node. */
import type { Command } from 'commander';
import { type NodeFlags, nodeOptions } from '../node-options.ts';

interface Flags extends NodeFlags {
  holders?: true;
}

export function register(command: Command): void {
  nodeOptions(command)
    .argument('<id>', 'id of the asset')
    .option('--holders', 'print its holders and their balances instead')
    .action(async (assetId: string, flags: Flags) => {
      const { assets } = await import('../../rest/routes/assets.ts');
      const { printAnswer } = await import('../rest-calls.ts');
      const params = { assetId };
      await printAnswer(flags, ({ call }) =>
        flags.holders === true
          ? call(assets.distribution, { params })
          : call(assets.details, { params }),
      );
    });
}
