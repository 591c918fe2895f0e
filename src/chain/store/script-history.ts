/**
 * Which accounts have a script, or had one lately: as far back as a reorganisation may go, and for
 * the time that a pool may keep what a script has permitted. An honest peer may still hold
 * transactions that such a script judged.
 *
 * Changes are noted as blocks come and go, those of rolled-back blocks too. Older blocks are read
 * from the store when somebody asks for the first time.
 */
import { latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import { scripts } from '../../ledger/tables.ts';
import { defOfBytes } from '../../tx/registry.ts';
import type { Tx } from '../../tx/transaction.ts';
import { decodeStoredTx } from '../../tx/tx-bytes.ts';
import { setScript } from '../../tx/types/013-set-script.ts';
import type { Blockchain } from '../blockchain.ts';
import { headerRowAt, transactionBytesInSlices } from './stored-blocks.ts';

export interface ScriptHistoryOptions {
  /** A change counts while it is among so many last blocks … */
  readonly blocks: number;
  /** … or younger than this. */
  readonly ms: number;
}

export interface ScriptHistory {
  /** True also where the history is too long to be kept. */
  hadScript(account: Uint8Array): Promise<boolean>;
  stop(): void;
}

interface When {
  readonly height: number;
  readonly timestamp: number;
}

/** Accounts whose changes are kept. */
const ACCOUNTS_MAX = 100_000;
const TYPE = setScript.type;

export function createScriptHistory(
  options: ScriptHistoryOptions,
  blockchain: Pick<Blockchain, 'view' | 'tip' | 'listen'>,
  clock: Clock,
): ScriptHistory {
  const { view } = blockchain;
  /** The last change of each account, roughly in their order. */
  const changes = new Map<string, When>();
  /** The latest change that found no room. */
  let lost: When | undefined;
  const begun = blockchain.tip().height;
  let reading: Promise<void> | undefined;
  let stopped = false;

  const counts = ({ height, timestamp }: When): boolean =>
    height > blockchain.tip().height - options.blocks || timestamp > clock.now() - options.ms;

  function note(tx: Tx, when: When): void {
    if (tx.type !== TYPE) return;
    const key = latin1(tx.sender);
    changes.delete(key);
    changes.set(key, when);
    for (const [oldest, of] of changes) {
      const isOver = changes.size > ACCOUNTS_MAX;
      if (!isOver && counts(of)) return;
      if (isOver) lost = of;
      changes.delete(oldest);
    }
  }

  /** The blocks before those that the listener has seen. */
  async function readStored(): Promise<void> {
    const slice = new TimeSlice(clock);
    for (let height = begun; height > 1 && !stopped; height--) {
      const row = headerRowAt(view, height);
      if (row === undefined) continue;
      const when = { height, timestamp: row.header.timestamp };
      if (!counts(when)) return;
      for (const bytes of await transactionBytesInSlices(view, height, slice)) {
        if (defOfBytes(bytes)?.type !== TYPE) continue;
        const tx = decodeStoredTx(bytes, view.scheme);
        // What was noted since is newer.
        if (!changes.has(latin1(tx.sender))) note(tx, when);
      }
    }
  }

  const stopListening = blockchain.listen({
    block({ tip: { height, header }, block }) {
      for (const tx of block.txs) note(tx, { height, timestamp: header.timestamp });
    },
    rolledBack({ height }, txs) {
      for (const tx of txs) note(tx, { height, timestamp: clock.now() });
    },
  });

  return {
    async hadScript(account) {
      if (view.get(scripts, account) !== undefined) return true;
      reading ??= readStored().catch((cause) => {
        reading = undefined;
        throw cause;
      });
      await reading;
      const change = changes.get(latin1(account));
      return (change !== undefined && counts(change)) || (lost !== undefined && counts(lost));
    },
    stop() {
      stopped = true;
      stopListening();
    },
  };
}
