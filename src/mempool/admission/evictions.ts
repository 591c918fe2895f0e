/** Removes entries that no block took, and keeps the reasons. */
import { base58 } from '../../base/base58.ts';
import { latin1 } from '../../base/bytes.ts';
import type { ApiError } from '../../base/errors.ts';
import type { Log } from '../../base/ports/log.ts';
import { BoundedCache } from '../../concurrency/bounded-cache.ts';
import { idOf, type PoolEntry } from '../entries/entry.ts';
import type { Entries } from '../entries/pool-entries.ts';
import type { ReorgCandidates } from '../reorg/reorg-candidates.ts';

const REASONS_MAX = 10_000;
/** Characters of a reason: a contract may have worded it. */
const REASON_CHARS_MAX = 1_000;
/** The number of heads that refuse an entry in doubt before it leaves: what it needs may come back. */
export const REFUSALS_MAX = 5;

export class Evictions {
  private readonly entries: Entries;
  private readonly candidates: ReorgCandidates;
  private readonly log: Log;
  private readonly reasons = new BoundedCache<string, string>(REASONS_MAX);
  private head = 0;
  private readonly refusals = new WeakMap<PoolEntry, { count: number; head: number }>();

  constructor(entries: Entries, candidates: ReorgCandidates, log: Log) {
    this.entries = entries;
    this.candidates = candidates;
    this.log = log;
  }

  nextHead(): void {
    this.head++;
  }

  /**
   * Removes the entry. One that a reorganisation put in doubt leaves once it was dropped on several heads:
   * rules may find it valid for ever, as a call that its contract refuses.
   */
  drop(entry: PoolEntry, error: ApiError): void {
    if (!this.candidates.retain(entry)) {
      this.evict(entry, error);
      return;
    }
    const before = this.refusals.get(entry) ?? { count: 0, head: -1 };
    if (before.head === this.head) return;
    const count = before.count + 1;
    if (count >= REFUSALS_MAX) this.evict(entry, error);
    else this.refusals.set(entry, { count, head: this.head });
  }

  /**
   * The rules refuse the entry on a block that is being made. Where it is in doubt, what it builds on may
   * wait for a later block: the heads decide, which judge all in doubt together (revalidator.ts).
   */
  refuse(entry: PoolEntry, error: ApiError): void {
    if (!this.candidates.retain(entry)) this.evict(entry, error);
  }

  evict(entry: PoolEntry, error: ApiError): void {
    this.entries.remove(entry);
    const why = ownText(error.message);
    this.reasons.set(entry.key, why);
    this.log.info('pool.dropped', { id: base58.encode(idOf(entry)), why });
  }

  /** The reason why a transaction left the pool, if that was recently. */
  reasonOf(id: Uint8Array): string | undefined {
    return this.reasons.get(latin1(id));
  }
}

/** A copy: the engine keeps the whole text of which another is a part. */
const ownText = (text: string): string =>
  Buffer.from(text.slice(0, REASON_CHARS_MAX), 'utf16le').toString('utf16le');
