/**
 * Status records of contract transactions (contracts.md#status-records): those of this node are
 * signed and spread, those of other miners are checked, kept and handed on once.
 *
 * Invariants: a record comes from an account that may make blocks and belongs to the network, and
 * concerns a transaction that this node knows; each record is handed on at most once; whatever a
 * member signs, memory and disk stay within their limits.
 */

import { unlessOurs } from '../../base/assert.ts';
import { concat, equal, fromLatin1, latin1 } from '../../base/bytes.ts';
import { limitsOf } from '../../base/limits/budget.ts';
import { statusLimits } from '../../base/limits/status-limits.ts';
import type { Verifier } from '../../base/ports/verifier.ts';
import type { SigningAccount } from '../../base/signer/signing.ts';
import { confirmedHeight } from '../../chain/store/stored-blocks.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import { executedBy } from '../../ledger/contracts.ts';
import { isParticipant } from '../../ledger/participants.ts';
import { hasRole } from '../../ledger/permissions.ts';
import { MINER } from '../../ledger/roles.ts';
import type { Pool } from '../../mempool/pool.ts';
import { memberUnder } from '../../tx/members.ts';
import { watchErrors } from './error-quorum.ts';
import { IncomingStatuses, type Judgement } from './incoming-statuses.ts';
import { OutgoingStatuses } from './outgoing-statuses.ts';
import { repeatRefusals } from './repeated-refusals.ts';
import type { StatusMark } from './status-index.ts';
import {
  decodeStatuses,
  type SentStatus,
  STATUS_NOTICES,
  statusBudget,
} from './status-messages.ts';
import type { Peer, Peers } from './status-peers.ts';
import { cutMessage, type StatusRecord, signedPart } from './status-record.ts';
import { isRefusal, type ReportStatus, type StatusReport } from './status-report.ts';
import { StatusStore, type StatusStorePorts } from './status-store.ts';

export interface StatusesOptions {
  readonly recordsMax: number;
  readonly keepMs: number;
  readonly batchMax: number;
  readonly batchMs: number;
  /** Miners whose errors make this node drop a transaction while it executes none. */
  readonly errorQuorum: number;
  readonly cleanupMs: number;
  /** The most bytes of the pool. */
  readonly poolBytesMax: number;
  /** A watcher has no pool, so it knows no transaction before its block, and hands nothing on. */
  readonly isWatcher: boolean;
}

export interface StatusesPorts extends StatusStorePorts {
  readonly verifier: Pick<Verifier, 'verify'>;
  readonly pool: Pick<Pool, 'entry' | 'decode' | 'drop' | 'dropped'>;
  /** Undefined for a node without peers. */
  readonly peers: Peers | undefined;
  /** True while this node executes contracts itself. */
  readonly executes: () => boolean;
  /** The account that makes the blocks of this node. */
  readonly miner: Pick<SigningAccount, 'publicKey' | 'sign'>;
}

/** Records of all senders. */
const BYTES_MAX = statusLimits.bytes.value;
/** The clock of the sender may be ahead of this node's. */
const AHEAD_MS_MAX = statusLimits.ahead.value;
/** Reports that wait for their signatures. */
const REPORTS_MAX = 20_000;

