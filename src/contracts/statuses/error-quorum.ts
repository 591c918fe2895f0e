/**
 * Removes transactions from the pool that the executing miners have refused
 * (contracts.md#status-records). A node that executes contracts finds out by itself, so a miner that
 * lies delays no blocks but its own; the others would keep such a transaction until it expires.
 */
import { fromLatin1 } from '../../base/bytes.ts';
import { apiError } from '../../base/errors.ts';
import type { Clock } from '../../base/ports.ts';
import { createTurns } from '../../base/turns.ts';
import type { PoolEntry } from '../../mempool/entry.ts';
import type { Pool } from '../../mempool/pool.ts';
import type { StatusIndex } from './status-index.ts';

export interface ErrorQuorumOptions {
  /** Miners whose refusals are enough, also where others have not refused. */
  readonly quorum: number;
  readonly everyMs: number;
  /** The refusals of all miners are enough of which something came in this time. */
  readonly heardMs: number;
}

export interface ErrorQuorumPorts {
  readonly index: Pick<StatusIndex, 'refusedTransactions' | 'refusersOf' | 'heardSince'>;
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
    const since = Math.floor((clock.now() - options.heardMs) / 1000);
    const executing = index.heardSince(since).filter((key) => isMiner(fromLatin1(key)));
    for (const txId of [...index.refusedTransactions()]) {
      if (stopped) return;
      const entry = pool.entry(fromLatin1(txId));
      if (entry !== undefined) judge(entry, index.refusersOf(txId), executing);
      if (turns.due()) await turns.take();
    }
    if (!stopped) cancel = clock.after(options.everyMs, () => void sweep());
  }

  function judge(
    entry: PoolEntry,
    refusers: readonly string[],
    executing: readonly string[],
  ): void {
    const miners = refusers.filter((key) => isMiner(fromLatin1(key))).length;
    if (miners === 0) return;
    const isByAll = executing.length > 0 && executing.every((key) => refusers.includes(key));
    if (miners < options.quorum && !isByAll) return;
    const said = miners === 1 ? '1 miner has' : `${miners} miners have`;
    pool.drop(entry, apiError('Invalid', `${said} refused the transaction`));
  }

  return () => {
    stopped = true;
    cancel();
  };
}
