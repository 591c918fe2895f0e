/** `platform-node block [which]`: a block of a running node, and the check of a proof of one. */

import type { Command } from 'commander';
import type { Client } from '../../rest-framework/client.ts';
import type { SetFlags } from '../config-file.ts';
import { type NodeFlags, nodeOptions } from '../node-options.ts';
import { setOption } from './config.ts';

interface Flags extends NodeFlags {
  headers?: true;
}

export function register(command: Command): void {
  command
    .command('verify-proof <config> <file>')
    .description(
      'check a proof of GET /blocks/{id}/proof without a chain: from the genesis block of the configuration, ' +
        "or from the checkpoint in its section 'finality'; '-' reads stdin",
    )
    .option('--id <signature>', 'the block that the proof has to be of')
    .addOption(setOption())
    .action(verifyProof);
  nodeOptions(command)
    .argument('[which]', "height, signature, or 'last'", 'last')
    .option('--headers', 'without its transactions')
    .action(async (which: string, flags: Flags) => {
      const { blocks } = await import('../../rest/routes/blocks.ts');
      const { printAnswer } = await import('../rest-calls.ts');
      const ask = flags.headers === true ? headerOf : blockOf;
      await printAnswer(flags, (node) => ask(node, blocks, which));
    });
}

type Routes = typeof import('../../rest/routes/blocks.ts')['blocks'];

const HEIGHT = /^\d{1,10}$/;

function blockOf({ call }: Client, routes: Routes, which: string): Promise<unknown> {
  if (which === 'last') return call(routes.last);
  if (HEIGHT.test(which)) return call(routes.at, { params: { height: which } });
  return call(routes.bySignature, { params: { signature: which } });
}

async function headerOf({ call }: Client, routes: Routes, which: string): Promise<unknown> {
  if (which === 'last') return call(routes.headerLast);
  if (HEIGHT.test(which)) return call(routes.headerAt, { params: { height: which } });
  const { height } = await call(routes.heightOfSignature, { params: { signature: which } });
  return call(routes.headerAt, { params: { height } });
}

interface ProofFlags extends SetFlags {
  readonly id?: string;
}

async function verifyProof(path: string, file: string, flags: ProofFlags): Promise<void> {
  const { loadConfig } = await import('../config-file.ts');
  const { checkProof } = await import('../check-proof.ts');
  const { readAll } = await import('../terminal/lines.ts');
  const { printJson } = await import('../terminal/output.ts');
  const { config } = await loadConfig(path, flags);
  printJson(checkProof(config, await readAll(file), flags.id));
}
