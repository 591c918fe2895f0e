/** Clients that keep a node busy and record its acknowledgements. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../../src/base/json/json.ts';
import type { DevNode } from './dev-node.ts';
import { NoAnswerError } from './rest.ts';
import { transfersOf } from './signed-transfers.ts';

export interface Load {
  /** Ids of the transactions that were answered with 200. */
  readonly acknowledged: readonly string[];
  /** Resolves when that many have been acknowledged. */
  reached(count: number): Promise<void>;
  /** Resolves when no client sends any more: when asked to, or when the node is gone. */
  readonly ended: Promise<void>;
  end(): void;
}

const CLIENTS = 4;
/** Between two transfers of a client. */
const PAUSE_MS = 50;

/** Every account without a role sends transfers to the owner, one after the other, and reads. */
export function startLoad({ rest, accounts, chainId }: DevNode): Load {
  const acknowledged: string[] = [];
  const waiting = new Set<() => void>();
  const [owner, ...senders] = accounts;
  let over = false;

  async function client(number: number): Promise<void> {
    const { seed, address } = senders[number % senders.length]!;
    const next = transfersOf(seed, chainId, owner!.address);
    while (!over) {
      const { id, json } = next();
      await rest.broadcast(json);
      acknowledged.push(id);
      for (const look of waiting) look();
      await rest.get(`/addresses/balance/${address}`);
      await sleep(PAUSE_MS);
    }
  }

  // A node that goes away in the middle of a request ends its client, nothing else does.
  const clients = Array.from({ length: CLIENTS }, (_, i) =>
    client(i).catch((error: Error) => {
      if (!(error instanceof NoAnswerError) && !error.message.startsWith('503')) throw error;
    }),
  );
  return {
    acknowledged,
    reached: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (acknowledged.length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    ended: Promise.all(clients).then(() => {}),
    end() {
      over = true;
    },
  };
}

/** Which of the transactions are neither in a block nor in the pool. */
export async function lostOf({ rest }: DevNode, ids: readonly string[]): Promise<string[]> {
  const pool = (await rest.get('/transactions/unconfirmed')).body as JsonObject[];
  const waiting = new Set(pool.map(({ id }) => id));
  const lost: string[] = [];
  for (const id of ids) {
    if (waiting.has(id)) continue;
    const { status } = await rest.get(`/transactions/info/${id}`);
    if (status !== 200) lost.push(id);
  }
  return lost;
}
