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
import {
  type IndexLimits,
  type StatusFacts,
  StatusIndex,
  type StatusMark,
} from './status-index.ts';
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
/** With so many rows the disk is not left waiting. */
const ROWS_AT_ONCE = 2_000;
const WAITING_ROWS_MAX = 40_000;
const WAITING_BYTES_MAX = 8 * 1024 * 1024;
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

  const hashOf = ({ signed }: SentStatus): string =>
    latin1(scheme.fastHash(signed).subarray(0, HASH_BYTES));

  function tick(): void {
    remove(index.expire(clock.now(), EXPIRED_AT_ONCE));
    void flush().then(() => {
      if (!stopped) cancel = clock.after(FLUSH_MS, tick);
    });
  }

  function remove(marks: readonly StatusMark[]): void {
    for (const mark of marks) {
      const row = rowOf(mark);
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
    marks.map((mark) => readRow(rowOf(mark))).filter((record) => record !== undefined);

  return {
    index,
    has: (sent) => index.has(latin1(sent.record.txId), hashOf(sent)),
    async load() {
      const turns = createTurns(clock);
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
        if (turns.due()) await turns.take();
      }
      found.sort((a, b) => a.takenAt - b.takenAt);
      for (const facts of found) remove(index.add(facts));
    },
    add(sent, contractId) {
      const { record, bytes } = sent;
      if (waiting.size >= WAITING_ROWS_MAX || waitingBytes >= WAITING_BYTES_MAX) return false;
      const takenAt = clock.now();
      const about = { contractId, bytes: bytes.length, takenAt };
      const facts = factsOf(record, hashOf(sent), about);
      const out = scratch(scheme);
      contractStatuses.value.write(out, { takenAt, contractId, record: bytes });
      const value = out.take();
      waiting.set(rowOf(facts), value);
      waitingBytes += value.length;
      remove(index.add(facts));
      if (waiting.size >= ROWS_AT_ONCE && underWay.size === 0) void flush();
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

/** Key of a row. */
const rowOf = ({ txId, hash }: StatusFacts): string => txId + hash;

const factsOf = (
  { txId, senderPublicKey, status }: StatusRecord,
  hash: string,
  about: { contractId: Uint8Array | undefined; bytes: number; takenAt: number },
): StatusFacts => ({
  txId: latin1(txId),
  hash,
  sender: latin1(senderPublicKey),
  status,
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
