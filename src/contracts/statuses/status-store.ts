/**
 * The status records that this node keeps (contracts.md#status-records): on the disk in a table of
 * its own, so that they survive a restart, with an index in memory (status-index.ts).
 *
 * Changes are written together, a moment after they are made; a crash loses those of the last
 * seconds. Rows that wait for the disk are limited, and above the limit nothing is taken.
 */
import { fromLatin1, latin1 } from '../../base/bytes.ts';
import type { Clock, Log, Store, StoreWrite } from '../../base/ports.ts';
import { createTurns } from '../../base/turns.ts';
import { Reader } from '../../codec/codec.ts';
import { scratch } from '../../codec/scratch.ts';
import { END_OF_TABLE, START_OF_TABLE } from '../../ledger/key-codecs.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { contractStatuses } from '../../ledger/tables.ts';
import { type IndexLimits, StatusIndex, type StatusMark } from './status-index.ts';
import type { SentStatus } from './status-messages.ts';
import { decodeRecord, type StatusRecord } from './status-record.ts';

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
  /** Key of the row of a record. */
  rowOf(sent: Pick<SentStatus, 'record' | 'signed'>): string;
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
const WAITING_ROWS_MAX = 10_000;
const WAITING_BYTES_MAX = 4 * 1024 * 1024;
const EXPIRED_AT_ONCE = 2_000;
const READ_AT_ONCE = 500;
const HASH_BYTES = 16;

export function createStatusStore(limits: IndexLimits, ports: StatusStorePorts): StatusStore {
  const { store, view, clock, log } = ports;
  const { scheme } = view;
  const index = new StatusIndex(limits);
  /** Row → its new value; undefined removes it. */
  let waiting = new Map<string, Uint8Array | undefined>();
  let waitingBytes = 0;
  let underWay: ReadonlyMap<string, Uint8Array | undefined> = new Map();
  let writing: Promise<void> = Promise.resolve();
  let stopped = false;
  let cancel = clock.after(FLUSH_MS, tick);

  const rowOf: StatusStore['rowOf'] = ({ record, signed }) =>
    latin1(record.txId) + latin1(scheme.fastHash(signed).subarray(0, HASH_BYTES));

  function tick(): void {
    remove(index.expire(clock.now(), EXPIRED_AT_ONCE));
    void flush().then(() => {
      if (!stopped) cancel = clock.after(FLUSH_MS, tick);
    });
  }

  function remove(marks: readonly StatusMark[]): void {
    for (const { row } of marks) {
      waitingBytes -= waiting.get(row)?.length ?? 0;
      waiting.set(row, undefined);
    }
  }

  function flush(): Promise<void> {
    writing = writing.then(write);
    return writing;
  }

  async function write(): Promise<void> {
    if (waiting.size === 0) return;
    const [these, bytes] = [waiting, waitingBytes];
    underWay = these;
    waiting = new Map();
    waitingBytes = 0;
    try {
      await store.write(writesOf(these));
    } catch (cause) {
      log.error('contracts.statuses-failed', { why: String(cause) });
      waiting = new Map([...these, ...waiting]);
      waitingBytes += bytes;
    } finally {
      underWay = new Map();
    }
  }

  function recentValue(row: string): Uint8Array | undefined {
    return waiting.get(row) ?? underWay.get(row);
  }

  function readRow(row: string): StatusRecord | undefined {
    const recent = recentValue(row);
    const { value } = contractStatuses;
    const kept =
      recent === undefined
        ? view.get(contractStatuses, contractStatuses.key.decode(fromLatin1(row)))
        : value.read(new Reader(recent, scheme));
    return kept && decodeRecord(kept.record, scheme);
  }

  const readAll = (marks: readonly StatusMark[]): StatusRecord[] =>
    marks.map(({ row }) => readRow(row)).filter((record) => record !== undefined);

  return {
    index,
    rowOf,
    async load() {
      const turns = createTurns(clock);
      const marks: StatusMark[] = [];
      let from: Uint8Array = START_OF_TABLE;
      for (let left = true; left; ) {
        left = false;
        for (const [key, { takenAt, contractId, record }] of view.range(
          contractStatuses,
          from,
          END_OF_TABLE,
          READ_AT_ONCE,
        )) {
          const sent = decodeRecord(record, scheme);
          const row = latin1(contractStatuses.key.encode(key));
          marks.push(markOf(row, sent, contractId, record.length, takenAt));
          from = after(contractStatuses.key.encode(key));
          left = true;
        }
        if (turns.due()) await turns.take();
      }
      marks.sort((a, b) => a.takenAt - b.takenAt);
      for (const mark of marks) remove(index.add(mark));
    },
    add(sent, contractId) {
      const { record, bytes } = sent;
      if (waiting.size >= WAITING_ROWS_MAX || waitingBytes >= WAITING_BYTES_MAX) return false;
      const row = rowOf(sent);
      const takenAt = clock.now();
      const out = scratch(scheme);
      contractStatuses.value.write(out, { takenAt, contractId, record: bytes });
      const value = out.take();
      waiting.set(row, value);
      waitingBytes += value.length;
      remove(index.add(markOf(row, record, contractId, bytes.length, takenAt)));
      return true;
    },
    of: (txId) => readAll(index.of(latin1(txId))).sort((a, b) => a.timestamp - b.timestamp),
    failuresOf: (contractId, most) => readAll(index.failuresOf(latin1(contractId), most)),
    async stop() {
      stopped = true;
      cancel();
      await flush();
    },
  };
}

function* writesOf(rows: ReadonlyMap<string, Uint8Array | undefined>): Generator<StoreWrite> {
  for (const [row, value] of rows) {
    yield { table: contractStatuses.id, key: fromLatin1(row), value };
  }
}

const markOf = (
  row: string,
  { txId, senderPublicKey, status }: StatusRecord,
  contractId: Uint8Array | undefined,
  bytes: number,
  takenAt: number,
): StatusMark => ({
  row,
  txId: latin1(txId),
  sender: latin1(senderPublicKey),
  status,
  contractId: contractId && latin1(contractId),
  bytes,
  takenAt,
});

/** The least key above this one. */
function after(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}
