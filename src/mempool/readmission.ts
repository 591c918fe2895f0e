/**
 * Returns transactions to the pool when a reorganisation rolls back their blocks.
 *
 * Invariants: they are in the journal from before the rollback until they are entries of the pool,
 * so a crash at any moment loses none. Nothing that was known about their proofs serves again: a
 * script may have judged them in the block, and the new branch may have none. They are checked by
 * other threads, and until then by whoever judges the entry.
 */
import { isOurs } from '../base/assert.ts';
import { latin1 } from '../base/bytes.ts';
import type { Clock, Journal, Log, Verifier } from '../base/ports.ts';
import { createTurns } from '../base/turns.ts';
import { ProofChecks, unchecked } from '../tx/proof-verdicts.ts';
import type { Tx } from '../tx/transaction.ts';
import { PoolEntry, textsOf } from './entry.ts';
import type { PoolChain } from './pool-chain.ts';
import type { Entries } from './pool-entries.ts';
import { NOTHING_SPENT } from './spending.ts';
import type { Unsettled } from './unsettled.ts';

export interface ReadmissionPorts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Log;
  readonly state: Pick<PoolChain, 'isMined' | 'planChecks'>;
  readonly verifier: Pick<Verifier, 'verify'>;
  readonly decode: (entry: PoolEntry) => Tx;
  readonly entries: Entries;
  readonly unsettled: Unsettled;
}

export interface Readmission {
  /** Called before the blocks are rolled back. */
  keep(txs: Iterable<Tx>): Promise<void>;
  /** Called after the rollback, with the transactions that `keep` received. */
  readmit(txs: Iterable<Tx>): Promise<void>;
  /** Checks the proofs of those that came back; resolves after the last of them. */
  recheck(): Promise<void>;
  /** Resolves when no transaction is on its way. */
  idle(): Promise<void>;
  /** The records that a rewritten journal must still hold. */
  underWay(): Uint8Array[];
  /** Transactions that arrive after this stay in the journal until the next start. */
  stop(): void;
}

export function createReadmission(ports: ReadmissionPorts): Readmission {
  const { journal, clock, log, state, verifier, entries, unsettled } = ports;
  /**
   * Transactions whose blocks are still in the chain. They are dropped when the rollback fails and
   * the blocks stay.
   */
  let kept: Iterable<Tx> = [];
  const returning = new Set<Iterable<Tx>>();
  let running = Promise.resolve();
  /** Entries whose proofs nobody has checked. */
  const unproven: PoolEntry[] = [];
  let checking: Promise<void> | undefined;
  let stopped = false;

  async function putBack(txs: Iterable<Tx>): Promise<void> {
    const turns = createTurns(clock);
    const returned: PoolEntry[] = [];
    for (const mined of txs) {
      if (turns.due()) await turns.take();
      const tx = waitingOf(mined);
      if (!tx.def.internal && !isKnown(tx)) returned.push(put(tx));
    }
    unsettled.putFirst(returned.filter((entry) => !entry.removed));
    returning.delete(txs);
  }

  const isKnown = (tx: Tx): boolean =>
    stopped || entries.get(latin1(tx.id)) !== undefined || state.isMined(tx.id);

  function put(tx: Tx): PoolEntry {
    // The bytes are part of a block, which must not stay in memory.
    const own = { ...tx, bytes: tx.bytes.slice() };
    const entry = new PoolEntry(own, textsOf(tx), unchecked(own), NOTHING_SPENT, true);
    entries.put(entry);
    unproven.push(entry);
    unsettled.shake([entry]);
    return entry;
  }

  async function checkAll(): Promise<void> {
    while (unproven.length > 0 && !stopped) {
      await check(unproven.splice(0, GROUP_MAX));
      await clock.turn();
    }
  }

  async function check(group: readonly PoolEntry[]): Promise<void> {
    const turns = createTurns(clock);
    const waiting: PoolEntry[] = [];
    const checks = new ProofChecks();
    try {
      for (const entry of group) {
        if (entry.removed) continue;
        const tx = ports.decode(entry);
        checks.add(tx, state.planChecks(tx));
        waiting.push(entry);
        // Reading scripts takes milliseconds.
        if (turns.due()) await turns.take();
      }
      await checks.ask(verifier);
    } catch (cause) {
      // Whoever judges them makes the checks.
      if (isOurs(cause)) throw cause;
      log.warn('pool.recheck-failed', { why: String(cause) });
      return;
    }
    for (const [i, entry] of waiting.entries()) entry.learn(checks.verdicts(i));
  }

  return {
    recheck() {
      checking ??= checkAll().finally(() => {
        checking = undefined;
      });
      return checking;
    },
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
    stop() {
      stopped = true;
    },
  };
}

/** Entries whose proofs are checked as one job. */
const GROUP_MAX = 128;

/** The transaction that the pool holds for a mined one: inside a result, that which it executed. */
export const waitingOf = (mined: Tx): Tx => mined.def.inner?.(mined) ?? mined;
