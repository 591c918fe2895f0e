/**
 * The way back of transactions whose blocks a reorganisation takes back.
 *
 * Invariant: from before the chain forgets them until they are entries of the pool they are in the
 * journal, so a crash at any moment loses none.
 */
import { latin1 } from '../base/bytes.ts';
import type { Clock, Journal, Log } from '../base/ports.ts';
import { createTurns } from '../base/turns.ts';
import type { Tx } from '../tx/transaction.ts';
import type { PoolEntry } from './entry.ts';

export interface ReadmissionPorts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Log;
  /** True where the pool or the chain has it. */
  isKnown(tx: Tx, key: string): boolean;
  put(tx: Tx): PoolEntry;
  /** All of one reorganisation, in the order of the chain. */
  done(entries: readonly PoolEntry[]): void;
}

export interface Readmission {
  /** Before the blocks are taken back. */
  keep(txs: Iterable<Tx>): Promise<void>;
  /** After it, with what `keep` got. */
  readmit(txs: Iterable<Tx>): Promise<void>;
  /** Resolves when nothing is on its way. */
  idle(): Promise<void>;
  /** What a rewritten journal must go on to hold. */
  underWay(): Uint8Array[];
}

export function createReadmission(ports: ReadmissionPorts): Readmission {
  const { journal, clock, log } = ports;
  /** Its blocks are still in the chain; forgotten where they stay there, since the write failed. */
  let kept: Iterable<Tx> = [];
  const returning = new Set<Iterable<Tx>>();
  let running = Promise.resolve();

  async function putBack(txs: Iterable<Tx>): Promise<void> {
    const turns = createTurns(clock);
    const entries: PoolEntry[] = [];
    for (const mined of txs) {
      if (turns.due()) await turns.take();
      const tx = waitingOf(mined);
      const key = latin1(tx.id);
      if (!tx.def.internal && !ports.isKnown(tx, key)) entries.push(ports.put(tx));
    }
    ports.done(entries.filter((entry) => !entry.removed));
    returning.delete(txs);
  }

  return {
    async keep(txs) {
      kept = txs;
      try {
        await Promise.all(Array.from(txs, (tx) => journal.append(waitingOf(tx).bytes)));
      } catch (cause) {
        log.error('pool.journal-failed', { why: String(cause) });
      }
    },
    readmit(txs) {
      kept = [];
      returning.add(txs);
      running = running.then(() => putBack(txs));
      return running;
    },
    idle: () => running,
    underWay: () =>
      [kept, ...returning].flatMap((txs) => Array.from(txs, (tx) => waitingOf(tx).bytes)),
  };
}

/** What a result of a contract was made for waits for another result. */
const waitingOf = (mined: Tx): Tx => mined.def.inner?.(mined) ?? mined;
