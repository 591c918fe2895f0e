/**
 * Which accounts have a script, or had one lately: as far back as a reorganisation may go, and for
 * the time that a pool may keep what a script has permitted. An honest peer may still hold
 * transactions that such a script judged.
 *
 * Changes are noted as blocks come and go, those of rolled-back blocks too. Older blocks are read
 * from the store when somebody asks for the first time.
 */
import { latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
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
  /** The changes of so many accounts are kept. */
  readonly accounts: number;
}

interface When {
  readonly height: number;
  readonly timestamp: number;
}

const TYPE = setScript.type;

export class ScriptHistory {
  readonly #options: ScriptHistoryOptions;
  readonly #blockchain: Pick<Blockchain, 'view' | 'tip' | 'listen'>;
  readonly #clock: Clock;
  /** The last change of each account, roughly in their order. */
  readonly #changes = new Map<string, When>();
  /** The latest change that found no room. */
  #lost: When | undefined;
  #begun = 0;
  #reading: Promise<void> | undefined;
  #stopped = false;
  #unlisten = (): void => {};

  constructor(
    options: ScriptHistoryOptions,
    blockchain: Pick<Blockchain, 'view' | 'tip' | 'listen'>,
    clock: Clock,
  ) {
    this.#options = options;
    this.#blockchain = blockchain;
    this.#clock = clock;
  }

  start(): void {
    this.#begun = this.#blockchain.tip().height;
    this.#unlisten = this.#blockchain.listen({
      block: ({ tip: { height, header }, block }) => {
        for (const tx of block.txs) this.#note(tx, { height, timestamp: header.timestamp });
      },
      rolledBack: ({ height }, txs) => {
        for (const tx of txs) this.#note(tx, { height, timestamp: this.#clock.now() });
      },
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#unlisten();
  }

  /** True also where the history is too long to be kept. */
  async hadScript(account: Uint8Array): Promise<boolean> {
    if (this.#blockchain.view.get(scripts, account) !== undefined) return true;
    this.#reading ??= this.#readStored().catch((cause) => {
      this.#reading = undefined;
      throw cause;
    });
    await this.#reading;
    return this.#counts(this.#changes.get(latin1(account))) || this.#counts(this.#lost);
  }

  /** The blocks before those that the listener has seen. */
  async #readStored(): Promise<void> {
    const { view } = this.#blockchain;
    const slice = new TimeSlice(this.#clock);
    for (let height = this.#begun; height > 1 && !this.#stopped; height--) {
      const row = headerRowAt(view, height);
      if (row === undefined) continue;
      const when = { height, timestamp: row.header.timestamp };
      if (!this.#counts(when)) return;
      for (const bytes of await transactionBytesInSlices(view, height, slice)) {
        if (defOfBytes(bytes)?.type !== TYPE) continue;
        const tx = decodeStoredTx(bytes, view.scheme);
        // What was noted since is newer.
        if (!this.#changes.has(latin1(tx.sender))) this.#note(tx, when);
      }
    }
  }

  #note(tx: Tx, when: When): void {
    if (tx.type !== TYPE) return;
    const key = latin1(tx.sender);
    this.#changes.delete(key);
    this.#changes.set(key, when);
    for (const [oldest, of] of this.#changes) {
      const isOver = this.#changes.size > this.#options.accounts;
      if (!isOver && this.#counts(of)) return;
      if (isOver) this.#lost = later(of, this.#lost);
      this.#changes.delete(oldest);
    }
  }

  #counts(when: When | undefined): boolean {
    if (when === undefined) return false;
    const { blocks, ms } = this.#options;
    const { height } = this.#blockchain.tip();
    return when.height > height - blocks || when.timestamp > this.#clock.now() - ms;
  }
}

/** An older block may be read after a newer one was noted. */
const later = (one: When, other: When = one): When => ({
  height: Math.max(one.height, other.height),
  timestamp: Math.max(one.timestamp, other.timestamp),
});
