/**
 * Which status records are kept, in memory; the records themselves are on the disk
 * (status-store.ts). A hundred thousand of them take 30 to 60 MiB.
 *
 * Invariants: there are never more records or bytes than allowed; the sender with the most makes
 * room for others, so a flood drives out its own records first; of one sender, transaction and
 * status only the newest records are kept, and only so many are ever taken, so a miner that repeats
 * itself costs little.
 */
import { statusLimits } from '../../base/limits/status-limits.ts';
import type { OutcomeStatus } from './status-report.ts';

/** What is known of a record without reading it. Texts are Latin-1. */
export interface StatusFacts {
  readonly txId: string;
  /** Tells the records of a transaction apart. */
  readonly hash: string;
  /** Public key. */
  readonly sender: string;
  readonly status: OutcomeStatus;
  /** True where its sender will not execute the transaction again. */
  readonly isRefusal: boolean;
  /** The contract of the transaction, where this node knows it. */
  readonly contractId: string | undefined;
  readonly bytes: number;
  /** When it was taken, in seconds since 1970. */
  readonly takenAt: number;
}

export interface StatusMark extends StatusFacts {
  isKept: boolean;
  /** How many records of its sender, transaction and status were taken up to it. */
  readonly taken: number;
  /** When its sender first said this, in seconds since 1970, and how often it has said it again. */
  readonly saidFrom: number;
  readonly repeats: number;
}

export interface IndexLimits {
  readonly recordsMax: number;
  readonly bytesMax: number;
  readonly keepMs: number;
}

/** Of one sender, transaction and status. */
export const KEPT_MAX = statusLimits.kept.value;
export const TAKEN_MAX = statusLimits.taken.value;

const NONE: readonly StatusMark[] = [];

/** The records of one sender, the oldest first; removed ones stay in the list for a while. */
class SenderRecords {
  /** Public key. */
  readonly sender: string;
  private list: StatusMark[] = [];
  private start = 0;
  count = 0;
  bytes = 0;
  /** When the newest record was taken, in seconds since 1970. */
  heardAt = 0;

  constructor(sender: string) {
    this.sender = sender;
  }

  push(mark: StatusMark): void {
    this.list.push(mark);
    this.heardAt = Math.max(this.heardAt, mark.takenAt);
    this.count += 1;
    this.bytes += mark.bytes;
  }

  removed(mark: StatusMark): void {
    this.count -= 1;
    this.bytes -= mark.bytes;
    if (this.list.length < 2 * this.count + SPARE) return;
    this.list = this.list.slice(this.start).filter(({ isKept }) => isKept);
    this.start = 0;
  }

  /** The oldest record that is kept. */
  oldest(): StatusMark | undefined {
    for (; this.start < this.list.length; this.start++) {
      const mark = this.list[this.start]!;
      if (mark.isKept) return mark;
    }
    return undefined;
  }
}

/** Removed records that the list of a sender may hold beside as many as are kept. */
const SPARE = 1_000;

interface Failures {
  readonly contractId: string;
  /** The oldest first. */
  readonly marks: Set<StatusMark>;
}

export class StatusIndex {
  private readonly limits: IndexLimits;
  /** The oldest first. */
  private readonly byTransaction = new Map<string, readonly StatusMark[]>();
  private readonly byContract = new Map<string, Failures>();
  private readonly bySender = new Map<string, SenderRecords>();
  /** Transactions with a refusal. */
  private readonly refused = new Set<string>();
  private count = 0;
  private bytes = 0;

  constructor(limits: IndexLimits) {
    this.limits = limits;
  }

  get size(): number {
    return this.count;
  }

  has(txId: string, hash: string): boolean {
    return this.of(txId).some((mark) => mark.hash === hash);
  }

  hasTransaction(txId: string): boolean {
    return this.byTransaction.has(txId);
  }

  /** True where the sender has said this of the transaction too often. */
  isRepeated(txId: string, sender: string, status: OutcomeStatus): boolean {
    return this.takenOf(txId, sender, status) >= TAKEN_MAX;
  }

  of(txId: string): readonly StatusMark[] {
    return this.byTransaction.get(txId) ?? NONE;
  }

  /** The records of a contract's transactions that did not succeed, the newest first. */
  failuresOf(contractId: string, most: number): readonly StatusMark[] {
    return [...(this.byContract.get(contractId)?.marks ?? [])].slice(-most).reverse();
  }

  /** The transactions that any sender has refused. */
  refusedTransactions(): Iterable<string> {
    return this.refused;
  }

