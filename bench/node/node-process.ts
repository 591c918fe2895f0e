/** A real node in a separate process, started as an operator starts it. */
import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuSecondsOf } from '../measure/cpu.ts';
import { freePort } from '../measure/free-port.ts';
import { type Memory, memoryOf } from '../measure/memory.ts';
import type { DevFolder } from './dev-folder.ts';

export interface NodeProcess {
  readonly port: number;
  readonly pid: number;
  /** From the start of the process to its first answer. */
  readonly startMs: number;
  /** JSON of a GET; throws unless it is answered with 200. */
  get(path: string): Promise<unknown>;
  cpuSeconds(): number;
  memory(): Memory;
  /** Sends the signal, then waits for the end. */
  end(signal: NodeJS.Signals): Promise<Exit>;
  /** SIGTERM, then waits for the end. */
  stop(): Promise<void>;
  /** SIGKILL, then waits for the end. */
  kill(): Promise<void>;
}

/** One of the two is null. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface NodeOptions {
  /** `key=value` of the configuration. */
  readonly set?: readonly string[];
  /** Flags of Node itself, such as `--cpu-prof`. */
  readonly execArgv?: readonly string[];
  /** What the first answer is asked for; by default the height. */
  readonly firstPath?: string;
  /** Whose node it is, by default this one. */
  readonly checkout?: string | undefined;
}

/**
 * Makes the launcher run the sources instead of the bundle: a profile then names functions by their
 * files.
 */
export const FROM_SOURCES = '--import=data:text/javascript,';

const OWN_CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
const START_MS_MAX = 120_000;
const POLL_MS = 2;

export async function startNode(
  folder: Pick<DevFolder, 'dir' | 'config'>,
  options: NodeOptions = {},
): Promise<NodeProcess> {
  const port = await freePort();
  const program = join(options.checkout ?? OWN_CHECKOUT, 'bin/platform-node');
  const sets = [`rest-api.port=${port}`, ...(options.set ?? [])].flatMap((set) => ['--set', set]);
  const log = openSync(join(folder.dir, 'node.log'), 'a');
  const begun = performance.now();
  const child = spawn(program, ['start', folder.config, ...sets], {
    stdio: ['ignore', log, log],
    env: {
      ...process.env,
      PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'true',
      // Not those of this process, which may run under the hooks of a test runner.
      NODE_OPTIONS: (options.execArgv ?? []).join(' '),
    },
  });
  // A benchmark that fails leaves no node behind.
  const killWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', killWithUs);
  let over = false;
  const ended = new Promise<Exit>((resolve) =>
    child.once('exit', (code, signal) => {
      process.off('exit', killWithUs);
      over = true;
      resolve({ code, signal });
    }),
  );
  const end = (signal: NodeJS.Signals): Promise<Exit> => {
    child.kill(signal);
    return ended;
  };

  const first = `http://127.0.0.1:${port}${options.firstPath ?? '/blocks/height'}`;
  // Asking for a connection is far cheaper than a request, and the node needs the processors now.
  while (!(await isListening(port)) || !(await isAnswered(first))) {
    if (over) throw new Error(`the node did not start, see ${folder.dir}/node.log`);
    if (performance.now() - begun > START_MS_MAX) throw new Error('the node does not start');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const pid = child.pid ?? 0;
  return {
    port,
    pid,
    startMs: performance.now() - begun,
    get: (path) => getJson(port, path),
    cpuSeconds: () => cpuSecondsOf(pid),
    memory: () => memoryOf(pid),
    end,
    async stop() {
      await end('SIGTERM');
    },
    async kill() {
      await end('SIGKILL');
    },
  };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

async function isAnswered(url: string): Promise<boolean> {
  try {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

async function getJson(port: number, path: string): Promise<unknown> {
  const url = `http://127.0.0.1:${port}${path}`;
  // The node ends idle connections; while load was prepared, nothing here heard of it.
  const response = await fetch(url).catch(() => fetch(url));
  const text = await response.text();
  if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}
