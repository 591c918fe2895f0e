/**
 * Status records on their way to the peers, in batches.
 *
 * Invariants: the records that wait are limited, and those of this node are never driven out by
 * those of others; a batch stays within the pace that receivers allow; no peer gets a record that
 * it has sent.
 */

import { statusLimits } from '../../base/limits/status-limits.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { encodeStatuses, RECORDS_MAX, STATUS_NOTICES } from './status-messages.ts';
import type { Peer } from './status-peers.ts';

export interface OutgoingOptions {
  /** Records with which a batch is full. */
  readonly batchMax: number;
  /** The longest time that a batch waits for more. */
  readonly batchMs: number;
}

export interface OutgoingPorts {
  readonly scheme: ChainScheme;
  readonly clock: Clock;
  readonly peers: () => readonly Peer[];
}

/** Records that wait: of this node, which may be those of a full block, and of others. */
const OWN_MAX = statusLimits.own.value;
const OTHERS_MAX = statusLimits.others.value;
/** Receivers allow 50 messages a second, and half a megabyte. */
const BETWEEN_MS = 25;
const BATCH_BYTES = 8 * 1024;

interface Leaving {
  readonly bytes: Uint8Array;
  readonly from: Peer | undefined;
}

export class OutgoingStatuses {
  private readonly options: OutgoingOptions;
  private readonly ports: OutgoingPorts;
  private readonly own: Leaving[] = [];
  private readonly others: Leaving[] = [];
  private cancel: (() => void) | undefined;
  private isFull = false;
  private sentAt = Number.NEGATIVE_INFINITY;
  private stopped = false;

  constructor(options: OutgoingOptions, ports: OutgoingPorts) {
    this.options = { ...options, batchMax: Math.min(options.batchMax, RECORDS_MAX) };
    this.ports = ports;
  }

  get size(): number {
    return this.own.length + this.others.length;
  }

  /** `from`: the peer that has sent it; undefined for one of this node. */
  add(bytes: Uint8Array, from?: Peer): void {
    const [list, most] = from === undefined ? [this.own, OWN_MAX] : [this.others, OTHERS_MAX];
    if (this.stopped || list.length >= most) return;
    list.push({ bytes, from });
    this.plan();
  }

  stop(): void {
    this.stopped = true;
    this.cancel?.();
  }

  private plan(): void {
    const isFull = this.size >= this.options.batchMax;
    if (this.cancel !== undefined && (this.isFull || !isFull)) return;
    this.cancel?.();
    this.isFull = isFull;
    const { clock } = this.ports;
    const pause = Math.max(0, this.sentAt + BETWEEN_MS - clock.monotonic());
    this.cancel = clock.after(isFull ? pause : Math.max(pause, this.options.batchMs), () => {
      this.cancel = undefined;
      this.isFull = false;
      this.send();
    });
  }

  private send(): void {
    this.sentAt = this.ports.clock.monotonic();
    const batch: Leaving[] = [];
    let bytes = 0;
    for (const list of [this.own, this.others]) {
      const last = list.findIndex((one) => {
        bytes += one.bytes.length;
        return batch.push(one) >= RECORDS_MAX || bytes >= BATCH_BYTES;
      });
      list.splice(0, last < 0 ? list.length : last + 1);
      if (last >= 0) break;
    }
    for (const peer of this.ports.peers()) {
      const news = batch.filter(({ from }) => from !== peer);
      if (news.length === 0) continue;
      const list = news.map((one) => one.bytes);
      peer.notify(STATUS_NOTICES, encodeStatuses(list, this.ports.scheme));
    }
    if (this.size > 0) this.plan();
  }
}
