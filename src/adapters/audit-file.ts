/** Who did what with a key, as lines of JSON in a file (docs/guide/operations.md). */
import type { AuditEntry, AuditLog } from '../base/ports/audit-log.ts';
import type { Log } from '../base/ports/log.ts';
import { RotatingFile, type RotatingFileOptions } from './rotating-file.ts';

export class AuditFile implements AuditLog {
  private readonly file: RotatingFile;
  /** Anybody can cause refusals. They have a file of their own, so they displace no entry of a key. */
  private readonly refusals: RotatingFile;
  /** Entries for which there was no room since the last one. */
  private dropped = 0;

  constructor(options: RotatingFileOptions, log: Log) {
    const onTrouble = (why: Error | undefined): void => {
      if (why === undefined) log.info('audit.write-works');
      else log.error('audit.write-failed', { why: why.message });
    };
    this.file = new RotatingFile(options, onTrouble);
    this.refusals = new RotatingFile({ ...options, path: `${options.path}.refusals` }, onTrouble);
  }

  /** Throws where a file cannot be opened. */
  start(): void {
    this.file.start();
    this.refusals.start();
  }

  /** The next entries go to the files that are at the paths then. */
  reopen(): void {
    this.file.reopen();
    this.refusals.reopen();
  }

  record(entry: AuditEntry): void {
    const missing = this.dropped === 0 ? {} : { dropped: this.dropped };
    const line = { time: new Date().toISOString(), ...entry, ...missing };
    const file = entry.why === undefined ? this.file : this.refusals;
    if (file.write(`${JSON.stringify(line)}\n`)) this.dropped = 0;
    else this.dropped += 1;
  }

  async stop(): Promise<void> {
    await Promise.all([this.file.stop(), this.refusals.stop()]);
  }
}