  /** The refusals of the transaction, of all senders. */
  refusalsOf(txId: string): readonly StatusMark[] {
    return this.of(txId).filter(({ isRefusal }) => isRefusal);
  }

  /** The senders of records that were taken from then on, in seconds since 1970. */
  heardSince(time: number): readonly string[] {
    return [...this.bySender.values()]
      .filter((of) => of.heardAt >= time)
      .map(({ sender }) => sender);
  }

  /** Returns the records that make room. */
  add(facts: StatusFacts): readonly StatusMark[] {
    const { txId, hash, status, isRefusal, bytes, takenAt } = facts;
    const records = this.bySender.get(facts.sender) ?? new SenderRecords(facts.sender);
    this.bySender.set(records.sender, records);
    const failures = this.failuresFor(facts);
    const said = this.saidBefore(facts);
    // Texts that many records share are held once.
    const mark: StatusMark = {
      txId,
      hash,
      sender: records.sender,
      status,
      isRefusal,
      contractId: failures?.contractId,
      bytes,
      takenAt,
      isKept: true,
      taken: this.takenOf(txId, records.sender, status) + 1,
      saidFrom: said?.saidFrom ?? takenAt,
      repeats: said === undefined ? 0 : said.repeats + 1,
    };
    const before = this.byTransaction.get(txId);
    this.byTransaction.set(txId, before === undefined ? [mark] : [...before, mark]);
    failures?.marks.add(mark);
    if (isRefusal) this.refused.add(txId);
    records.push(mark);
    this.count += 1;
    this.bytes += bytes;
    const same = this.of(txId).filter((one) => one.sender === mark.sender && one.status === status);
    const gone = same.slice(0, -KEPT_MAX);
    for (const one of gone) this.remove(one);
    return [...gone, ...this.makeRoom()];
  }

  /** Removes records that are too old, at most so many, and returns them. */
  expire(now: number, most: number): readonly StatusMark[] {
    const gone: StatusMark[] = [];
    const before = (now - this.limits.keepMs) / 1000;
    for (const records of this.bySender.values()) {
      for (let mark = records.oldest(); mark !== undefined; mark = records.oldest()) {
        if (gone.length >= most || mark.takenAt >= before) break;
        this.remove(mark);
        gone.push(mark);
      }
    }
    return gone;
  }

  private takenOf(txId: string, sender: string, status: OutcomeStatus): number {
    const last = this.of(txId).findLast((one) => one.sender === sender && one.status === status);
    return last?.taken ?? 0;
  }

  private saidBefore({ txId, sender, status, isRefusal }: StatusFacts): StatusMark | undefined {
    return this.of(txId).findLast(
      (one) => one.sender === sender && one.status === status && one.isRefusal === isRefusal,
    );
  }

  private failuresFor({ contractId, status }: StatusFacts): Failures | undefined {
    if (contractId === undefined || status === 'Success') return undefined;
    const found = this.byContract.get(contractId) ?? { contractId, marks: new Set() };
    this.byContract.set(found.contractId, found);
    return found;
  }

  private makeRoom(): StatusMark[] {
    const { recordsMax, bytesMax } = this.limits;
    const gone: StatusMark[] = [];
    while (this.count > recordsMax || this.bytes > bytesMax) {
      const size = this.count > recordsMax ? countOf : bytesOf;
      let longest: SenderRecords | undefined;
      for (const records of this.bySender.values()) {
        if (longest === undefined || size(records) > size(longest)) longest = records;
      }
      const mark = longest?.oldest();
      if (mark === undefined) break;
      this.remove(mark);
      gone.push(mark);
    }
    return gone;
  }

  private remove(mark: StatusMark): void {
    const { txId, sender, contractId, bytes } = mark;
    mark.isKept = false;
    this.count -= 1;
    this.bytes -= bytes;
    const left = this.of(txId).filter((one) => one !== mark);
    if (left.length === 0) this.byTransaction.delete(txId);
    else this.byTransaction.set(txId, left);
    if (!left.some(({ isRefusal }) => isRefusal)) this.refused.delete(txId);
    const failures = contractId === undefined ? undefined : this.byContract.get(contractId);
    failures?.marks.delete(mark);
    if (failures?.marks.size === 0) this.byContract.delete(failures.contractId);
    const records = this.bySender.get(sender);
    records?.removed(mark);
    if (records?.count === 0) this.bySender.delete(sender);
  }
}

const countOf = ({ count }: SenderRecords): number => count;
const bytesOf = ({ bytes }: SenderRecords): number => bytes;
