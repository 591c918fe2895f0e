/** Where a running network of `dev` is reached, in its folder, for `dev info`. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { files } from '../../../adapters/files.ts';
import { utf8 } from '../../../base/bytes.ts';
import type { DevContracts } from './dev-contracts.ts';

export interface Running {
  /** The process that ends with the network. */
  readonly pid: number;
  readonly restPorts: readonly number[];
  readonly contracts: DevContracts;
  /** The files of the nodes, where each is a process. */
  readonly logs?: readonly string[];
  /** The address of the data service. */
  readonly data?: string | undefined;
}

/** What the names of temporary folders begin with. */
export const FOLDER = 'platform-node-';

const pathIn = (dir: string): string => join(dir, 'dev-running.json');

export function noteRunning(dir: string, running: Running): void {
  files.replace(pathIn(dir), utf8(JSON.stringify(running)), { secret: true });
}

/** Of this process alone: another may run the network in this folder. */
export function forgetRunning(dir: string): void {
  if (stored(dir)?.pid === process.pid) rmSync(pathIn(dir), { force: true });
}

/** Undefined where no process runs the network in this folder. */
export function readRunning(dir: string): Running | undefined {
  const running = stored(dir);
  return running !== undefined && isAlive(running.pid) ? running : undefined;
}

function stored(dir: string): Running | undefined {
  const bytes = files.read(pathIn(dir));
  return bytes && (JSON.parse(new TextDecoder().decode(bytes)) as Running);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM';
  }
}
