/**
 * Records of the journal that name transactions of rolled-back blocks in the order of their chain, so that
 * a restart keeps that order (reorg-candidates.ts).
 *
 * Record: mark 1, version 1, then ids of 32 bytes each. What a later record names comes first, since
 * a later rollback takes back blocks below those of the earlier ones. A record stays in the journal
 * where its rollback fails, and where its transactions are mined again or leave: then it names nothing
 * that waits.
 */
import { fromLatin1, latin1Part } from '../../base/bytes.ts';
import { ID_BYTES } from '../../base/sizes.ts';

/** No transaction begins with this byte. */
const MARK = 0xff;
const VERSION = 1;
const HEAD_BYTES = 2;
/** The ids of one record, which is half a portion of the journal (journal-portions.ts). */
const IDS_MAX = 16_384;

export const isOrderRecord = (record: Uint8Array): boolean => record[0] === MARK;

/** To be appended in their order. `keys`: ids as Latin-1 texts; none give no record. */
export function orderRecords(keys: readonly string[]): Uint8Array[] {
  const records: Uint8Array[] = [];
  // The last ids go into the first record, since a later record comes first.
  for (let end = keys.length; end > 0; end -= IDS_MAX) {
    records.push(recordOf(keys.slice(Math.max(0, end - IDS_MAX), end)));
  }
  return records;
}

function recordOf(keys: readonly string[]): Uint8Array {
  const record = new Uint8Array(HEAD_BYTES + keys.length * ID_BYTES);
  record[0] = MARK;
  record[1] = VERSION;
  for (const [i, key] of keys.entries()) record.set(fromLatin1(key), HEAD_BYTES + i * ID_BYTES);
  return record;
}

/**
 * The order that the records of a journal give, as Latin-1 texts; records of transactions give none. An id
 * that comes again has its place where it came first.
 */
export function* orderIn(records: readonly Uint8Array[]): Generator<string> {
  // From behind without a copy: a journal may have millions of records.
  for (let i = records.length - 1; i >= 0; i--) {
    const record = records[i]!;
    if (!isOrderRecord(record) || record[1] !== VERSION) continue;
    for (let at = HEAD_BYTES; at + ID_BYTES <= record.length; at += ID_BYTES) {
      yield latin1Part(record, at, at + ID_BYTES);
    }
  }
}