export class Statuses {
  private readonly options: StatusesOptions;
  private readonly ports: StatusesPorts;
  private readonly store: StatusStore;
  private readonly outgoing: OutgoingStatuses;
  private readonly incoming: IncomingStatuses;
  private readonly ownKey: string;
  private readonly reports: StatusReport[] = [];
  private signing = Promise.resolve();
  private isSigning = false;
  readonly #failed = unlessOurs((why) =>
    this.ports.log.error('contracts.report-failed', { why: String(why) }),
  );
  private stopErrors = (): void => {};
  private stopRepeating = (): void => {};

  constructor(options: StatusesOptions, ports: StatusesPorts) {
    const { view, clock, peers, miner } = ports;
    const { scheme } = view;
    this.options = options;
    this.ports = ports;
    this.store = new StatusStore({ ...options, bytesMax: BYTES_MAX }, ports);
    this.outgoing = new OutgoingStatuses(options, {
      scheme,
      clock,
      peers: () => peers?.all() ?? [],
    });
    this.incoming = new IncomingStatuses({
      ...ports,
      scheme,
      judge: (sent) => this.judge(sent),
      accept: (sent, from) => this.accept(sent, from),
    });
    this.ownKey = latin1(miner.publicKey);
  }

  /** Registers the protocol and reads the records of earlier runs; the network starts afterwards. */
  async start(): Promise<void> {
    const { options, ports, store, incoming, ownKey } = this;
    const { clock, peers, view } = ports;
    peers?.handleNotices(STATUS_NOTICES, {
      ...limitsOf(statusBudget),
      take: (peer, message) => incoming.take(peer, decodeStatuses(message, view.scheme)),
    });
    peers?.onClose((peer) => incoming.leave(peer));
    await store.start();
    const { errorQuorum: quorum, cleanupMs: everyMs, poolBytesMax } = options;
    const { index } = store;
    const isMiner = (publicKey: Uint8Array): boolean => this.isMiner(publicKey);
    this.stopErrors = watchErrors({ quorum, everyMs, poolBytesMax }, { ...ports, index, isMiner });
    const isOpen = (txId: Uint8Array): boolean => this.isRefused(txId);
    const repeat = (mark: StatusMark): void => this.repeat(mark);
    this.stopRepeating = repeatRefusals({ index, clock, ownKey, isOpen, repeat });
  }

  /** Resolves when everything is on the disk. */
  async stop(): Promise<void> {
    this.stopErrors();
    this.stopRepeating();
    this.incoming.stop();
    await this.signing;
    this.outgoing.stop();
    await this.store.stop();
  }

  readonly report: ReportStatus = (report) => {
    if (this.reports.length >= REPORTS_MAX) return;
    const { txId, contractId, status } = report;
    const isFailure = status !== 'Success';
    // Later the transaction may have left the pool.
    const about = contractId ?? (isFailure ? this.contractWaiting(txId) : undefined);
    this.reports.push({ ...report, contractId: about });
    if (!this.isSigning) this.signing = this.signReports().catch(this.#failed);
  };

  /** By timestamp; empty where no outcome is known. */
  of(txId: Uint8Array): readonly StatusRecord[] {
    return this.store.of(txId);
  }

  /** Of transactions of a contract that did not succeed, the newest first. */
  failuresOf(contractId: Uint8Array, most: number): readonly StatusRecord[] {
    return this.store.failuresOf(contractId, most);
  }

  /** Records kept. */
  size(): number {
    return this.store.index.size;
  }

  private isMiner(publicKey: Uint8Array): boolean {
    const { view, clock, peers, miner } = this.ports;
    const address = view.scheme.addressOf(publicKey);
    if (!hasRole(view, address, MINER, clock.now())) return false;
    // The blocks of a node may be made by another account than that which is registered.
    return (
      isParticipant(view, address) ||
      equal(publicKey, miner.publicKey) ||
      peers?.all().some((peer) => equal(peer.miner, address)) === true
    );
  }

  /** An atomic transaction is on the chain itself, and what is executed is inside its result. */
  private isMined(txId: Uint8Array): boolean {
    const { view } = this.ports;
    return executedBy(view, txId) !== undefined || confirmedHeight(view, txId) !== undefined;
  }

  private isKnown(txId: Uint8Array): boolean {
    const { pool } = this.ports;
    return (
      this.options.isWatcher ||
      this.store.index.hasTransaction(latin1(txId)) ||
      pool.entry(txId) !== undefined ||
      this.isMined(txId) ||
      pool.dropped(txId) !== undefined
    );
  }

  private judge(sent: SentStatus): Judgement {
    const { store } = this;
    const { txId, senderPublicKey, status, timestamp } = sent.record;
    const age = this.ports.clock.now() - timestamp;
    if (age > this.options.keepMs || age < -AHEAD_MS_MAX) return 'useless';
    if (store.has(sent)) return 'useless';
    if (store.index.isRepeated(latin1(txId), latin1(senderPublicKey), status)) return 'useless';
    if (!this.isMiner(senderPublicKey)) return 'useless';
    return this.isKnown(txId) ? 'good' : 'unknown-transaction';
  }

  private accept(sent: SentStatus, from: Peer | undefined, contractId?: Uint8Array): void {
    const { txId, status } = sent.record;
    const about = status === 'Success' ? undefined : (contractId ?? this.contractWaiting(txId));
    if (this.store.add(sent, about) && !this.options.isWatcher) this.outgoing.add(sent.bytes, from);
  }

  /** The contract of a transaction in the pool. */
  private contractWaiting(txId: Uint8Array): Uint8Array | undefined {
    const { pool } = this.ports;
    const entry = pool.entry(txId);
    const tx = entry && memberUnder(pool.decode(entry), txId);
    return tx?.def.contract?.(tx);
  }

  /** A failure that this node has reported before is no news. */
  private isSaid({ txId, status, code }: StatusReport): boolean {
    return (
      status !== 'Success' &&
      this.store.index
        .of(latin1(txId))
        .some(
          (mark) =>
            mark.sender === this.ownKey &&
            mark.status === status &&
            mark.isRefusal === isRefusal(status, code),
        )
    );
  }

  /**
   * Signs what waits, and lets everything else run in between. After a failure the rest waits for the
   * next report.
   */
  private async signReports(): Promise<void> {
    const { reports } = this;
    const { clock } = this.ports;
    this.isSigning = true;
    try {
      await clock.turn();
      const slice = new TimeSlice(clock);
      for (let report = reports.shift(); report !== undefined; report = reports.shift()) {
        if (slice.isOver()) await slice.yield();
        if (!this.isSaid(report)) await this.say(report);
      }
    } finally {
      this.isSigning = false;
    }
  }

  private async say({ txId, contractId, status, code, message }: StatusReport): Promise<void> {
    const { miner, clock, view } = this.ports;
    const unsigned = {
      senderPublicKey: miner.publicKey,
      txId,
      status,
      code,
      message: cutMessage(message),
      timestamp: clock.now(),
    };
    const signed = signedPart(unsigned, view.scheme);
    const signature = await miner.sign(signed);
    const bytes = concat(signed, signature);
    this.accept({ record: { ...unsigned, signature }, bytes, signed }, undefined, contractId);
  }

  /** True where others may still have the transaction, and this node would not take it. */
  private isRefused(txId: Uint8Array): boolean {
    const { pool, miner } = this.ports;
    return pool.entry(txId) === undefined && !this.isMined(txId) && this.isMiner(miner.publicKey);
  }

  private repeat({ txId, contractId }: StatusMark): void {
    const { miner } = this.ports;
    const last = this.store
      .of(fromLatin1(txId))
      .findLast(
        ({ senderPublicKey, status, code }) =>
          equal(senderPublicKey, miner.publicKey) && isRefusal(status, code),
      );
    if (last === undefined) return;
    const about = contractId === undefined ? undefined : fromLatin1(contractId);
    this.say({ ...last, contractId: about }).catch(this.#failed);
  }
}
