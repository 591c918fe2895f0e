/**
 * The data service of a private network: a process of its own, since its database works on the
 * thread that it is called from, and the node's must not wait. Its store is a folder of the network.
 */
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { CliError } from '../../terminal/exit.ts';
import { warn } from '../../terminal/output.ts';
import { isFree } from './free-ports.ts';
import { startProcess } from './start-process.ts';

export interface DevData {
  readonly url: string;
  /** Resolves when the process has ended. */
  stop(): Promise<void>;
}

const LISTENING_MS_MAX = 20_000;

/** Rejects with CliError where another process has the port. */
export async function checkDataPort(port: number): Promise<void> {
  if (port === 0 || (await isFree(port))) return;
  throw new CliError(
    `data service on 127.0.0.1:${port} (--data-port): another process listens there; stop that ` +
      'process, choose another port, 0 for any free one, or use --no-data',
  );
}

/** Undefined, with a warning, where it does not listen in time. */
export async function startDevData(
  dir: string,
  restPort: number,
  port: number,
): Promise<DevData | undefined> {
  const log = join(dir, 'data-service.log');
  const settings = [
    `data-service.node-url=http://127.0.0.1:${restPort}`,
    `data-service.database-url=pglite:${join(dir, 'data-service')}`,
    `data-service.port=${port}`,
    'data-service.rate-limit=0',
  ];
  const child = startProcess(['data', 'start'], settings, log);
  let isStopping = false;
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => {
      if (!isStopping) warn(`the data service has ended: ${log}`);
      resolve();
    });
  });
  const stop = async (): Promise<void> => {
    isStopping = true;
    child.kill('SIGTERM');
    await ended;
  };
  const url = await Promise.race([addressOf(child), ended.then(() => undefined)]);
  if (url !== undefined) return { url, stop };
  warn(`the data service does not start: ${log}`);
  await stop();
  return undefined;
}

/** The first message of the process. */
const addressOf = (child: ChildProcess): Promise<string | undefined> =>
  new Promise((resolve) => {
    const late = setTimeout(() => resolve(undefined), LISTENING_MS_MAX);
    child.once('message', (message) => {
      clearTimeout(late);
      resolve((message as { url?: string }).url);
    });
  });
