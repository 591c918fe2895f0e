/** Places for the work of clients, which take turns, so that one alone never holds up the others. */
import { apiError } from './errors.ts';

export interface ClientTurnsLimits {
  /** Pieces of work that run at a time. */
  readonly atOnce: number;
  /** Those of all clients that wait. */
  readonly waiting: number;
  readonly waitingOfOne: number;
}

/** Runs work of a client in its turn; rejects with ApiError Overloaded where too much waits. */
export type ClientTurns = <T>(client: string, work: () => Promise<T>) => Promise<T>;

export function createClientTurns(limits: ClientTurnsLimits): ClientTurns {
  /** By client; the first client is the next. */
  const lines = new Map<string, (() => void)[]>();
  let running = 0;
  let waiting = 0;

  function wait(client: string): Promise<void> {
    const line = lines.get(client) ?? [];
    if (waiting >= limits.waiting || line.length >= limits.waitingOfOne) {
      throw apiError('Overloaded');
    }
    waiting++;
    lines.set(client, line);
    return new Promise((resolve) => void line.push(resolve));
  }

  /** The place of work that has ended goes to the next client. */
  function pass(): void {
    for (const [client, line] of lines) {
      const begin = line.shift();
      lines.delete(client);
      if (line.length > 0) lines.set(client, line);
      waiting--;
      begin?.();
      return;
    }
    running--;
  }

  return async (client, work) => {
    if (running < limits.atOnce) running++;
    else await wait(client);
    try {
      return await work();
    } finally {
      pass();
    }
  };
}
