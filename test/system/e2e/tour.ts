/**
 * A tour of the documentation: its first shell block starts a network in a folder of its own, and the
 * lines of the others are typed into a second terminal. It runs as written where nobody uses the
 * ports, else on others.
 */
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { freePorts, isFree } from '../../../src/cli/commands/dev/free-ports.ts';
import { temporaryFolder } from './dev-node.ts';
import { type Command, startProgram } from './process.ts';
import { Shell, shellBlocks } from './shell.ts';

const root = join(import.meta.dirname, '../../..');
const PORT = 6862;

export interface Tour {
  /** Of each line, in order. */
  readonly outputs: readonly string[];
  readonly network: Command;
  /** Where the tour's folder is in this run. */
  readonly folder: string;
  /** Ends the network as Ctrl-C does. */
  stop(): Promise<void>;
}

export interface TourOptions {
  /** The Markdown with the blocks. */
  readonly text: string;
  /** The folder that the commands name. */
  readonly folder: string;
  readonly nodes?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Rejects at the first line that fails, because what comes after builds on it. */
export async function walk(t: Test, options: TourOptions): Promise<Tour> {
  const { text, nodes = 1, env = {} } = options;
  const [[start], ...rest] = shellBlocks(text) as [[string], ...string[][]];
  const checkout = temporaryFolder(t);
  for (const name of ['bin', 'examples', 'node_modules', 'package.json']) {
    symlinkSync(join(root, name), join(checkout, name));
  }
  const port = await firstPort(nodes);
  const folder = join(temporaryFolder(t), 'tour');
  const placed = (line: string): string =>
    line.replaceAll(options.folder, folder).replaceAll(`:${PORT}`, `:${port}`);
  const place = port === PORT ? {} : { PLATFORM_NODE_URL: url(port) };
  const inShell = { cwd: checkout, env: { ...env, ...place } };

  const more = port === PORT ? '' : ` --rest-port ${port}`;
  const inOther = { ...inShell, withChildren: true as const };
  const network = startProgram(t, 'sh', ['-c', placed(start) + more], inOther);
  await network.line('stdout', new RegExp(`REST API +${url(port)}`));

  const shell = new Shell(inShell);
  t.teardown(() => shell.end());
  const outputs: string[] = [];
  for (const line of rest.flat()) {
    const { code, output } = await shell.run(placed(line));
    if (code !== 0) throw new Error(`${line}\n${output}\n${network.stderr()}`);
    t.notMatch(output, /"error"|command not found|Usage:/, line);
    outputs.push(output);
  }
  const stop = async (): Promise<void> => {
    process.kill(-network.pid, 'SIGINT');
    await network.exit;
  };
  return { outputs, network, folder, stop };
}

/** The nodes of a network have ports one after the other. */
async function firstPort(nodes: number): Promise<number> {
  for (let first = PORT; ; first = (await freePorts(1))[0]!) {
    const ports = Array.from({ length: nodes }, (_, i) => first + i);
    const free = await Promise.all(ports.map((port) => isFree(port)));
    if (!free.includes(false)) return first;
  }
}

const url = (port: number): string => `http://127.0.0.1:${port}`;
