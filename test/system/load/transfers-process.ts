/**
 * The process of transfers.ts: posts transfers at a fixed rate, however long the answers take. A
 * request refused with 503 is sent again, as a client would do; it counts for the rate like any
 * other.
 */
import { connect, type Socket } from 'node:net';
import { createSenders } from '../../../bench/transfers/senders.ts';
import { broadcastRequest, nthTransfer } from '../../../bench/transfers/transfers.ts';
import { DEV_CHAIN_ID } from '../../../src/cli/commands/dev/dev-network.ts';
import { cryptographyOf } from '../../../src/cli/cryptography.ts';
import { answerLength } from '../../../src/cli/load/answers.ts';
import { Latencies } from '../../../src/cli/load/tally.ts';
import type { Answers, ToSign, TransfersJob, TransfersResult } from './transfers.ts';

const { scheme } = cryptographyOf(true, DEV_CHAIN_ID);
/** Short, so that requests come evenly and not in bursts. */
const TICK_MS = 1;
/** After the last request the answers have so long. */
const LINGER_MS = 20_000;
const AGAIN_MAX = 100_000;
const STATUS = { from: 'HTTP/1.1 '.length, to: 'HTTP/1.1 200'.length };
const OVERLOADED = '503';

interface Line {
  readonly socket: Socket;
  request: Uint8Array | undefined;
  sentAt: number;
  partial: Buffer | undefined;
}

/** Those that the next job begins with, the last one first. */
const ready: Uint8Array[] = [];

function sign({ first, senders: count, sign: transfers }: ToSign): void {
  const senders = createSenders(count, scheme);
  for (let n = first + transfers - 1; n >= first; n--) {
    ready.push(broadcastRequest(nthTransfer(n, senders, Date.now(), scheme), scheme));
  }
}

async function run(job: TransfersJob): Promise<TransfersResult> {
  const senders = createSenders(job.senders, scheme);
  const kinds = new Map<string, Latencies>();
  const samples = new Map<string, string>();
  /**
   * The longest idle one is used first: a node closes connections that were idle for ten seconds,
   * and a request that is on its way then gets no answer.
   */
  const idle: Line[] = [];
  const again: Uint8Array[] = [];
  const delays = new Latencies();
  let next = job.first;
  let under = 0;
  let late = 0;
  let lost = 0;
  let isOver = false;

  function open(): void {
    const socket = connect({ port: job.port, host: '127.0.0.1', noDelay: true });
    const line: Line = { socket, request: undefined, sentAt: 0, partial: undefined };
    socket.on('connect', () => idle.push(line));
    socket.on('data', (bytes) => received(line, bytes));
    socket.on('error', () => {});
    socket.on('close', () => {
      const at = idle.indexOf(line);
      if (at >= 0) idle.splice(at, 1);
      if (line.request !== undefined) {
        under--;
        lost++;
      }
      if (!isOver) open();
    });
  }

  function received(line: Line, bytes: Buffer): void {
    const all = line.partial === undefined ? bytes : Buffer.concat([line.partial, bytes]);
    if (answerLength(all) === 0) {
      line.partial = all;
      return;
    }
    line.partial = undefined;
    const { request } = line;
    if (request === undefined) return;
    line.request = undefined;
    under--;
    const status = all.toString('latin1', STATUS.from, STATUS.to);
    const known = kinds.get(status) ?? new Latencies();
    kinds.set(status, known);
    known.add(performance.now() - line.sentAt);
    if (status !== '200' && !samples.has(status)) samples.set(status, all.toString());
    if (status === OVERLOADED && again.length < AGAIN_MAX) again.push(request);
    idle.push(line);
  }

  function fresh(): Uint8Array {
    const n = next++;
    return ready.pop() ?? broadcastRequest(nthTransfer(n, senders, Date.now(), scheme), scheme);
  }

  function send(line: Line): void {
    line.request = again.pop() ?? fresh();
    line.sentAt = performance.now();
    line.socket.write(line.request);
    under++;
  }

  for (let i = 0; i < job.connections; i++) open();
  const start = performance.now();
  let owed = 0;
  let last = start;
  for (let now = start; now < start + job.ms; now = performance.now()) {
    owed += ((now - last) * job.perSecond) / 1000;
    last = now;
    for (; owed >= 1 && idle.length > 0; owed--) send(idle.shift()!);
    // Without a limit on what is owed a pause would be followed by a burst.
    if (owed > job.perSecond / 10) {
      late += owed;
      owed = 0;
    }
    const due = performance.now() + TICK_MS;
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    delays.add(Math.max(0, performance.now() - due));
  }
  const seconds = (performance.now() - start) / 1000;
  for (let waited = 0; under > 0 && waited < LINGER_MS; waited += TICK_MS) {
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  isOver = true;
  lost += under;
  ready.length = 0;
  for (const { socket } of idle) socket.destroy();
  return {
    next,
    seconds,
    late: Math.round(late),
    ownDelayMs: delays.quantileMs(0.99),
    lost,
    answers: [...kinds].map(([status, latencies]) => answersOf(status, latencies, samples)),
  };
}

const answersOf = (
  status: string,
  latencies: Latencies,
  samples: ReadonlyMap<string, string>,
): Answers => ({
  status: Number(status),
  count: latencies.count,
  p50Ms: latencies.quantileMs(0.5),
  p99Ms: latencies.quantileMs(0.99),
  maxMs: latencies.maxMs(),
  sample: samples.get(status),
});

process.on('message', async (message) => {
  const job = message as TransfersJob | ToSign;
  if ('sign' in job) sign(job);
  process.send?.('sign' in job ? {} : await run(job));
});
