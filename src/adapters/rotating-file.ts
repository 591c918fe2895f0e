/**
 * A text file that is only appended to. Once it has its most bytes it becomes `<path>.1`, the one
 * before `<path>.2`, and so on; the oldest is deleted. Only the user of the process may read it.
 *
 * Another process may rename or delete the file: within a second of a line that it has not got, or at
 * `reopen`, the next line begins another one at the path.
 *
 * Lines wait in memory while earlier ones are written, so that a slow disk holds nobody up, and are
 * synchronised with the disk within a second. What the disk refuses is tried again.
 */
import { appendFileSync, closeSync, existsSync, openSync, statSync } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { leave } from './file-owner.ts';

export interface RotatingFileOptions {
  readonly path: string;
  /** A file may be longer by the lines that were written together. */
  readonly bytesMax: number;
  /** Files in all, from 1. */
  readonly filesMax: number;
}

const MODE = 0o600;
const WAITING_CHARS_MAX = 4 * 1024 * 1024;
const SYNC_MS = 1000;
const RETRY_MS = 1000;
const LOOK_MS = 1000;

export class RotatingFile {
  private readonly options: RotatingFileOptions;
  private readonly onTrouble: (why: Error | undefined) => void;
  private waiting: string[] = [];
  private waitingChars = 0;
  private file: FileHandle | undefined;
  private bytes = 0;
  private isMoved = false;
  private lookedAt = 0;
  private syncing: NodeJS.Timeout | undefined;
  private hasTrouble = false;
  private readonly ending = new AbortController();
  private writing: Promise<void> | undefined;

  /** `onTrouble` is told once that lines cannot be written, and once, without a cause, that they can. */
  constructor(options: RotatingFileOptions, onTrouble: (why: Error | undefined) => void) {
    this.options = options;
    this.onTrouble = onTrouble;
  }

  /** Throws where the file cannot be opened, or is none: a pipe would hold the process up. */
  start(): void {
    const { path } = this.options;
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isFile() === false) throw new Error(`'${path}' is no regular file`);
    closeSync(openSync(path, 'a', MODE));
    leave(path);
  }

  /** `line` ends with a line feed. False where too many lines wait; then it is dropped. */
  write(line: string): boolean {
    if (this.waitingChars + line.length > WAITING_CHARS_MAX) return false;
    this.waiting.push(line);
    this.waitingChars += line.length;
    this.writing ??= this.writeAll();
    return true;
  }

  /** The next line goes to the file that is at the path then. */
  reopen(): void {
    this.isMoved = true;
  }

  /** Writes what waits before it returns, unless the disk refuses it: for the end of a process. */
  flush(): void {
    const text = this.waiting.join('');
    this.waiting = [];
    this.waitingChars -= text.length;
    try {
      appendFileSync(this.options.path, text, { mode: MODE });
    } catch (why) {
      this.tell(why as Error);
    }
  }

  /** Writes what waits, unless the disk refuses it. */
  async stop(): Promise<void> {
    this.ending.abort();
    await this.writing;
    clearTimeout(this.syncing);
    await this.file?.datasync().catch(() => undefined);
    await this.file?.close();
  }

  private async writeAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const text = this.waiting.join('');
      this.waiting = [];
      try {
        await this.append(text);
        this.waitingChars -= text.length;
        this.tell(undefined);
      } catch (why) {
        this.tell(why as Error);
        // The disk may have taken a part of it, so the first line begins anew.
        this.waiting.unshift(text.startsWith('\n') ? text : `\n${text}`);
        const { signal } = this.ending;
        if (signal.aborted) break;
        await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    this.writing = undefined;
  }

  private async append(text: string): Promise<void> {
    if (this.file !== undefined) {
      await this.look(this.file);
      if (this.isMoved) await this.leave(this.file);
    }
    this.file ??= await this.open();
    if (this.bytes >= this.options.bytesMax) await this.rotate(this.file);
    await this.file!.appendFile(text);
    this.bytes += Buffer.byteLength(text);
    this.syncing ??= setTimeout(() => this.sync(), SYNC_MS).unref();
  }

  private async open(): Promise<FileHandle> {
    const file = await open(this.options.path, 'a', MODE);
    leave(this.options.path);
    this.bytes = (await file.stat()).size;
    this.isMoved = false;
    this.lookedAt = performance.now();
    return file;
  }

  private async leave(file: FileHandle): Promise<void> {
    await file.datasync();
    this.file = undefined;
    await file.close();
  }

  private sync(): void {
    this.syncing = undefined;
    const { file } = this;
    if (file === undefined) return;
    file.datasync().then(
      () => this.look(file),
      (why: Error) => this.tell(why),
    );
  }

  /** Notices that the path has another file now, or none. */
  private async look(file: FileHandle): Promise<void> {
    if (this.isMoved || performance.now() - this.lookedAt < LOOK_MS) return;
    this.lookedAt = performance.now();
    const [own, there] = await Promise.all(
      [file.stat(), stat(this.options.path)].map((found) => found.catch(() => undefined)),
    );
    // It has been closed meanwhile.
    if (own === undefined || file !== this.file) return;
    this.isMoved = own.ino !== there?.ino || own.dev !== there.dev;
    if (own.nlink === 0) this.tell(new Error('it was deleted while it was in use'));
  }

  private async rotate(full: FileHandle): Promise<void> {
    this.lookedAt = Number.NEGATIVE_INFINITY;
    await this.look(full);
    const isMoved = this.isMoved;
    await this.leave(full);
    // Where another process has made room, there is nothing to rename.
    const why = isMoved ? undefined : await this.makeRoom().catch((cause: Error) => cause);
    this.file = await this.open();
    if (why === undefined) return;
    // It goes on with the same file, and tries again once that has grown as much again.
    this.bytes = 0;
    this.tell(why);
  }

  private async makeRoom(): Promise<undefined> {
    const { path, filesMax } = this.options;
    const nameOf = (age: number): string => (age === 0 ? path : `${path}.${age}`);
    if (filesMax === 1) await rm(path, { force: true });
    for (let age = filesMax - 2; age >= 0; age--) {
      if (existsSync(nameOf(age))) await rename(nameOf(age), nameOf(age + 1));
    }
  }

  private tell(why: Error | undefined): void {
    if ((why === undefined) === !this.hasTrouble) return;
    this.hasTrouble = why !== undefined;
    this.onTrouble(why);
  }
}
