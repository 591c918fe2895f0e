/**
 * The container engine of a test: that of the machine where one answers, else one that all test files
 * of a run share, which a keeper (keeper.ts) starts and ends. A test that stops its engine gets a
 * private one.
 */
import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../child-environment.ts';
import { answers } from './api.ts';
import {
  type DaemonOptions,
  giveDisk,
  killDaemon,
  processesOf,
  removeDaemon,
  removeFolder,
  socketIn,
  startDaemon,
  stopDaemon,
  whyNoDaemon,
} from './daemon.ts';

export interface Engine {
  readonly socketPath: string;
  /** As the setting docker-engine.docker-host takes it. */
  readonly host: string;
}

export const KEEPER_PID = 'keeper.pid';
export const FAILED = 'failed';
export const lastUse = (folder: string): string => join(folder, 'last-use');

const DEFAULT_SOCKET = '/var/run/docker.sock';
const START_MS_MAX = 90_000;
const WAIT_MS = 100;
const USE_MS = 5000;

/** The engine, or the reason why there is none. */
export async function sharedEngine(): Promise<Engine | string> {
  const named = process.env['DOCKER_HOST'];
  const ofMachine = named?.startsWith('unix://') ? named.slice('unix://'.length) : DEFAULT_SOCKET;
  if (await answers(ofMachine)) return engineAt(ofMachine);
  const reason = whyNoDaemon();
  if (reason !== undefined) return reason;
  const folder = join(tmpdir(), 'platform-node-test-engine');
  const started = performance.now();
  while (!(await isInUse(folder))) {
    if (performance.now() - started > START_MS_MAX) return 'the shared engine does not start';
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
  setInterval(() => use(folder), USE_MS).unref();
  return engineAt(socketIn(folder));
}

export interface PrivateEngine extends Engine {
  /** Ends the engine and its containers in good order. */
  stop(): Promise<void>;
  /** As a crash: its containers live on. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** It accepts connections and answers nothing until `resume`. */
  hang(): void;
  resume(): void;
}

interface Scope {
  teardown(action: () => Promise<void>): void;
}

/**
 * An engine that only this test uses; with a size, on a disk that it has alone. Rejects where none can
 * start: ask whyNoDaemon first.
 */
export async function privateEngine(
  scope: Scope,
  { diskSize, ...options }: DaemonOptions & { readonly diskSize?: string } = {},
): Promise<PrivateEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'engine-'));
  if (diskSize !== undefined) giveDisk(folder, diskSize);
  let child = await startDaemon(folder, options);
  scope.teardown(() => removeDaemon(child, folder));
  return {
    ...engineAt(socketIn(folder)),
    stop: () => stopDaemon(child),
    kill: () => killDaemon(child, folder),
    async start() {
      child = await startDaemon(folder, options);
    },
    hang: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  };
}

const engineAt = (socketPath: string): Engine => ({ socketPath, host: `unix://${socketPath}` });

/** True once the shared engine answers and knows that it is used. Starts it where it is missing. */
async function isInUse(folder: string): Promise<boolean> {
  if (begin(folder)) return false;
  if (existsSync(join(folder, FAILED))) {
    const why = readFileSync(join(folder, FAILED), 'utf8');
    rmSync(folder, { recursive: true, force: true });
    throw new Error(why);
  }
  if (isAbandoned(folder)) moveAway(folder);
  return use(folder) && (await answers(socketIn(folder)));
}

/** Only one of several test files makes the folder, and that one starts the keeper. */
function begin(folder: string): boolean {
  try {
    mkdirSync(folder);
  } catch {
    return false;
  }
  closeSync(openSync(lastUse(folder), 'w'));
  const keeper = fileURLToPath(new URL('keeper.ts', import.meta.url));
  // The runner ends every process of a test file that carries its mark.
  const { TEST_FILE_RUN: _mark, ...env } = childEnvironment();
  spawn(process.execPath, ['--disable-warning=ExperimentalWarning', keeper, folder], {
    detached: true,
    stdio: 'ignore',
    env,
  }).unref();
  return true;
}

function use(folder: string): boolean {
  try {
    const now = new Date();
    utimesSync(lastUse(folder), now, now);
    return true;
  } catch {
    return false;
  }
}

/** The keeper was killed, by a restart of the machine for example. */
function isAbandoned(folder: string): boolean {
  try {
    process.kill(Number(readFileSync(join(folder, KEEPER_PID), 'utf8')), 0);
    return false;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

function moveAway(folder: string): void {
  const moved = mkdtempSync(join(tmpdir(), 'abandoned-engine-'));
  // Those that begin after the move belong to the next engine.
  const processes = processesOf(folder);
  try {
    renameSync(folder, moved);
  } catch {
    // Another test file was faster.
    rmSync(moved, { recursive: true, force: true });
    return;
  }
  for (const pid of processes) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
  removeFolder(moved);
}
