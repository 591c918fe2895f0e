/**
 * `npm start` as its user feels it: the time to the first block, and the memory of the node and of
 * its data service, each a process of its own.
 *
 *   node bench/private-network.ts [--seconds N]
 *
 * Start it twice: the first run of a checkout strips and compiles the sources.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from './measure/free-port.ts';
import { memoryOf } from './measure/memory.ts';

const EVERY_MS = 20;
const BINARY = join(import.meta.dirname, '../bin/platform-node');
const MB_PER_MIB = 1.048576;

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '30' } } });
const [restPort, dataPort] = [await freePort(), await freePort()];
const began = performance.now();
const ports = ['--rest-port', String(restPort), '--data-port', String(dataPort)];
const node = spawn(BINARY, ['dev', ...ports], { stdio: ['ignore', 'ignore', 'ignore'] });
const ended = once(node, 'exit');
try {
  while ((await height()) < 2) await wait(EVERY_MS);
  say(`first block: ${((performance.now() - began) / 1000).toFixed(2)} s`);
  report('node, at its first block', node.pid!);
  await wait(Number(values.seconds) * 1000);
  report(`node, ${values.seconds} s later`, node.pid!);
  for (const pid of childrenOf(node.pid!)) report('data service with PGlite', pid);
} finally {
  node.kill('SIGTERM');
  await ended;
}

async function height(): Promise<number> {
  try {
    const answer = await fetch(`http://127.0.0.1:${restPort}/blocks/height`);
    return ((await answer.json()) as { height: number }).height;
  } catch {
    return 0;
  }
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
