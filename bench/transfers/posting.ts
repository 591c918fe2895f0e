/** Transfers from funded senders as requests; each is sent only once. */
import type { Sender } from '../../src/cli/load/transfers.ts';
import type { ChainScheme } from '../../src/codec/codec.ts';
import type { HttpLoad, LoadResult } from '../load/http.ts';
import { batch, type RequestBatch } from '../load/requests.ts';
import { broadcastRequest, nthTransfer } from './transfers.ts';

export interface Posting {
  /** The next so many, not counted as sent yet. */
  prepared(count: number): RequestBatch;
  /** Sends what was prepared last until the time is over. Rejects when one is refused. */
  post(ports: readonly number[], ms: number, requests: RequestBatch): Promise<LoadResult>;
}

/** By default. */
const CONNECTIONS = 32;

export function createPosting(
  load: HttpLoad,
  senders: readonly Sender[],
  scheme: ChainScheme,
  connections = CONNECTIONS,
): Posting {
  let sent = 0;
  return {
    prepared(count) {
      const now = Date.now();
      return batch(
        Array.from({ length: count }, (_, i) =>
          broadcastRequest(nthTransfer(sent + i, senders, now, scheme), scheme),
        ),
      );
    },
    async post(ports, ms, requests) {
      const job = { ports, connections, durationMs: ms, once: true, requests };
      const result = await load.run(job);
      sent += result.answers;
      if (result.refused > 0) throw new Error(`the node refused a transfer: ${result.sample}`);
      return result;
    },
  };
}
