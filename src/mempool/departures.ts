/** Entries that leave the pool unmined, and the reason why. */
import { base58 } from '../base/base58.ts';
import { latin1 } from '../base/bytes.ts';
import type { ApiError } from '../base/errors.ts';
import type { Log } from '../base/ports.ts';
import { Recent } from '../base/recent.ts';
import type { Entries } from './entries.ts';
import type { PoolEntry } from './entry.ts';
import type { Unsettled } from './unsettled.ts';

const REASONS_MAX = 10_000;

export class Departures {
  private readonly entries: Entries;
  private readonly unsettled: Unsettled;
  private readonly log: Log;
  private readonly reasons = new Recent<string, string>(REASONS_MAX);

  constructor(entries: Entries, unsettled: Unsettled, log: Log) {
    this.entries = entries;
    this.unsettled = unsettled;
    this.log = log;
  }

  /** Unless a later head decides, since a reorganisation may be the reason. */
  drop(entry: PoolEntry, error: ApiError): void {
    if (!this.unsettled.retain(entry)) this.leave(entry, error);
  }

  leave(entry: PoolEntry, error: ApiError): void {
    this.entries.remove(entry);
    this.reasons.set(latin1(entry.id), error.message);
    this.log.info('pool.dropped', { id: base58.encode(entry.id), why: error.message });
  }

  /** Of a transaction that left recently. */
  reasonOf(id: Uint8Array): string | undefined {
    return this.reasons.get(latin1(id));
  }
}
