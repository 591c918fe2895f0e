/** `platform-node node status|stop`: a running node. */
import type { Command } from 'commander';
import { CliError } from './exit.ts';
import { printJson } from './output.ts';
import type { NodeFlags, RestNode } from './rest.ts';
import { nodeOptions } from './tx.ts';

export function register(command: Command): void {
  nodeOptions(
    command.command('status').description('Print version, height, time of the last block, peers.'),
  ).action((flags: NodeFlags) => withNode(flags, status));
  nodeOptions(command.command('stop').description('Stop a node; needs the API key.')).action(
    (flags: NodeFlags) => withNode(flags, (node) => node.post('/node/stop')),
  );
}

async function withNode(
  flags: NodeFlags,
  ask: (node: RestNode) => Promise<unknown>,
): Promise<void> {
  const { restNode } = await import('./rest.ts');
  const { refusalLine } = await import('./refusal-line.ts');
  const { RefusedError } = await import('../api/client.ts');
  const node = restNode(flags);
  try {
    printJson(await ask(node));
  } catch (cause) {
    if (!(cause instanceof RefusedError)) throw cause;
    printJson(refusalLine(cause));
    throw new CliError(cause.message);
  } finally {
    await node.close();
  }
}

async function status(node: RestNode): Promise<unknown> {
  const [version, state, pool, consensus] = await Promise.all([
    node.get('/node/version'),
    node.get('/node/status'),
    node.get('/transactions/unconfirmed/size'),
    node.get('/consensus/algo'),
  ]);
  const asObject = (value: unknown): object => (typeof value === 'object' ? (value ?? {}) : {});
  const size = asObject(pool) as { size?: unknown };
  return {
    ...asObject(version),
    ...asObject(state),
    ...asObject(consensus),
    unconfirmed: size.size ?? pool,
  };
}
