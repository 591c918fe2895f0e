/**
 * The nodes of a private network as separate processes, started and ended together.
 *
 * A process that ends by itself ends the network, because starting it again would hide the problem
 * from a developer. After `platform-node node stop` the others run on, so that a developer can
 * watch the network without that node.
 */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { peers } from '../../../rest/routes/peers.ts';
import { restNode } from '../../rest-calls.ts';
import { CliError } from '../../terminal/exit.ts';
import { say } from '../../terminal/output.ts';
import { TERMINAL_SIGNALS } from '../../terminal/stop-requests.ts';
import { startProcess } from './start-process.ts';

export interface DevProcess {
  readonly config: string;
  readonly restPort: number;
  /** Further settings, in the form of `--set`. */
  readonly settings: readonly string[];
  /** The file for its whole output. */
  readonly log: string;
}

export interface DevProcesses {
  /** True when every node answers and is connected to every other; false if they end before. */
  readonly connected: Promise<boolean>;
  /** Resolves when all have ended normally, else rejects with CliError. */
  readonly ended: Promise<void>;
}

const POLL_MS = 100;
const CONNECTED_MS_MAX = 120_000;
const LOG_LINES = 15;

/**
 * Starts the nodes. SIGINT, SIGTERM and a closed terminal end them; a second signal ends them at
 * once.
 */
export function startProcesses(nodes: readonly DevProcess[]): DevProcesses {
  const children = nodes.map(start);
  let failure: CliError | undefined;
  let stopping = false;

  function stop(signal: NodeJS.Signals): void {
    stopping = true;
    for (const child of children) child.kill(signal);
  }

  function fail(why: string): void {
    failure ??= new CliError(why);
    stop('SIGTERM');
  }

  const ends = children.map(
    (child, i) =>
      new Promise<void>((resolve) => {
        child.once('error', ({ message }) => {
          fail(`node ${i + 1} cannot be started: ${message}`);
          resolve();
        });
        child.once('exit', (code, signal) => {
          // A signal ends a process that is still loading.
          const inOrder = code === 0 || (stopping && signal !== null);
          if (!inOrder) fail(`node ${i + 1} has ended: ${signal ?? `code ${code}`}${tail(i)}`);
          else if (!stopping) say(`node ${i + 1} was stopped; the others go on`);
          resolve();
        });
      }),
  );
  const tail = (i: number): string => `\n${lastLines(nodes[i]!.log)}(${nodes[i]!.log})`;

  const onSignal = (): void => stop(stopping ? 'SIGKILL' : 'SIGTERM');
  for (const signal of TERMINAL_SIGNALS) process.on(signal, onSignal);
  const ended = Promise.all(ends).then(() => {
    for (const signal of TERMINAL_SIGNALS) process.removeListener(signal, onSignal);
    if (failure !== undefined) throw failure;
  });
  // A caller that waits for it later still gets the cause.
  ended.catch(() => undefined);
  const connected = allConnected(nodes, () => stopping).catch((cause: Error) => {
    fail(cause.message);
    return false;
  });
  return { connected, ended };
}

const start = ({ config, restPort, settings, log }: DevProcess): ChildProcess =>
  startProcess(['start', config], [`rest-api.port=${restPort}`, ...settings], log, {
    PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'true',
  });

const lastLines = (log: string): string =>
  readFileSync(log, 'utf8')
    .trimEnd()
    .split('\n')
    .slice(-LOG_LINES)
    .map((line) => `  ${line}\n`)
    .join('');

async function allConnected(nodes: readonly DevProcess[], isOver: () => boolean): Promise<boolean> {
  const deadline = performance.now() + CONNECTED_MS_MAX;
  for (const [i, { restPort }] of nodes.entries()) {
    while (!isOver() && (await connections(restPort)) < nodes.length - 1) {
      if (performance.now() > deadline) throw new Error(`node ${i + 1} does not find the others`);
      await pause(POLL_MS);
    }
  }
  return !isOver();
}

/** Negative while the node does not answer. */
async function connections(restPort: number): Promise<number> {
  const node = restNode({ url: `http://127.0.0.1:${restPort}` });
  try {
    return (await node.call(peers.connected)).peers.length;
  } catch {
    return -1;
  } finally {
    await node.close();
  }
}
