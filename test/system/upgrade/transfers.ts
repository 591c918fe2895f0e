/**
 * Clients that send transfers to all nodes in turn and ask the next node when one is away, as the
 * clients of an operator do during an upgrade.
 */
import { transfer } from '@waves/waves-transactions';
import { eventually } from '../e2e/process.ts';
import type { UpgradedNetwork, UpgradedNode } from './upgraded-network.ts';

export interface Transfers {
  /** Ids of those that a node has answered with 200. */
  readonly acknowledged: readonly string[];
  /** Ends the clients; rejects with what a node has said against a transfer. */
  end(): Promise<void>;
}

const FEE = 1_000_000;
const PAUSE_MS = 40;
/** No process of a node, or one that ends. */
const AWAY = /fetch failed|terminated|^503/;

export function startTransfers({ nodes, accounts, chainId }: UpgradedNetwork): Transfers {
  const acknowledged: string[] = [];
  let isOver = false;
  const [owner] = accounts;
  async function client(seed: string, first: number): Promise<void> {
    for (let amount = 1, at = first; !isOver; amount++, at++) {
      const about = { version: 2, chainId, recipient: owner!.address, fee: FEE };
      const tx = transfer({ ...about, amount, timestamp: Date.now() }, seed);
      await eventually('a node that takes it', async () => {
        const { rest } = nodes[at % nodes.length]!;
        const isTaken = await rest.broadcast(tx).then(
          () => true as const,
          (cause: Error) => {
            if (!AWAY.test(cause.message)) throw cause;
            at++;
            return undefined;
          },
        );
        return isTaken;
      });
      acknowledged.push(tx.id);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
  const senders = accounts.slice(nodes.length);
  const clients = senders.map(({ seed }, i) => client(seed, i));
  const all = Promise.all(clients);
  // Said by `end`.
  all.catch(() => undefined);
  return {
    acknowledged,
    async end() {
      isOver = true;
      await all;
    },
  };
}

/** Which of them are not in a block of the node, once its pool is empty. */
export async function notMined({ rest }: UpgradedNode, ids: readonly string[]): Promise<string[]> {
  await eventually('an empty pool', async () => {
    const { body } = await rest.get('/transactions/unconfirmed/size');
    return (body as { size: number }).size === 0 || undefined;
  });
  const lost: string[] = [];
  for (const id of ids) {
    const { status } = await rest.get(`/transactions/info/${id}`);
    if (status !== 200) lost.push(id);
  }
  return lost;
}
