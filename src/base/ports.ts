/**
 * Every way out of the process, as interfaces. Only `src/adapters/` implements them with Node's own
 * modules. Everything else receives them as arguments. That is why a whole network can run in one
 * process, on virtual time, from one seed.
 */

/**
 * The time of day and the passing of time. The time of day may jump forward and back while the node
 * runs, so it serves only for times that nodes compare. Durations are differences of `monotonic`.
 */
export interface Clock {
  /** Time of day corrected by time servers, in milliseconds since 1970-01-01 UTC. */
  now(): number;
  /** Milliseconds since an arbitrary moment; it never jumps and never goes back. */
  monotonic(): number;
  /** The uncorrected system time, for GET /utils/time. */
  system(): number;
  /** Calls `action` once after `ms`; the returned function cancels it. */
  after(ms: number, action: () => void): () => void;
  /** Resolves once everything else that waits in the event loop has run. */
  turn(): Promise<void>;
  /** False once the time was unconfirmed for too long; a miner then makes no blocks (H-6). */
  synchronized(): boolean;
  /** True while the time servers confirm the time of day; absent: none are asked. */
  confirmed?(): boolean;
}

export interface Random {
  bytes(count: number): Uint8Array;
}

/** One signature to check. */
export interface SignatureCheck {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

/** Signature checks, possibly on other threads. */
export interface Verifier {
  verifyOne(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean>;
  /** Verdicts in the order of the items. */
  verify(items: readonly SignatureCheck[]): Promise<boolean[]>;
  /** Checks not yet answered; absent where checks run at once. */
  readonly pending?: number;
  close(): Promise<void>;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, unknown>>;

/** Structured log: an event name and fields. It contains no prose and no secrets. */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

/** One request to a method that needs a key. It contains no secret. */
export interface AuditEntry {
  /** `HttpRequest.id` */
  readonly request: string;
  /** Whose key it was: its name, or the setting that has its hash; absent: of nobody, or none. */
  readonly key?: string | undefined;
  /** Of the client, as the connection shows it. */
  readonly address: string;
  readonly method: string;
  readonly path: string;
  /** Of the answer. */
  readonly status: number;
  /** The reason of a refusal for want of a right. */
  readonly why?: string;
  /** Refusals since the last entry that were too many to be recorded. */
  readonly unrecorded?: number;
}

/** Keeps who did what with a key. `record` never throws and waits for nothing. */
export interface AuditLog {
  record(entry: AuditEntry): void;
}

/** Values of the labels that the metric declares. */
export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  add(amount?: number, labels?: Labels): void;
}
export interface Gauge {
  set(value: number, labels?: Labels): void;
  /** Nobody knows its value any more: it is not shown until it is set again. */
  remove(labels?: Labels): void;
}
export interface Histogram {
  observe(seconds: number, labels?: Labels): void;
  /** Begins a measurement; the returned function ends it. */
  start(labels?: Labels): () => void;
}

/** Metrics sink; names are listed in node/metrics/observability.ts. */
export interface Metrics {
  counter(name: string, help: string, labels?: readonly string[]): Counter;
  gauge(name: string, help: string, labels?: readonly string[]): Gauge;
  histogram(
    name: string,
    help: string,
    bounds: readonly number[],
    labels?: readonly string[],
  ): Histogram;
  /** Called before the values are read, to look up values that are not counted as they change. */
  onRead(action: () => void): void;
}

/** Delay of timers of a thread, in seconds, by quantile. */
export interface LoopDelay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** What the process reads about itself. */
export interface ProcessReadings {
  /** Of the main thread, since the last call. */
  loopDelay(): LoopDelay;
  /** Bytes of memory that the process holds. */
  residentBytes(): number;
  heapBytes(): number;
  /** Seconds of processor time since the start. */
  cpuSeconds(): number;
  /** Seconds since 1970 at which the process began. */
  startSeconds(): number;
}

/** One change of one key in one table; `value` absent means removal. */
export interface StoreWrite {
  readonly table: number;
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
}

/** A consistent view of all tables. Byte results are copies that the caller may keep. */
export interface StoreView {
  /**
   * The bytes do not change, but may share memory with those of other rows: who keeps them for long
   * copies them.
   */
  get(table: number, key: Uint8Array): Uint8Array | undefined;
  /**
   * Entries with `from` ≤ key < `to` in key order (or the same entries backwards), at most `limit`.
   * Both bounds are mandatory, so that no code walks a whole table by accident.
   */
  range(
    table: number,
    from: Uint8Array,
    to: Uint8Array,
    limit: number,
    reverse?: boolean,
  ): Iterable<readonly [Uint8Array, Uint8Array]>;
}

/** The ordered key-value store below the ledger. Table numbers are those of ledger/tables.ts. */
export interface Store extends StoreView {
  /**
   * Applies all writes in one durable transaction, or none of them. Writes apply in the order of
   * the calls. Until the promise resolves, views show the state before it. `landed` runs in the
   * same step in which views begin to show the new state. The bytes of the rows must not change
   * until then.
   */
  write(writes: Iterable<StoreWrite>, landed?: () => void): Promise<void>;
  /** A frozen view. The caller must release it within seconds, since it keeps old pages alive. */
  snapshot(): StoreView & { release(): void };
  /** Bytes on disk, 0 for a store in memory. */
  size(): number;
  /**
   * Why the store cannot be trusted, after damage or a failed write; absent where the store cannot
   * tell.
   */
  problem?(): string | undefined;
  close(): Promise<void>;
}

/**
 * An append-only log of records with group commit: `append` resolves once the record is durable.
 * Incomplete records at the end of a log, left by a crash, are dropped when it is opened; behind
 * damage it goes on with the next whole record.
 */
export interface Journal {
  /**
   * Rejects with JournalFullError, or JournalTooLongError. `isNeeded`: finds room also where those of
   * clients find none.
   */
  append(record: Uint8Array, isNeeded?: boolean): Promise<void>;
  /**
   * Replaces the whole log by these records, atomically. They are read while they are written, so
   * that a long log never lies in memory as a whole.
   */
  rewrite(records: Iterable<Uint8Array>): Promise<void>;
  /** Records found when the journal was opened. */
  readonly recovered: readonly Uint8Array[];
  /** Damaged places found when the journal was opened; absent: none. */
  readonly damagedPlaces?: number;
  close(): Promise<void>;
}

/** The disk of the node's data. */
export interface DiskSpace {
  /** Bytes that this process may still write. */
  freeBytes(): Promise<number>;
}

/** Small named files that are replaced atomically (keystore, peers). */
export interface Files {
  read(path: string): Uint8Array | undefined;
  /** tmp → fsync → rename; a new file has mode 0600 when `secret`. */
  replace(path: string, bytes: Uint8Array, options?: { secret?: boolean }): void;
}
