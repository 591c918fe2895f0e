/**
 * Removes transactions from the pool that executing miners have refused (contracts.md#status-records),
 * which a node that executes nothing would keep until they expire. A node that executes contracts finds
 * out by itself as long as it may make blocks, so a miner that lies delays no blocks but its own.
 *
 * Nobody here can tell who lies where miners differ. So such a transaction stays for a while, in which
 * an honest miner gets and executes it; then it leaves, because a miner that never refuses anything must
 * not fill the pool either.
 */
import { unlessOurs } from '../../base/assert.ts';
import { fromLatin1 } from '../../base/bytes.ts';
import { apiError } from '../../base/errors.ts';
import { statusLimits as limits } from '../../base/limits/status-limits.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { every } from '../../concurrency/interval.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import type { PoolEntry } from '../../mempool/entries/entry.ts';
import type { Pool } from '../../mempool/pool.ts';
import type { StatusIndex } from './status-index.ts';

export interface ErrorQuorumOptions {
  /** Miners whose refusals are enough, also where others have not refused. */
  readonly quorum: number;
  readonly everyMs: number;
  /** The most bytes of the pool. */
  readonly poolBytesMax: number;
}

export interface ErrorQuorumPorts {
  readonly index: Pick<StatusIndex, 'refusedTransactions' | 'refusalsOf' | 'heardSince'>;
  readonly pool: Pick<Pool, 'entry' | 'drop'>;
  readonly clock: Clock;
  /** True while this node executes contracts itself. */
  executes(): boolean;
  /** True where this account may make blocks at present. */
  isMiner(publicKey: Uint8Array): boolean;
}

/** After so long without a record, a miner does not count as one that executes contracts. */
export const HEARD_MS_MAX = limits.heard.value;
export const DOUBTED_MS_MAX = limits.doubted.value;
const DOUBTED_SHARE = limits.doubtedShare.value;

/** A transaction that not all have refused. */
interface Doubted {
  readonly entry: PoolEntry;
  readonly miners: number;
  /** In seconds since 1970. */
  readonly from: number;
}

/** Returns a function that stops it. */
export function watchErrors(options: ErrorQuorumOptions, ports: ErrorQuorumPorts): () => void {
  const { index, pool, clock, isMiner } = ports;
  async function endRefused(isOver: () => boolean): Promise<void> {
    const slice = new TimeSlice(clock);
    const since = Math.floor((clock.now() - HEARD_MS_MAX) / 1000);
    const miners = new Set(index.heardSince(0).filter((key) => isMiner(fromLatin1(key))));
    const executing = index.heardSince(since).filter((key) => miners.has(key));
    const doubted: Doubted[] = [];
    for (const txId of [...index.refusedTransactions()]) {
      if (isOver()) return;
      const entry = pool.entry(fromLatin1(txId));
      // What was said of a member was said of it beside others, and not of this atomic transaction.
      const one = entry?.key === txId ? judge(entry, txId, miners, executing) : undefined;
      if (one !== undefined) doubted.push(one);
      if (slice.isOver()) await slice.yield();
    }
    if (!isOver()) endDoubted(doubted);
  }

  /** Drops the transaction, or returns it where that is not certain yet. */
  function judge(
    entry: PoolEntry,
    txId: string,
    miners: ReadonlySet<string>,
    executing: readonly string[],
  ): Doubted | undefined {
    const refusals = index.refusalsOf(txId).filter(({ sender }) => miners.has(sender));
    const refusers = new Set(refusals.map(({ sender }) => sender));
    if (refusers.size === 0) return undefined;
    const isByAll = executing.length > 0 && executing.every((key) => refusers.has(key));
    if (refusers.size < options.quorum && !isByAll) {
      const from = Math.min(...refusals.map(({ saidFrom }) => saidFrom));
      return { entry, miners: refusers.size, from };
    }
    drop(entry, refusers.size);
    return undefined;
  }

  /** The oldest leave: after their time, or where all of them take too much of the pool. */
  function endDoubted(doubted: Doubted[]): void {
    const oldest = (clock.now() - DOUBTED_MS_MAX) / 1000;
    let bytes = doubted.reduce((sum, { entry }) => sum + entry.size, 0);
    for (const { entry, miners, from } of doubted.sort((a, b) => a.from - b.from)) {
      if (from > oldest && bytes * DOUBTED_SHARE <= options.poolBytesMax) return;
      bytes -= entry.size;
      drop(entry, miners);
    }
  }

  function drop(entry: PoolEntry, miners: number): void {
    if (entry.removed) return;
    const said = miners === 1 ? '1 miner has' : `${miners} miners have`;
    pool.drop(entry, apiError('Invalid', `${said} refused the transaction`));
  }

  async function sweep(isOver: () => boolean): Promise<void> {
    if (!ports.executes()) await endRefused(isOver);
  }
  // A record that cannot be read ends one sweep alone.
  return every(clock, options.everyMs, (isOver) => sweep(isOver).catch(unlessOurs(() => {})));
}
