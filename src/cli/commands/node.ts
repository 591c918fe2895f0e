/** `platform-node node status|config|peers|stop`: a running node. */
import type { Command } from 'commander';
import type { Client } from '../../rest-framework/client.ts';
import { type NodeFlags, nodeOptions } from '../node-options.ts';

type Ask = (node: Client) => Promise<unknown>;

export function register(command: Command): void {
  const sub = (name: string, description: string, prepare: () => Promise<Ask>): void => {
    nodeOptions(command.command(name).description(description)).action(async (flags: NodeFlags) => {
      const ask = await prepare();
      await (await import('../rest-calls.ts')).printAnswer(flags, ask);
    });
  };
  sub(
    'status',
    'Print version, height, time of the last block, and the number of waiting transactions.',
    status,
  );
  sub('config', 'Print network id, consensus and fees.', async () => {
    const { node } = await import('../../rest/routes/node.ts');
    return ({ call }) => call(node.config);
  });
  sub('peers', 'Print the connected nodes, and all known addresses of nodes.', peers);
  sub('stop', 'Stop a node; needs the API key.', async () => {
    const { node } = await import('../../rest/routes/node.ts');
    return ({ call }) => call(node.stop);
  });
}

async function status(): Promise<Ask> {
  const { node } = await import('../../rest/routes/node.ts');
  const { consensus } = await import('../../rest/routes/consensus.ts');
  const { transactions } = await import('../../rest/routes/transactions.ts');
  return async ({ call }) => {
    const [version, state, algorithm, pool] = await Promise.all([
      call(node.version),
      call(node.status),
      call(consensus.algo),
      call(transactions.unconfirmedSize),
    ]);
    return { ...version, ...state, ...algorithm, unconfirmed: pool.size };
  };
}

async function peers(): Promise<Ask> {
  const { peers: routes } = await import('../../rest/routes/peers.ts');
  return async ({ call }) => {
    const [connected, all] = await Promise.all([call(routes.connected), call(routes.all)]);
    return { connected: connected.peers, known: all.peers };
  };
}
