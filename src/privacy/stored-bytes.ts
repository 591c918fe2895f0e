/**
 * How many bytes of confidential data this node has stored, for each policy and in all, in rows of
 * its own, and how many are reserved for transfers under way.
 */
import { base58 } from '../base/base58.ts';
import { latin1 } from '../base/bytes.ts';
import type { Log, Store } from '../base/ports.ts';
import { u64Key } from '../ledger/key-codecs.ts';
import { meta } from '../ledger/tables.ts';

export interface StoredBytesPorts {
  readonly rows: Pick<Store, 'get' | 'write'>;
  readonly log: Log;
}

const TOTAL = 'privacy-bytes';

const nameOf = (policyId: Uint8Array): string => `${TOTAL}/${base58.encode(policyId)}`;

export class StoredBytes {
  private readonly ports: StoredBytesPorts;
  private readonly reserved = new Map<string, number>();
  private counting: Promise<void> = Promise.resolve();
  /** For transfers of all policies. */
  reservedInAll = 0;

  constructor(ports: StoredBytesPorts) {
    this.ports = ports;
  }

  /** Without the reserved ones. */
  inAll(): number {
    return this.row(TOTAL);
  }

  /** Stored or reserved for this policy. */
  takenBy(policyId: Uint8Array): number {
    return this.row(nameOf(policyId)) + (this.reserved.get(latin1(policyId)) ?? 0);
  }

  /** Negative: they are no longer reserved. */
  reserve(policyId: Uint8Array, bytes: number): void {
    const key = latin1(policyId);
    const left = (this.reserved.get(key) ?? 0) + bytes;
    this.reservedInAll += bytes;
    if (left === 0) this.reserved.delete(key);
    else this.reserved.set(key, left);
  }

  /** Updates run one after the other, since each continues from the last. Never rejects. */
  add(policyId: Uint8Array, bytes: number): Promise<void> {
    const { rows, log } = this.ports;
    this.counting = this.counting.then(() =>
      rows
        .write(
          [TOTAL, nameOf(policyId)].map((name) => ({
            table: meta.id,
            key: meta.key.encode(name),
            value: u64Key.encode(this.row(name) + bytes),
          })),
        )
        .catch((cause: unknown) => log.error('privacy.backlog-failed', { why: String(cause) })),
    );
    return this.counting;
  }

  private row(name: string): number {
    const value = this.ports.rows.get(meta.id, meta.key.encode(name));
    return value === undefined ? 0 : u64Key.decode(value);
  }
}
