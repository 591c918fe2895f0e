/**
 * Status records between nodes (contracts.md#status-records), notices of one protocol:
 *
 *   count 2, 1…50 | count × record
 */

import { KIB, type PeerBudget, peerBudget } from '../../base/limits/budget.ts';
import { statusLimits } from '../../base/limits/status-limits.ts';
import { SIGNATURE_BYTES } from '../../base/sizes.ts';
import { type ChainScheme, CodecError, Reader } from '../../codec/codec.ts';
import { scratch } from '../../codec/scratch.ts';
import { decodeRecord, RECORD_BYTES_MAX, readRecord, type StatusRecord } from './status-record.ts';

export const STATUS_NOTICES = 'contract-status/1';
/** Records of one message. */
export const RECORDS_MAX = statusLimits.batch.value;

/** The rows are those of the sender's role, of the transaction, and of equal records. */
export const statusBudget: PeerBudget = peerBudget({
  bytesIn: 2 + RECORDS_MAX * RECORD_BYTES_MAX,
  elements: RECORDS_MAX,
  rows: 10 * RECORDS_MAX,
  bytesOut: 0,
  streamed: true,
  concurrent: 0,
  pace: { messages: 50, bytes: 512 * KIB },
});

/** The budgets of contract execution by protocol. */
export const contractBudgets: ReadonlyMap<string, PeerBudget> = new Map([
  [STATUS_NOTICES, statusBudget],
]);

/** A record with its bytes; `signed` are those under its signature. */
export interface SentStatus {
  readonly record: StatusRecord;
  readonly bytes: Uint8Array;
  readonly signed: Uint8Array;
}

export function encodeStatuses(list: readonly Uint8Array[], scheme: ChainScheme): Uint8Array {
  const out = scratch(scheme);
  out.u16(list.length);
  for (const bytes of list) out.bytes(bytes);
  return out.take();
}

/** The same record in memory of its own, since it outlives the message that brought it. */
export function detached({ bytes }: SentStatus, scheme: ChainScheme): SentStatus {
  const own = bytes.slice();
  return { record: decodeRecord(own, scheme), bytes: own, signed: signedIn(own) };
}

const signedIn = (bytes: Uint8Array): Uint8Array =>
  bytes.subarray(0, bytes.length - SIGNATURE_BYTES);

/** The records are views of the message. Throws CodecError. */
export function decodeStatuses(message: Uint8Array, scheme: ChainScheme): readonly SentStatus[] {
  const src = new Reader(message, scheme);
  const count = src.u16();
  if (count < 1 || count > RECORDS_MAX) throw new CodecError('message', `${count} records`);
  const list: SentStatus[] = [];
  for (let i = 0; i < count; i++) {
    const start = src.position;
    const record = readRecord(src);
    const bytes = src.since(start);
    list.push({ record, bytes, signed: signedIn(bytes) });
  }
  src.finish();
  return list;
}
