/**
 * The status records that this node keeps (contracts.md#status-records): on the disk in a table of
 * its own, so that they survive a restart, with an index in memory (status-index.ts).
 *
 * Changes are written together, a moment after they are made; a crash loses those of the last
 * seconds. Rows that wait for the disk are limited, and above the limit nothing is taken.
 */
import { fromLatin1, latin1 } from '../../base/bytes.ts';
import type { Clock, Log, Store, StoreWrite } from '../../base/ports.ts';
import { Reader } from '../../codec/codec.ts';
import { scratch } from '../../codec/scratch.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import { END_OF_TABLE, START_OF_TABLE } from '../../ledger/key-codecs.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { contractStatuses } from '../../ledger/tables.ts';
import { isRefusal } from '../status-report.ts';
import {
  type IndexLimits,
  type StatusFacts,
  StatusIndex,
  type StatusMark,
} from './status-index.ts';
import type { SentStatus } from './status-messages.ts';
import { decodeRecord, type StatusRecord } from './status-record.ts';
import { createWaitingRows } from './waiting-rows.ts';

export interface StatusStorePorts {
  readonly store: Pick<Store, 'write'>;
  readonly view: LedgerView;
  readonly clock: Clock;
  readonly log: Log;
}

export interface StatusStore {
  readonly index: Omit<StatusIndex, 'add' | 'expire'>;
  /** Reads what earlier runs have kept. */
  load(): Promise<void>;
  has(sent: SentStatus): boolean;
  /** False where too much waits for the disk. */
  add(sent: SentStatus, contractId: Uint8Array | undefined): boolean;
  /** By timestamp. */
  of(txId: Uint8Array): readonly StatusRecord[];
  /** Of transactions of the contract that did not succeed, the newest first. */
  failuresOf(contractId: Uint8Array, most: number): readonly StatusRecord[];
  /** Writes what waits. */
  stop(): Promise<void>;
}

const FLUSH_MS = 2_000;
const EXPIRED_AT_ONCE = 2_000;
const READ_AT_ONCE = 500;
const HASH_BYTES = 16;

export function createStatusStore(limits: IndexLimits, ports: StatusStorePorts): StatusStore {
  const { store, view, clock, log } = ports;
  const { scheme } = view;
  const index = new StatusIndex(limits);
  const waiting = createWaitingRows({ write: (rows) => store.write(writesOf(rows)), log });
  let stopped = false;
  let cancel = clock.after(FLUSH_MS, tick);

  const hashOf = ({ signed }: SentStatus): string =>
    latin1(scheme.fastHash(signed).subarray(0, HASH_BYTES));

  function tick(): void {
    remove(index.expire(clock.now(), EXPIRED_AT_ONCE));
    void waiting.flush().then(() => {
      if (!stopped) cancel = clock.after(FLUSH_MS, tick);
    });
  }

  function remove(marks: readonly StatusMark[]): void {
    for (const mark of marks) waiting.set(rowOf(mark), undefined);
  }

  function readRow(row: string): StatusRecord | undefined {
    const recent = waiting.get(row);
    const { value } = contractStatuses;
    const kept =
      recent === undefined
        ? view.get(contractStatuses, contractStatuses.key.decode(fromLatin1(row)))
        : value.read(new Reader(recent, scheme));
    return kept && decodeRecord(kept.record, scheme);
  }

  const readAll = (marks: readonly StatusMark[]): StatusRecord[] =>
    marks.map((mark) => readRow(rowOf(mark))).filter((record) => record !== undefined);

  return {
    index,
    has: (sent) => index.has(latin1(sent.record.txId), hashOf(sent)),
    async load() {
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
          found.push(factsOf(decodeRecord(record, scheme), latin1(key[1]), about));
          from = after(contractStatuses.key.encode(key));
          left = true;
        }
        if (slice.isOver()) await slice.yield();
      }
      found.sort((a, b) => a.takenAt - b.takenAt);
      for (const facts of found) remove(index.add(facts));
    },
    add(sent, contractId) {
      const { record, bytes } = sent;
      if (waiting.isFull()) return false;
      const takenAt = clock.now();
      const about = { contractId, bytes: bytes.length, takenAt };
      const facts = factsOf(record, hashOf(sent), about);
      const out = scratch(scheme);
      contractStatuses.value.write(out, { takenAt, contractId, record: bytes });
      waiting.set(rowOf(facts), out.take());
      remove(index.add(facts));
      if (waiting.isDue()) void waiting.flush();
      return true;
    },
    of: (txId) => readAll(index.of(latin1(txId))).sort((a, b) => a.timestamp - b.timestamp),
    failuresOf: (contractId, most) => readAll(index.failuresOf(latin1(contractId), most)),
    async stop() {
      stopped = true;
      cancel();
      await waiting.flush();
    },
  };
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
