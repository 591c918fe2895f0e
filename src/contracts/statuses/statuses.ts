/**
 * Status records of contract transactions (contracts.md#status-records): those of this node are
 * signed and spread, those of other miners are checked, kept and handed on once.
 *
 * Invariants: a record comes from an account that may make blocks and belongs to the network, and
 * concerns a transaction that this node knows; each record is handed on at most once; whatever a
 * member signs, memory and disk stay within their limits.
 */

import { unlessOurs } from '../../base/assert.ts';
import { limitsOf } from '../../base/budget.ts';
import { concat, equal, fromLatin1, latin1 } from '../../base/bytes.ts';
import type { Clock, Log, Store, Verifier } from '../../base/ports.ts';
import { statusLimits } from '../../base/status-limits.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import { executedBy } from '../../ledger/contracts.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { isParticipant } from '../../ledger/participants.ts';
import { hasRole } from '../../ledger/permissions.ts';
import { MINER } from '../../ledger/roles.ts';
import type { Pool } from '../../mempool/pool.ts';
import { memberUnder } from '../../tx/members.ts';
import { isRefusal, type ReportStatus, type StatusReport } from '../status-report.ts';
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
import { StatusStore } from './status-store.ts';

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

export interface StatusesPorts {
  readonly view: LedgerView;
  readonly store: Pick<Store, 'write'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly verifier: Pick<Verifier, 'verify'>;
  readonly pool: Pick<Pool, 'entry' | 'decode' | 'drop' | 'dropped'>;
  /** Undefined for a node without peers. */
  readonly peers: Peers | undefined;
  /** True while this node executes contracts itself. */
  readonly executes: () => boolean;
  /** The account that makes the blocks of this node. */
  readonly miner: {
    readonly publicKey: Uint8Array;
    readonly sign: (message: Uint8Array) => Uint8Array;
  };
}

export interface Statuses {
  readonly report: ReportStatus;
  /** By timestamp; empty where no outcome is known. */
  of(txId: Uint8Array): readonly StatusRecord[];
  /** Of transactions of a contract that did not succeed, the newest first. */
  failuresOf(contractId: Uint8Array, most: number): readonly StatusRecord[];
  /** Records kept. */
  size(): number;
  /** Reads the records of earlier runs; the network starts afterwards. */
  start(): Promise<void>;
  /** Resolves when everything is on the disk. */
  stop(): Promise<void>;
}

/** Records of all senders. */
const BYTES_MAX = statusLimits.bytes.value;
/** The clock of the sender may be ahead of this node's. */
const AHEAD_MS_MAX = statusLimits.ahead.value;
/** Reports that wait for their signatures. */
const REPORTS_MAX = 20_000;

