/**
 * Status records from peers, on their way to the check of their signatures.
 *
 * Everything that costs little is judged first: whether the record is new, its time, the role of
 * its sender, and whether this node knows the transaction. A record may be faster than its
 * transaction, so it waits a while for it. Signatures are checked on the worker threads, one batch
 * at a time, so a flood of records never fills the queue of transactions and blocks.
 *
 * Invariants: all lists are limited, for each peer and together; peers take turns; no record is
 * stored or handed on before its signature is good.
 */

import { unlessOurs } from '../../base/assert.ts';
import { misconduct } from '../../base/faults/misconduct.ts';
import { statusLimits } from '../../base/limits/status-limits.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Verifier } from '../../base/ports/verifier.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { detached, type SentStatus } from './status-messages.ts';
import type { Peer } from './status-peers.ts';

export type Judgement = 'good' | 'useless' | 'unknown-transaction';

export interface IncomingPorts {
  readonly scheme: ChainScheme;
  readonly clock: Clock;
  readonly log: Log;
  readonly verifier: Pick<Verifier, 'verify'>;
  /** Everything but the signature. */
  judge(sent: SentStatus): Judgement;
  /** The signature is good. */
  accept(sent: SentStatus, from: Peer): void;
}

/** Records of one peer that wait for their check, and their bytes; more are dropped. */
const QUEUE_MAX = statusLimits.checked.value;
const QUEUE_BYTES_MAX = 256 * 1024;
/** Checked at once: a few milliseconds of one worker thread. */
const BATCH = 64;
const JUDGED_AT_ONCE = 200;
/** Records that wait for their transactions, of one peer and of all. */
const EARLY_OF_ONE_MAX = statusLimits.earlyOfOne.value;
const EARLY_MAX = statusLimits.earlyInAll.value;
const EARLY_MS = statusLimits.early.value;
const AGAIN_MS = 500;

/** The records of one peer. */
interface Queue {
  readonly list: SentStatus[];
  bytes: number;
}

interface Early {
  readonly sent: SentStatus;
  readonly peer: Peer;
  readonly until: number;
}

export class IncomingStatuses {
  private readonly ports: IncomingPorts;
  private readonly queues = new Map<Peer, Queue>();
  private early: Early[] = [];
  private readonly earlyOf = new Map<Peer, number>();
  private cancelAgain: (() => void) | undefined;
  private running = false;
  private stopped = false;

  constructor(ports: IncomingPorts) {
    this.ports = ports;
  }

  /** Records that wait for a check or for their transactions. */
  get size(): number {
    let size = this.early.length;
    for (const { list } of this.queues.values()) size += list.length;
    return size;
  }

  take(peer: Peer, list: readonly SentStatus[]): void {
    if (this.stopped) return;
    const queue = this.queues.get(peer) ?? { list: [], bytes: 0 };
    this.queues.set(peer, queue);
    for (const sent of list) {
      if (queue.list.length >= QUEUE_MAX || queue.bytes >= QUEUE_BYTES_MAX) break;
      queue.list.push(detached(sent, this.ports.scheme));
      queue.bytes += sent.bytes.length;
    }
    if (!this.running) void this.run().catch(unlessOurs((why) => this.failed(why)));
  }

  leave(peer: Peer): void {
    this.queues.delete(peer);
    this.setEarly(this.early.filter((one) => one.peer !== peer));
  }

  stop(): void {
    this.stopped = true;
    this.cancelAgain?.();
    this.queues.clear();
    this.setEarly([]);
  }

  private failed(why: unknown): void {
    this.ports.log.debug('contracts.statuses-unchecked', { why: String(why) });
  }

  private async run(): Promise<void> {
    this.running = true;
    try {
      while (this.queues.size > 0) {
        // Other work of the event loop comes first.
        await this.ports.clock.turn();
        const batch = this.next();
        if (batch.length === 0) continue;
        await this.check(batch).catch(unlessOurs((why) => this.failed(why)));
      }
    } finally {
      this.running = false;
    }
  }

  /** Some records that are worth a check, of all peers in turn. */
  private next(): (readonly [Peer, SentStatus])[] {
    const batch: (readonly [Peer, SentStatus])[] = [];
    let judged = 0;
    while (this.queues.size > 0 && batch.length < BATCH && judged < JUDGED_AT_ONCE) {
      for (const [peer, queue] of this.queues) {
        const sent = queue.list.shift();
        if (queue.list.length === 0) this.queues.delete(peer);
        if (sent === undefined) continue;
        queue.bytes -= sent.bytes.length;
        judged++;
        const judgement = this.ports.judge(sent);
        if (judgement === 'good') batch.push([peer, sent]);
        else if (judgement === 'unknown-transaction') this.keepEarly(peer, sent);
      }
    }
    return batch;
  }

  private async check(batch: readonly (readonly [Peer, SentStatus])[]): Promise<void> {
    const verdicts = await this.ports.verifier.verify(
      batch.map(([, { record, signed }]) => ({
        publicKey: record.senderPublicKey,
        message: signed,
        signature: record.signature,
      })),
    );
    if (this.stopped) return;
    batch.forEach(([peer, sent], i) => {
      if (verdicts[i] !== true)
        peer.offend('forged-status', misconduct('a status that its sender did not sign'));
      // Another peer may have sent the same one in this batch.
      else if (this.ports.judge(sent) === 'good') this.ports.accept(sent, peer);
    });
  }

  private keepEarly(peer: Peer, sent: SentStatus): void {
    const { clock } = this.ports;
    const count = this.earlyOf.get(peer) ?? 0;
    if (count >= EARLY_OF_ONE_MAX || this.early.length >= EARLY_MAX) return;
    this.earlyOf.set(peer, count + 1);
    this.early.push({ sent, peer, until: clock.monotonic() + EARLY_MS });
    this.cancelAgain ??= clock.after(AGAIN_MS, () => this.again());
  }

  private setEarly(list: Early[]): void {
    this.early = list;
    this.earlyOf.clear();
    for (const { peer } of list) this.earlyOf.set(peer, (this.earlyOf.get(peer) ?? 0) + 1);
  }

  /** Looks for the transactions of early records. */
  private again(): void {
    this.cancelAgain = undefined;
    const { clock, judge } = this.ports;
    const now = clock.monotonic();
    const left: Early[] = [];
    for (const one of this.early) {
      const judgement = judge(one.sent);
      if (judgement === 'good') this.take(one.peer, [one.sent]);
      else if (judgement === 'unknown-transaction' && now < one.until) left.push(one);
    }
    this.setEarly(left);
    if (this.early.length > 0) this.cancelAgain = clock.after(AGAIN_MS, () => this.again());
  }
}
