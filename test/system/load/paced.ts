/** Runs paced.c, which sends requests at a rate that the answers do not slow down. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import type { Scope } from '../e2e/process.ts';

export interface Pace {
  readonly port: number;
  readonly connections: number;
  readonly perSecond: number;
  readonly ms: number;
  /** Between two looks at what is due and what was answered; 0: it looks when something happens. */
  readonly tickMicros: number;
}

/** All answers of one status. */
export interface Answers {
  readonly status: number;
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The first one, unless it is a 200. */
  readonly sample: string | undefined;
}

/** What the sender says at its end. */
export interface Sent {
  readonly seconds: number;
  /** What the load itself could not send in time: no connection was idle, or no request was signed. */
  readonly late: number;
  /** How late the timers of the load itself were, the slowest of a hundred: part of every latency. */
  readonly ownDelayMs: number;
  /** Requests without an answer. */
  readonly lost: number;
  readonly answers: readonly Answers[];
}

/** Requests handed over in one piece. */
const PIECE = 64;

/** The path of the program. A sender in JavaScript takes as much of the machine as the node. */
export function compiledSender(scope: Scope): string {
  const dir = mkdtempSync(join(tmpdir(), 'sender-'));
  scope.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const program = join(dir, 'paced');
  const source = fileURLToPath(new URL('paced.c', import.meta.url));
  execFileSync('gcc', ['-O2', '-o', program, source]);
  return program;
}

/** The sender takes `requests`, which never end, as it needs them. */
export async function sendPaced(
  program: string,
  pace: Pace,
  requests: Iterable<Uint8Array>,
  started: (child: ChildProcess) => void = () => undefined,
): Promise<Sent> {
  const { port, connections, perSecond, ms, tickMicros } = pace;
  const orders = [port, connections, perSecond, ms, tickMicros].map(String);
  const sender = spawn(program, orders, { stdio: ['pipe', 'pipe', 'inherit'] });
  started(sender);
  const said = text(sender.stdout);
  // The sender ends while it is written to.
  await pipeline(Readable.from(framed(requests)), sender.stdin).catch(() => {});
  const sent = await said;
  if (sent === '') throw new Error('the sender has failed');
  return JSON.parse(sent) as Sent;
}

function* framed(requests: Iterable<Uint8Array>): Generator<Uint8Array> {
  let piece: Uint8Array[] = [];
  for (const request of requests) {
    piece.push(lengthOf(request), request);
    if (piece.length < 2 * PIECE) continue;
    yield Buffer.concat(piece);
    piece = [];
  }
}

function lengthOf(request: Uint8Array): Uint8Array {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(request.length);
  return length;
}

export const answersWith = ({ answers }: Sent, status: number): Answers | undefined =>
  answers.find((one) => one.status === status);

export const countOf = (sent: Sent, status: number): number =>
  answersWith(sent, status)?.count ?? 0;
