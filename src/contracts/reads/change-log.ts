/**
 * The rows that the results of executions have changed while others were under way. An execution
 * that has read such a row before it changed would have given a result that belongs to no order of
 * the block.
 */
import { apiError } from '../../base/errors.ts';
import { keyText } from '../../ledger/key-codecs.ts';
import type { Written } from '../../ledger/ledger.ts';
import { ReadRanges } from './read-ranges.ts';

interface ChangedRow {
  readonly name: string;
  readonly table: number;
  readonly key: Uint8Array;
}

const rowName = (table: number, keyAsText: string): string => `${table} ${keyAsText}`;

export interface ChangeLog {
  /** The number of changes so far. */
  readonly position: number;
  add(changes: Iterable<Pick<Written, 'table' | 'key'>>): void;
  /** The changes from this position on. */
  from(position: number): readonly ChangedRow[];
}

export function createChangeLog(): ChangeLog {
  const rows: ChangedRow[] = [];
  return {
    get position() {
      return rows.length;
    },
    add(changes) {
      for (const { table, key } of changes) {
        rows.push({ name: rowName(table.id, keyText(key)), table: table.id, key });
      }
    },
    from: (position) => rows.slice(position),
  };
}

/** What one execution has read, and when. */
export class ReadSet {
  private readonly log: ChangeLog;
  private readonly rangesMax: number;
  /** Row → position of the log at its first read. */
  private readonly rows = new Map<string, number>();
  private readonly ranges = new Map<number, ReadRanges>();
  private rangeCount = 0;
  private first: number | undefined;

  constructor(log: ChangeLog, rangesMax: number) {
    this.log = log;
    this.rangesMax = rangesMax;
  }

  row(table: number, keyAsText: string): void {
    const name = rowName(table, keyAsText);
    if (!this.rows.has(name)) this.rows.set(name, this.now());
  }

  /** Throws ApiError AnswerTooBig where there are too many different ranges. */
  range(table: number, from: Uint8Array, to: Uint8Array): void {
    const ranges = this.ranges.get(table) ?? new ReadRanges();
    this.ranges.set(table, ranges);
    this.rangeCount += ranges.add(from, to, this.now());
    if (this.rangeCount <= this.rangesMax) return;
    throw apiError('AnswerTooBig', `one execution reads at most ${this.rangesMax} ranges`);
  }

  /** True where a row has changed since it was read. */
  isStale(): boolean {
    const first = this.first ?? this.log.position;
    return this.log.from(first).some((change, i) => this.readBefore(change, first + i));
  }

  private now(): number {
    this.first ??= this.log.position;
    return this.log.position;
  }

  private readBefore({ name, table, key }: ChangedRow, position: number): boolean {
    const read = this.rows.get(name);
    if (read !== undefined && read <= position) return true;
    return this.ranges.get(table)?.hasReadBefore(key, position) ?? false;
  }
}
