/**
 * Which status records are kept, in memory; the records themselves are on the disk
 * (status-store.ts).
 *
 * Invariants: there are never more records or bytes than allowed; the sender with the most makes
 * room for others, so a flood drives out its own records first; of one sender, transaction and
 * status only the newest records are kept, and only so many are ever taken, so a miner that repeats
 * itself costs little.
 */
import type { OutcomeStatus } from '../status-report.ts';

/** What is known of a record without reading it. Texts are Latin-1. */
export interface StatusMark {
  /** Key of its row: transaction id and hash. */
  readonly row: string;
  readonly txId: string;
  /** Public key. */
  readonly sender: string;
  readonly status: OutcomeStatus;
  /** The contract of the transaction, where this node knows it. */
  readonly contractId: string | undefined;
  readonly bytes: number;
  /** When it was taken. */
  readonly takenAt: number;
}

export interface IndexLimits {
  readonly recordsMax: number;
  readonly bytesMax: number;
  readonly keepMs: number;
}

/** Of one sender, transaction and status. */
export const KEPT_MAX = 2;
export const TAKEN_MAX = 50;

interface Repeated {
  readonly sender: string;
  readonly status: OutcomeStatus;
  readonly marks: StatusMark[];
  taken: number;
}

/** The records of one sender, the oldest first; removed ones stay in the list for a while. */
class Line {
  private list: StatusMark[] = [];
  private start = 0;
  count = 0;
  bytes = 0;

  push(mark: StatusMark): void {
    this.list.push(mark);
    this.count += 1;
    this.bytes += mark.bytes;
  }

  removed(mark: StatusMark): void {
    this.count -= 1;
    this.bytes -= mark.bytes;
  }

  /** The oldest record that is kept. */
  oldest(isKept: (mark: StatusMark) => boolean): StatusMark | undefined {
    for (; this.start < this.list.length; this.start++) {
      const mark = this.list[this.start]!;
      if (isKept(mark)) return mark;
    }
    this.list = [];
    this.start = 0;
    return undefined;
  }

  /** Frees the places of removed records. */
  compact(isKept: (mark: StatusMark) => boolean): void {
    if (this.list.length < 2 * this.count + 1000) return;
    this.list = this.list.slice(this.start).filter(isKept);
    this.start = 0;
  }
}

export class StatusIndex {
  private readonly limits: IndexLimits;
  private readonly rows = new Map<string, StatusMark>();
  private readonly byTransaction = new Map<string, Repeated[]>();
  private readonly byContract = new Map<string, Set<StatusMark>>();
  private readonly lines = new Map<string, Line>();
  /** Transactions with an error. */
  private readonly refused = new Set<string>();
  private bytes = 0;
  private readonly isKept = (mark: StatusMark): boolean => this.rows.get(mark.row) === mark;

  constructor(limits: IndexLimits) {
    this.limits = limits;
  }

  get size(): number {
    return this.rows.size;
  }

  has(row: string): boolean {
    return this.rows.has(row);
  }

  hasTransaction(txId: string): boolean {
    return this.byTransaction.has(txId);
  }

  /** True where the sender has said this of the transaction too often. */
  isRepeated(txId: string, sender: string, status: OutcomeStatus): boolean {
    const found = this.byTransaction.get(txId)?.find(sameAs(sender, status));
    return found !== undefined && found.taken >= TAKEN_MAX;
  }

  of(txId: string): readonly StatusMark[] {
    return this.byTransaction.get(txId)?.flatMap(({ marks }) => marks) ?? [];
  }

  /** The records of a contract's transactions that did not succeed, the newest first. */
  failuresOf(contractId: string, most: number): readonly StatusMark[] {
    return [...(this.byContract.get(contractId) ?? [])].slice(-most).reverse();
  }

  /** The transactions for which any sender reported an error. */
  refusedTransactions(): Iterable<string> {
    return this.refused;
  }

  /** The senders that reported an error of the transaction. */
  refusersOf(txId: string): readonly string[] {
    const reports = this.byTransaction.get(txId) ?? [];
    return reports.filter(({ status }) => status === 'Error').map(({ sender }) => sender);
  }

  /** Returns the records that make room. */
  add(mark: StatusMark): readonly StatusMark[] {
    const { txId, sender, status, contractId } = mark;
    const reports = this.byTransaction.get(txId) ?? [];
    this.byTransaction.set(txId, reports);
    let repeated = reports.find(sameAs(sender, status));
    if (repeated === undefined) {
      repeated = { sender, status, marks: [], taken: 0 };
      reports.push(repeated);
    }
    repeated.taken += 1;
    repeated.marks.push(mark);
    if (status === 'Error') this.refused.add(txId);
    if (contractId !== undefined && status !== 'Success') {
      const failures = this.byContract.get(contractId) ?? new Set();
      this.byContract.set(contractId, failures.add(mark));
    }
    this.rows.set(mark.row, mark);
    this.bytes += mark.bytes;
    const line = this.lines.get(sender) ?? new Line();
    this.lines.set(sender, line);
    line.push(mark);
    const gone = repeated.marks.slice(0, -KEPT_MAX);
    for (const one of gone) this.remove(one);
    return [...gone, ...this.makeRoom()];
  }

  /** Removes records that are too old, at most so many, and returns them. */
  expire(now: number, most: number): readonly StatusMark[] {
    const gone: StatusMark[] = [];
    for (const line of this.lines.values()) {
      let mark = line.oldest(this.isKept);
      while (mark !== undefined && gone.length < most && now - mark.takenAt > this.limits.keepMs) {
        this.remove(mark);
        gone.push(mark);
        mark = line.oldest(this.isKept);
      }
    }
    return gone;
  }

  private makeRoom(): StatusMark[] {
    const { recordsMax, bytesMax } = this.limits;
    const gone: StatusMark[] = [];
    while (this.rows.size > recordsMax || this.bytes > bytesMax) {
      const size = this.rows.size > recordsMax ? countOf : bytesOf;
      let longest: Line | undefined;
      for (const line of this.lines.values()) {
        if (longest === undefined || size(line) > size(longest)) longest = line;
      }
      const mark = longest?.oldest(this.isKept);
      if (mark === undefined) break;
      this.remove(mark);
      gone.push(mark);
    }
    return gone;
  }

  private remove(mark: StatusMark): void {
    const { row, txId, sender, contractId } = mark;
    this.rows.delete(row);
    this.bytes -= mark.bytes;
    const reports = this.byTransaction.get(txId) ?? [];
    const repeated = reports.find(({ marks }) => marks.includes(mark));
    repeated?.marks.splice(repeated.marks.indexOf(mark), 1);
    const left = reports.filter(({ marks }) => marks.length > 0);
    if (left.length === 0) this.byTransaction.delete(txId);
    else this.byTransaction.set(txId, left);
    if (!left.some(({ status }) => status === 'Error')) this.refused.delete(txId);
    const failures = contractId === undefined ? undefined : this.byContract.get(contractId);
    if (failures?.delete(mark) === true && failures.size === 0) {
      this.byContract.delete(contractId!);
    }
    const line = this.lines.get(sender);
    if (line === undefined) return;
    line.removed(mark);
    if (line.count === 0) this.lines.delete(sender);
    else line.compact(this.isKept);
  }
}

const sameAs =
  (sender: string, status: OutcomeStatus) =>
  (one: Repeated): boolean =>
    one.sender === sender && one.status === status;
const countOf = ({ count }: Line): number => count;
const bytesOf = ({ bytes }: Line): number => bytes;
