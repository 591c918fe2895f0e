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
  /** A file that was renamed is left, and another one begins at its path. */
  reopen?(): void;
}
