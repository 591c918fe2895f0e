/**
 * Runs the `platform-node` command as a separate process and ends it with the test in any case.
 * Nothing here sleeps: every wait is for a line, an exit or a deadline.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../../child-environment.ts';

export const COMMAND = fileURLToPath(new URL('../../../bin/platform-node', import.meta.url));
/** Processes start slowly on a machine that is busy with other tests. */
const WAIT_MS_MAX = 60_000;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Written to stdin, which is then closed. */
  readonly input?: string;
  /** Its own children end with it, for programs that start the node as a child. */
  readonly withChildren?: true;
}

export interface Command {
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly exit: Promise<Exit>;
  kill(signal: NodeJS.Signals): void;
  /** The first line of one of the outputs that matches; rejects when the command ends before. */
  line(where: 'stdout' | 'stderr', pattern: RegExp): Promise<string>;
}

/** What a test has to offer for cleaning up: tap's `t` does. */
export interface Scope {
  teardown(action: () => unknown): void;
}

export const startCommand = (
  scope: Scope,
  args: readonly string[],
  options: CommandOptions = {},
): Command => startProgram(scope, COMMAND, args, options);

/** As `startCommand`, for any program. */
export function startProgram(
  scope: Scope,
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Command {
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: childEnvironment(options.env),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    // Makes it the leader of a group, which can be ended as a whole.
    detached: options.withChildren === true,
  });
  const texts = { stdout: '', stderr: '' };
  const watchers = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
      for (const watch of watchers) watch();
    });
  }
  // A command that ends without reading its input is no failure of the test.
  child.stdin.on('error', () => {});
  child.stdin.end(options.input ?? '');
  const exit = exitOf(child);
  scope.teardown(async () => {
    if (options.withChildren === true) endGroup(child);
    else child.kill('SIGKILL');
    await exit;
  });
  return {
    pid: child.pid ?? 0,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    exit,
    kill: (signal) => void child.kill(signal),
    line: (where, pattern) =>
      new Promise((resolve, reject) => {
        const finish = (action: () => void): void => {
          watchers.delete(look);
          clearTimeout(deadline);
          action();
        };
        // Each line is looked at once, since a node may say much.
        let seen = 0;
        const look = (): void => {
          const end = texts[where].lastIndexOf('\n') + 1;
          const lines = texts[where].slice(seen, end).split('\n');
          seen = end;
          const found = lines.find((line) => pattern.test(line));
          if (found !== undefined) finish(() => resolve(found));
        };
        const fail = (why: string): void =>
          finish(() => reject(new Error(`${args.join(' ')}: ${why}\n${texts.stderr}`)));
        const deadline = setTimeout(() => fail(`no line matches ${pattern}`), WAIT_MS_MAX);
        watchers.add(look);
        exit.then(({ code, signal }) => fail(`ended with ${code ?? signal}`));
        look();
      }),
  };
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (cause) {
    // Nobody of it is left.
    if ((cause as NodeJS.ErrnoException).code !== 'ESRCH') throw cause;
  }
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
}

/** Asks again and again until the answer is not undefined. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined> | T | undefined,
  waitMs = WAIT_MS_MAX,
): Promise<T> {
  const deadline = Date.now() + waitMs;
  for (let pauseMs = POLL_MS; ; pauseMs = Math.min(POLL_MS_MAX, pauseMs * POLL_GROWTH)) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error(`it never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** What takes seconds is asked for less often, since other tests run beside it. */
const POLL_MS = 25;
const POLL_MS_MAX = 250;
const POLL_GROWTH = 1.2;
