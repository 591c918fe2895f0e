/**
 * The status records that this node keeps (contracts.md#status-records): on the disk in a table of
 * its own, so that they survive a restart, with an index in memory (status-index.ts).
 *
 * Changes are written together, a moment after they are made; a crash loses those of the last
 * seconds. Rows that wait for the disk are limited, and above the limit nothing is taken.
 */
import { fromLatin1, latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Store, StoreWrite } from '../../base/ports/store.ts';
import { Reader } from '../../codec/codec.ts';
import { scratch } from '../../codec/scratch.ts';
import { every } from '../../concurrency/interval.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import { END_OF_TABLE, START_OF_TABLE } from '../../ledger/key-codecs.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { contractStatuses } from '../../ledger/tables.ts';
import {
  type IndexLimits,
  type StatusFacts,
  StatusIndex,
  type StatusMark,
} from './status-index.ts';
import type { SentStatus } from './status-messages.ts';
import { decodeRecord, type StatusRecord } from './status-record.ts';
import { isRefusal } from './status-report.ts';
import { createWaitingRows, type WaitingRows } from './waiting-rows.ts';

export interface StatusStorePorts {
  readonly store: Pick<Store, 'write'>;
  readonly view: LedgerView;
  readonly clock: Clock;
  readonly log: Log;
}

const FLUSH_MS = 2_000;
const EXPIRED_AT_ONCE = 2_000;
const READ_AT_ONCE = 500;
const HASH_BYTES = 16;

export class StatusStore {
  readonly #ports: StatusStorePorts;
  readonly #index: StatusIndex;
  readonly #waiting: WaitingRows;
  #cancel = (): void => {};

  constructor(limits: IndexLimits, ports: StatusStorePorts) {
    const { store, log } = ports;
    this.#ports = ports;
    this.#index = new StatusIndex(limits);
    this.#waiting = createWaitingRows({ write: (rows) => store.write(writesOf(rows)), log });
  }

  get index(): Omit<StatusIndex, 'add' | 'expire'> {
    return this.#index;
  }

  /** Reads what earlier runs have kept, and begins to write. */
  async start(): Promise<void> {
    const { view, clock } = this.#ports;
    this.#cancel = every(clock, FLUSH_MS, () => this.#tick());
    const slice = new TimeSlice(clock);
    const found: StatusFacts[] = [];
    let from: Uint8Array = START_OF_TABLE;
    for (let left = true; left; ) {
      left = false;
      for (const [key, { takenAt, contractId, record }] of view.range(
        contractStatuses,
        from,
        END_OF_TABLE,
        READ_AT_ONCE,
      )) {
        const about = { contractId, bytes: record.length, takenAt };
        found.push(factsOf(decodeRecord(record, view.scheme), latin1(key[1]), about));
        from = after(contractStatuses.key.encode(key));
        left = true;
      }
      if (slice.isOver()) await slice.yield();
    }
    found.sort((a, b) => a.takenAt - b.takenAt);
    for (const facts of found) this.#remove(this.#index.add(facts));
  }

  /** Writes what waits. */
  async stop(): Promise<void> {
    this.#cancel();
    await this.#waiting.flush();
  }

  has(sent: SentStatus): boolean {
    return this.#index.has(latin1(sent.record.txId), this.#hashOf(sent));
  }

  /** False where too much waits for the disk. */
  add(sent: SentStatus, contractId: Uint8Array | undefined): boolean {
    const { record, bytes } = sent;
    if (this.#waiting.isFull()) return false;
    const { view, clock } = this.#ports;
    const takenAt = clock.now();
    const about = { contractId, bytes: bytes.length, takenAt };
    const facts = factsOf(record, this.#hashOf(sent), about);
    const out = scratch(view.scheme);
    contractStatuses.value.write(out, { takenAt, contractId, record: bytes });
    this.#waiting.set(rowOf(facts), out.take());
    this.#remove(this.#index.add(facts));
    if (this.#waiting.isDue()) void this.#waiting.flush();
    return true;
  }

  /** By timestamp. */
  of(txId: Uint8Array): readonly StatusRecord[] {
    return this.#readAll(this.#index.of(latin1(txId))).sort((a, b) => a.timestamp - b.timestamp);
  }

  /** Of transactions of the contract that did not succeed, the newest first. */
  failuresOf(contractId: Uint8Array, most: number): readonly StatusRecord[] {
    return this.#readAll(this.#index.failuresOf(latin1(contractId), most));
  }

  #hashOf({ signed }: SentStatus): string {
    return latin1(this.#ports.view.scheme.fastHash(signed).subarray(0, HASH_BYTES));
  }

  #tick(): Promise<void> {
    this.#remove(this.#index.expire(this.#ports.clock.now(), EXPIRED_AT_ONCE));
    return this.#waiting.flush();
  }

  #remove(marks: readonly StatusMark[]): void {
    for (const mark of marks) this.#waiting.set(rowOf(mark), undefined);
  }

  #readAll(marks: readonly StatusMark[]): StatusRecord[] {
    return marks.map((mark) => this.#readRow(rowOf(mark))).filter((one) => one !== undefined);
  }

  #readRow(row: string): StatusRecord | undefined {
    const { view } = this.#ports;
    const recent = this.#waiting.get(row);
    const { key, value } = contractStatuses;
    const kept =
      recent === undefined
        ? view.get(contractStatuses, key.decode(fromLatin1(row)))
        : value.read(new Reader(recent, view.scheme));
    return kept && decodeRecord(kept.record, view.scheme);
  }
}

function* writesOf(rows: ReadonlyMap<string, Uint8Array | undefined>): Generator<StoreWrite> {
  for (const [row, value] of rows) {
    yield { table: contractStatuses.id, key: fromLatin1(row), value };
  }
}

/** Key of a row. */
const rowOf = ({ txId, hash }: StatusFacts): string => txId + hash;

const factsOf = (
  { txId, senderPublicKey, status, code }: StatusRecord,
  hash: string,
  about: { contractId: Uint8Array | undefined; bytes: number; takenAt: number },
): StatusFacts => ({
  txId: latin1(txId),
  hash,
  sender: latin1(senderPublicKey),
  status,
  isRefusal: isRefusal(status, code),
  contractId: about.contractId && latin1(about.contractId),
  bytes: about.bytes,
  takenAt: Math.floor(about.takenAt / 1000),
});

/** The least key above this one. */
function after(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}
