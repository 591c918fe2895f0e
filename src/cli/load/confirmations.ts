/** Watches the chain of a node for the transactions that it has accepted. */
import type { Client } from '../../api/client.ts';
import { blocks } from '../../api/routes/blocks.ts';
import { isObject } from '../../base/json.ts';

const POLL_MS = 50;

export interface Confirmations {
  /** Reads the blocks that have come since the start, until the returned function is called. */
  stop(): Promise<void>;
}

/**
 * Calls `seen` with the id of every transaction in blocks above `height`. A block that cannot be
 * read, because the node is busy, is asked for again.
 */
export function watchBlocks(
  { call }: Client,
  height: number,
  seen: (id: string, now: number) => void,
): Confirmations {
  let isOver = false;
  let next = height + 1;

  async function read(): Promise<void> {
    const tip = (await call(blocks.height)).height;
    for (; next <= tip && !isOver; next++) {
      const now = performance.now();
      const block: unknown = await call(blocks.at, { params: { height: next } });
      const list = isObject(block) ? block['transactions'] : undefined;
      if (!Array.isArray(list)) return;
      for (const tx of list) if (isObject(tx)) seen(String(tx['id']), now);
    }
  }

  async function follow(): Promise<void> {
    while (!isOver) {
      await read().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  const ended = follow();
  return {
    stop() {
      isOver = true;
      return ended;
    },
  };
}
