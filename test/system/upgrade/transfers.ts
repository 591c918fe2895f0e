/**
 * Clients that send transfers to all nodes in turn and ask the next node when one is away, as the
 * clients of an operator do during an upgrade.
 */
import { eventually } from '../e2e/process.ts';
import { NoAnswerError } from '../e2e/rest.ts';
import { transfersOf } from '../e2e/signed-transfers.ts';
import type { UpgradedNetwork, UpgradedNode } from './upgraded-network.ts';

export interface Transfers {
  /** Those that a node has answered with 200. */
  readonly acknowledged: readonly Acknowledged[];
  /** From now on the clients send nothing to this node; undefined: to all again. */
  spare(node: UpgradedNode | undefined): void;
  /** Ends the clients; rejects with what a node has said against a transfer. */
  end(): Promise<void>;
}

export interface Acknowledged {
  readonly id: string;
  /** Index of the node. */
  readonly by: number;
  readonly timestamp: number;
}

const PAUSE_MS = 250;
const AT_ONCE = 50;
/** No process of a node, or one that ends. */
const isAway = (cause: Error): boolean =>
  cause instanceof NoAnswerError || cause.message.startsWith('503');

export function startTransfers({ nodes, accounts, chainId }: UpgradedNetwork): Transfers {
  const acknowledged: Acknowledged[] = [];
  let isOver = false;
  let spared: UpgradedNode | undefined;
  const [owner] = accounts;
  async function client(seed: string, first: number): Promise<void> {
    const next = transfersOf(seed, chainId, owner!.address);
    for (let at = first; !isOver; at++) {
      const { id, json } = next();
      const by = await eventually('a node that takes it', () => {
        if (nodes[at % nodes.length] === spared) at++;
        const index = at % nodes.length;
        return nodes[index]!.rest.broadcast(json).then(
          () => index,
          (cause: Error) => {
            if (!isAway(cause)) throw cause;
            at++;
            return undefined;
          },
        );
      });
      acknowledged.push({ id, by, timestamp: Date.now() });
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
    spare(node) {
      spared = node;
    },
    async end() {
      isOver = true;
      await all;
    },
  };
}

/** Which of them are not in a block of the node, once its pool is empty. */
export async function notMined(
  { rest }: UpgradedNode,
  all: readonly Acknowledged[],
): Promise<Acknowledged[]> {
  await eventually('an empty pool', async () => {
    const { body } = await rest.get('/transactions/unconfirmed/size');
    return (body as { size: number }).size === 0 || undefined;
  });
  const lost: Acknowledged[] = [];
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const some = all.slice(at, at + AT_ONCE);
    const answers = await Promise.all(some.map(({ id }) => rest.get(`/transactions/info/${id}`)));
    lost.push(...some.filter((_, i) => answers[i]?.status !== 200));
  }
  return lost;
}
