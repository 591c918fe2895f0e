/** Who did what with a key, as lines of JSON in a file (docs/guide/operations.md). */
import type { AuditEntry, AuditLog, Log } from '../base/ports.ts';
import { RotatingFile, type RotatingFileOptions } from './rotating-file.ts';

export class AuditFile implements AuditLog {
  private readonly file: RotatingFile;
  /** Entries for which there was no room since the last one. */
  private dropped = 0;

  constructor(options: RotatingFileOptions, log: Log) {
    this.file = new RotatingFile(options, (why) => {
      if (why === undefined) log.info('audit.write-works');
      else log.error('audit.write-failed', { why: why.message });
    });
  }

  /** Throws where the file cannot be opened. */
  start(): void {
    this.file.start();
  }

  record(entry: AuditEntry): void {
    const missing = this.dropped === 0 ? {} : { dropped: this.dropped };
    const line = { time: new Date().toISOString(), ...entry, ...missing };
    if (this.file.write(`${JSON.stringify(line)}\n`)) this.dropped = 0;
    else this.dropped += 1;
  }

  stop(): Promise<void> {
    return this.file.stop();
  }
}
