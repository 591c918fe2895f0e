/**
 * `npm start` as its user feels it: the time to the first block, the memory of the node and of its
 * data service, each a process of its own, and whether PGlite leaves the processor to the node until
 * that has made its block.
 *
 *   node bench/private-network.ts [--seconds N]
 *
 * Start it twice: the first run of a checkout compiles the bundle.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from './measure/free-port.ts';
import { memoryOf } from './measure/memory.ts';

const EVERY_MS = 20;
const READY_MS_MAX = 120_000;
const BINARY = join(import.meta.dirname, '../bin/platform-node');
const MB_PER_MIB = 1.048576;

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } });
const [restPort, dataPort] = [await freePort(), await freePort()];
const folder = mkdtempSync(join(tmpdir(), 'private-network-'));
/** Made by PGlite, before it opens its store. */
const store = join(folder, 'data-service');
const began = performance.now();
const ports = ['--rest-port', String(restPort), '--data-port', String(dataPort)];
const node = spawn(BINARY, ['dev', '--dir', folder, ...ports], { stdio: 'ignore' });
const ended = once(node, 'exit');
// Whoever reads only the first lines still wants the node to end.
process.stdout.on('error', () => {});
try {
  while ((await nodeHeight()) < 2) await wait(EVERY_MS);
  const isEarly = existsSync(store);
  const firstBlock = seconds();
  report('node at its first block', node.pid!);
  say(`first block: ${firstBlock.toFixed(2)} s after the command`);
  while (!existsSync(store)) await wait(EVERY_MS);
  const after = (seconds() - firstBlock).toFixed(2);
  say(
    isEarly
      ? 'PGlite: begun BEFORE the first block'
      : `PGlite: begun ${after} s after the first block`,
  );
  while (!(await isReady()) && seconds() * 1000 < READY_MS_MAX) await wait(EVERY_MS);
  say(`search ready: ${(seconds() - firstBlock).toFixed(2)} s after the first block`);
  await wait(Number(values.seconds) * 1000);
  report(`node, idle for ${values.seconds} s`, node.pid!);
  for (const pid of childrenOf(node.pid!)) report('data service with PGlite, idle', pid);
} finally {
  node.kill('SIGTERM');
  await ended;
  rmSync(folder, { recursive: true, force: true });
}

function seconds(): number {
  return (performance.now() - began) / 1000;
}

async function nodeHeight(): Promise<number> {
  const answer = await ask(restPort, '/blocks/height');
  return ((await answer?.json()) as { height: number } | undefined)?.height ?? 0;
}

async function isReady(): Promise<boolean> {
  return (await ask(dataPort, '/transactions?limit=1'))?.status === 200;
}

/** Undefined where nobody listens yet. */
async function ask(port: number, path: string): Promise<Response | undefined> {
  return fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined);
}

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children.split(' ').filter(Boolean).map(Number);
}

function report(what: string, pid: number): void {
  const { rssMb, mappedMb, peakMb } = memoryOf(pid);
  const mb = (mib: number): string => (mib * MB_PER_MIB).toFixed(0);
  say(`${what}: ${mb(rssMb)} MB, of it files ${mb(mappedMb)} MB; the most ${mb(peakMb)} MB`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