/** Registers its protocol here, so the network must start after it. */
export function createStatuses(options: StatusesOptions, ports: StatusesPorts): Statuses {
  const { view, clock, log, peers, pool, miner } = ports;
  const { scheme } = view;
  const { recordsMax, keepMs, isWatcher } = options;
  const store = new StatusStore({ recordsMax, bytesMax: BYTES_MAX, keepMs }, ports);
  const { index } = store;
  const outgoing = new OutgoingStatuses(options, {
    scheme,
    clock,
    peers: () => peers?.all() ?? [],
  });
  const incoming = new IncomingStatuses({ ...ports, scheme, judge, accept });
  const ownKey = latin1(miner.publicKey);
  const reports: StatusReport[] = [];
  let signing = Promise.resolve();
  let stopErrors = (): void => {};
  let stopRepeating = (): void => {};

  peers?.handleNotices(STATUS_NOTICES, {
    ...limitsOf(statusBudget),
    take: (peer, message) => incoming.take(peer, decodeStatuses(message, scheme)),
  });
  peers?.onClose((peer) => incoming.leave(peer));

  const isMiner = (publicKey: Uint8Array): boolean => {
    const address = scheme.addressOf(publicKey);
    if (!hasRole(view, address, MINER, clock.now())) return false;
    // The blocks of a node may be made by another account than that which is registered.
    return (
      isParticipant(view, address) ||
      equal(publicKey, miner.publicKey) ||
      peers?.all().some((peer) => equal(peer.miner, address)) === true
    );
  };

  const isKnown = (txId: Uint8Array): boolean =>
    isWatcher ||
    index.hasTransaction(latin1(txId)) ||
    pool.entry(txId) !== undefined ||
    executedBy(view, txId) !== undefined ||
    pool.dropped(txId) !== undefined;

  function judge(sent: SentStatus): Judgement {
    const { txId, senderPublicKey, status, timestamp } = sent.record;
    const age = clock.now() - timestamp;
    if (age > keepMs || age < -AHEAD_MS_MAX) return 'useless';
    if (store.has(sent)) return 'useless';
    if (index.isRepeated(latin1(txId), latin1(senderPublicKey), status)) return 'useless';
    if (!isMiner(senderPublicKey)) return 'useless';
    return isKnown(txId) ? 'good' : 'unknown-transaction';
  }

  function accept(sent: SentStatus, from: Peer | undefined, contractId?: Uint8Array): void {
    const { txId, status } = sent.record;
    const about = status === 'Success' ? undefined : (contractId ?? contractWaiting(txId));
    if (store.add(sent, about) && !isWatcher) outgoing.add(sent.bytes, from);
  }

  /** The contract of a transaction in the pool. */
  function contractWaiting(txId: Uint8Array): Uint8Array | undefined {
    const entry = pool.entry(txId);
    const tx = entry && memberUnder(pool.decode(entry), txId);
    return tx?.def.contract?.(tx);
  }

  /** A failure that this node has reported before is no news. */
  const isSaid = ({ txId, status, code }: StatusReport): boolean =>
    status !== 'Success' &&
    index
      .of(latin1(txId))
      .some(
        (mark) =>
          mark.sender === ownKey &&
          mark.status === status &&
          mark.isRefusal === isRefusal(status, code),
      );

  /** Signs what waits, and lets everything else run in between. */
  async function signReports(): Promise<void> {
    const slice = new TimeSlice(clock);
    for (let report = reports.shift(); report !== undefined; report = reports.shift()) {
      if (slice.isOver()) await slice.yield();
      if (!isSaid(report)) say(report);
    }
  }

  function say({ txId, contractId, status, code, message }: StatusReport): void {
    const unsigned = {
      senderPublicKey: miner.publicKey,
      txId,
      status,
      code,
      message: cutMessage(message),
      timestamp: clock.now(),
    };
    const signed = signedPart(unsigned, scheme);
    const signature = miner.sign(signed);
    const bytes = concat(signed, signature);
    accept({ record: { ...unsigned, signature }, bytes, signed }, undefined, contractId);
  }

  /** True where others may still have the transaction, and this node would not take it. */
  const isRefused = (txId: Uint8Array): boolean =>
    pool.entry(txId) === undefined &&
    executedBy(view, txId) === undefined &&
    isMiner(miner.publicKey);

  function repeat({ txId, contractId }: StatusMark): void {
    const last = store
      .of(fromLatin1(txId))
      .findLast(
        ({ senderPublicKey, status, code }) =>
          equal(senderPublicKey, miner.publicKey) && isRefusal(status, code),
      );
    if (last === undefined) return;
    say({ ...last, contractId: contractId === undefined ? undefined : fromLatin1(contractId) });
  }

  return {
    report(report) {
      if (reports.length >= REPORTS_MAX) return;
      const { txId, contractId, status } = report;
      const isFailure = status !== 'Success';
      // Later the transaction may have left the pool.
      const about = contractId ?? (isFailure ? contractWaiting(txId) : undefined);
      reports.push({ ...report, contractId: about });
      if (reports.length > 1) return;
      signing = signing
        .then(() => clock.turn())
        .then(signReports)
        .catch(unlessOurs((why) => log.error('contracts.report-failed', { why: String(why) })));
    },
    of: (txId) => store.of(txId),
    failuresOf: (contractId, most) => store.failuresOf(contractId, most),
    size: () => index.size,
    async start() {
      await store.start();
      const { errorQuorum: quorum, cleanupMs: everyMs, poolBytesMax } = options;
      stopErrors = watchErrors({ quorum, everyMs, poolBytesMax }, { ...ports, index, isMiner });
      stopRepeating = repeatRefusals({ index, clock, ownKey, isOpen: isRefused, repeat });
    },
    async stop() {
      stopErrors();
      stopRepeating();
      incoming.stop();
      await signing;
      outgoing.stop();
      await store.stop();
    },
  };
}
