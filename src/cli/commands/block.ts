/** `platform-node block [which]`: a block of a running node. */
import type { Command } from 'commander';
import type { Client } from '../../rest-framework/client.ts';
import { type NodeFlags, nodeOptions } from '../node-options.ts';

interface Flags extends NodeFlags {
  headers?: true;
}

export function register(command: Command): void {
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
