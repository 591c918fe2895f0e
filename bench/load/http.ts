/**
 * HTTP load from a process of its own: keep-alive connections over plain sockets, requests prepared
 * as bytes beforehand, answers only split and timed. A full HTTP client would cost more than the
 * server under test and measure itself.
 */
import { fork } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

export interface LoadJob {
  readonly port: number;
  readonly connections: number;
  /** Stop after this time … */
  readonly durationMs: number;
  /** … or once every request was sent, when they may not be repeated. */
  readonly once: boolean;
  /** Whole requests, Base64, so that a job passes over IPC. */
  readonly requests: readonly string[];
}

export interface LoadResult {
  readonly answers: number;
  /** Answers whose status was not 200. */
  readonly refused: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The first refused answer, to explain a failed run. */
  readonly sample?: string;
}

export const get = (path: string): string =>
  base64(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);

export const post = (path: string, body: string): string =>
  base64(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Runs a job in a child process. */
export function load(job: LoadJob): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), ['child'], { stdio: 'inherit' });
    child.once('message', (result) => {
      resolve(result as LoadResult);
      child.kill();
    });
    child.once('error', reject);
    child.once('exit', (code) => code !== null && code !== 0 && reject(new Error(`load: ${code}`)));
    child.send(job);
  });
}

const HEADER_END = Buffer.from('\r\n\r\n');

async function run(job: LoadJob): Promise<LoadResult> {
  const requests = job.requests.map((text) => Buffer.from(text, 'base64'));
  const times: number[] = [];
  let next = 0;
  let refused = 0;
  let sample: string | undefined;
  const start = performance.now();
  const until = start + job.durationMs;

  const drive = (socket: Socket): Promise<void> =>
    new Promise((done, fail) => {
      let sentAt = 0;
      let pending = Buffer.alloc(0);
      const send = (): void => {
        sentAt = performance.now();
        if (sentAt >= until || (job.once && next >= requests.length)) {
          socket.destroy();
          done();
          return;
        }
        socket.write(requests[next++ % requests.length]!);
      };
      socket.on('data', (chunk) => {
        pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
        const headEnd = pending.indexOf(HEADER_END);
        if (headEnd < 0) return;
        const head = pending.latin1Slice(0, headEnd);
        const match = /content-length: (\d+)/i.exec(head);
        const end = headEnd + 4 + Number(match?.[1] ?? 0);
        if (pending.length < end) return;
        if (!head.startsWith('HTTP/1.1 200')) {
          refused++;
          sample ??= pending.toString();
        }
        times.push(performance.now() - sentAt);
        pending = pending.subarray(end);
        send();
      });
      socket.on('error', fail);
      socket.on('connect', send);
    });

  await Promise.all(
    Array.from({ length: job.connections }, () =>
      drive(connect({ port: job.port, host: '127.0.0.1', noDelay: true })),
    ),
  );
  const seconds = (performance.now() - start) / 1000;
  times.sort((a, b) => a - b);
  return {
    answers: times.length,
    refused,
    seconds,
    perSecond: (times.length - refused) / seconds,
    p50Ms: times[Math.floor(times.length * 0.5)] ?? 0,
    p99Ms: times[Math.floor(times.length * 0.99)] ?? 0,
    ...(sample === undefined ? {} : { sample }),
  };
}

if (process.argv[2] === 'child') {
  process.once('message', async (job) => {
    process.send?.(await run(job as LoadJob));
  });
}
