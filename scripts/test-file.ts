/**
 * Runs one test file in its own process group, reads the TAP that it prints, and leaves no process
 * behind. There is a result even if the file hangs, crashes, is killed or prints nothing.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Parser } from 'tap-parser';
import { stringify } from 'yaml';

export interface TestRun {
  readonly file: string;
  /** Variables that change what the file does. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface FileResult {
  /** With the values of the run's variables. */
  readonly file: string;
  /** Assertions, as in every TAP summary. */
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
  readonly seconds: number;
}

export interface Failure {
  /** Names of the test and the tests around it. */
  readonly name: string;
  readonly details: string;
}

/** Time for a test file to report its own time-out, and for output that is still in a pipe. */
const GRACE_MS = 5000;
/** tap has a timer of its own with the same time, and knows best what it waits for. */
const HEAD_START_MS = 1000;
/** Marks every process that descends from a test file; a group holds only some of them. */
const MARK = 'TEST_FILE_RUN';
/** Node compiles each module once for all files and their processes, a third of a small file's time. */
const COMPILE_CACHE = resolve('node_modules/.cache/compile');
const FLAGS = [
  // Threads of the engine beside files that run side by side take a twentieth of the processors.
  '--v8-pool-size=0',
  '--disable-warning=ExperimentalWarning',
  ...['stripped-types.cjs', 'tap-in-one-file.cjs', 'test-domain.cjs'].map(
    (file) => `--require=${join(import.meta.dirname, file)}`,
  ),
];

export class TestFile {
  private readonly file: string;
  private readonly run = randomUUID();
  private readonly child: ChildProcess;
  private readonly parser = new Parser();
  private readonly openTests: string[] = [];
  private lastTest: string | undefined;
  private readonly failures: Failure[] = [];
  private readonly counts = { passed: 0, skipped: 0 };
  private readonly timers = new Set<NodeJS.Timeout>();
  private timedOutAfterMs: number | undefined;

  /** A quiet file prints nothing beside its result. */
  constructor({ file, env = {} }: TestRun, timeoutMs: number, isQuiet = false) {
    this.file = [file, ...Object.values(env)].join('+');
    this.listen(this.parser);
    this.parser.on('pass', () => this.counts.passed++);
    for (const kind of ['skip', 'todo']) this.parser.on(kind, () => this.counts.skipped++);
    this.parser.on('fail', ({ fullname, diag }) => {
      this.failures.push({ name: fullname, details: diag ? stringify(diag) : '' });
    });
    if (!isQuiet) this.parser.on('extra', (text: string) => process.stdout.write(text));
    this.child = spawn(process.execPath, [...FLAGS, file], {
      stdio: ['ignore', 'pipe', isQuiet ? 'ignore' : 'inherit', 'ipc'],
      env: { ...process.env, ...env, ...this.variables(), TAP_TIMEOUT: String(timeoutMs / 1000) },
      detached: true,
    });
    this.endAfter(timeoutMs);
    this.child.on('message', (message: { key?: string; setTimeout?: number }) => {
      const asked = message.key === this.run ? message.setTimeout : undefined;
      if (asked !== undefined) this.endAfter(asked);
    });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => this.parser.write(text));
  }

  /** By those of TAP tap knows who asks it to give up, and to whom it tells its own time-out. */
  private variables(): Record<string, string> {
    return {
      TAP: '1',
      TAP_CHILD_ID: '1',
      TAP_CHILD_KEY: this.run,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      [MARK]: this.run,
    };
  }

  async result(): Promise<FileResult> {
    const started = performance.now();
    const closed = once(this.child, 'close');
    const [code, signal] = (await once(this.child, 'exit')) as [number | null, string | null];
    for (const timer of this.timers) clearTimeout(timer);
    this.killAll(code !== 0);
    // A process outside the group may hold the pipe: its output is not waited for.
    await Promise.race([closed, this.wait(GRACE_MS)]);
    for (const timer of this.timers) clearTimeout(timer);
    const unfinished = this.openTests.at(-1);
    this.parser.end();
    const problem = this.problem(code, signal);
    if (problem !== undefined) {
      // tap announces a test with its first assertion.
      const where = unfinished ?? (this.lastTest && `after ${this.lastTest}`);
      const name = where === undefined ? problem : `${where}: ${problem}`;
      this.failures.push({ name, details: '' });
    }
    return {
      file: this.file,
      ...this.counts,
      failed: this.failures.length,
      failures: this.failures,
      seconds: (performance.now() - started) / 1000,
    };
  }

  /** What is wrong with the file as a whole; its failed assertions say the rest. */
  private problem(code: number | null, signal: string | null): string | undefined {
    const isKnown = this.failures.length > 0;
    if (this.timedOutAfterMs !== undefined) {
      return isKnown ? undefined : `no end after ${this.timedOutAfterMs / 1000} s`;
    }
    if (signal === 'SIGALRM' && isKnown) return undefined;
    if (signal !== null) return `ended by ${signal}`;
    if (isKnown) return undefined;
    if (code !== 0) return `ended with code ${code}`;
    const wrong = this.parser.results?.failures[0]?.tapError;
    if (wrong) return String(wrong);
    return this.counts.passed + this.counts.skipped === 0 ? 'no test ran' : undefined;
  }

  /** Names of the tests that have begun and not ended, outermost first. */
  private listen(parser: Parser): void {
    parser.on('child', (child: Parser) => {
      this.openTests.push(child.fullname);
      child.once('complete', () => {
        this.lastTest = child.fullname;
        const at = this.openTests.indexOf(child.fullname);
        if (at >= 0) this.openTests.length = at;
      });
      this.listen(child);
    });
  }

  private wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.timers.add(setTimeout(resolve, ms)));
  }

  /** tap ends a test file that is late by itself and says what it was at; else it is killed. */
  private endAfter(ms: number): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
    if (ms === 0) return;
    const ask = (): void => {
      this.timedOutAfterMs = ms;
      if (this.child.connected) {
        this.child.send({ tapAbort: 'timeout', key: this.run, child: '1' }, () => {});
      }
      this.timers.add(setTimeout(() => this.child.kill('SIGKILL'), GRACE_MS));
    };
    this.timers.add(setTimeout(ask, ms + HEAD_START_MS));
  }

  /** Ends the file and all that it started. */
  kill(): void {
    this.child.kill('SIGKILL');
  }

  private killAll(everywhere: boolean): void {
    const { pid } = this.child;
    if (pid !== undefined) kill(-pid);
    if (everywhere) for (const marked of processesWith(`${MARK}=${this.run}`)) kill(marked);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (cause) {
    // It has ended by itself.
    if ((cause as NodeJS.ErrnoException).code !== 'ESRCH') throw cause;
  }
}

/** Where the system tells the environment of a process; elsewhere the group must do. */
function processesWith(variable: string): number[] {
  let pids: string[] = [];
  try {
    pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  return pids.filter((pid) => environmentOf(pid).includes(variable)).map(Number);
}

function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    // It has ended meanwhile, or belongs to another user.
    return [];
  }
}
