/**
 * Removes transactions from the pool that several miners have tried in vain
 * (contracts.md#status-records). A node that executes contracts finds out by itself; the others
 * would keep such a transaction until it expires.
 */
import { fromLatin1 } from '../../base/bytes.ts';
import { apiError } from '../../base/errors.ts';
import type { Clock } from '../../base/ports.ts';
import { createTurns } from '../../base/turns.ts';
import type { PoolEntry } from '../../mempool/entry.ts';
import type { Pool } from '../../mempool/pool.ts';
import type { StatusIndex } from './status-index.ts';

export interface ErrorQuorumOptions {
  /** Miners whose errors are enough. */
  readonly quorum: number;
  readonly everyMs: number;
}

export interface ErrorQuorumPorts {
  readonly index: Pick<StatusIndex, 'refusedTransactions' | 'refusersOf'>;
  readonly pool: Pick<Pool, 'entry' | 'drop'>;
  readonly clock: Clock;
  /** True where this account may make blocks at present. */
  isMiner(publicKey: Uint8Array): boolean;
}

/** Returns a function that stops it. */
export function watchErrors(options: ErrorQuorumOptions, ports: ErrorQuorumPorts): () => void {
  const { index, pool, clock, isMiner } = ports;
  let stopped = false;
  let cancel = clock.after(options.everyMs, () => void sweep());

  async function sweep(): Promise<void> {
    const turns = createTurns(clock);
    for (const txId of [...index.refusedTransactions()]) {
      if (stopped) return;
      const entry = pool.entry(fromLatin1(txId));
      if (entry !== undefined) judge(entry, index.refusersOf(txId));
      if (turns.due()) await turns.take();
    }
    if (!stopped) cancel = clock.after(options.everyMs, () => void sweep());
  }

  function judge(entry: PoolEntry, refusers: readonly string[]): void {
    const miners = refusers.filter((key) => isMiner(fromLatin1(key))).length;
    if (miners < options.quorum) return;
    pool.drop(entry, apiError('Invalid', `${miners} miners reported an error of the contract`));
  }

  return () => {
    stopped = true;
    cancel();
  };
}
