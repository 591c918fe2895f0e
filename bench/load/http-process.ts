/** The process of http.ts: takes a job as a message, answers with its result. */
import { connect, type Socket } from 'node:net';
import { answerLength, isOk } from './answers.ts';
import type { LoadJob, LoadResult } from './http.ts';
import { Latencies } from './latencies.ts';
import { split } from './requests.ts';

const READ_BYTES = 64 * 1024;

async function run(job: LoadJob): Promise<LoadResult> {
  const requests = split(job.requests);
  const latencies = new Latencies();
  let next = 0;
  let refused = 0;
  let lost = 0;
  let sample: string | undefined;
  const cpu = process.cpuUsage();
  const start = performance.now();
  const until = start + job.durationMs;

  /** Undefined when the job is over. */
  function nextRequest(now: number): Uint8Array | undefined {
    if (now >= until || (job.once && next >= requests.length)) return undefined;
    return requests[next++ % requests.length];
  }

  function count(answer: Buffer, ms: number): void {
    latencies.add(ms);
    if (isOk(answer)) return;
    refused++;
    sample ??= answer.toString();
  }

  function drive(port: number): Promise<void> {
    return new Promise((done) => {
      let sentAt = 0;
      let partial: Buffer | undefined;
      const socket: Socket = connect({
        port,
        host: '127.0.0.1',
        noDelay: true,
        // One buffer for all reads of a connection instead of one for each.
        onread: { buffer: Buffer.allocUnsafeSlow(READ_BYTES), callback: received },
      });

      function send(now: number): void {
        const request = nextRequest(now);
        if (request === undefined) {
          socket.destroy();
          return;
        }
        sentAt = now;
        socket.write(request);
      }

      function received(length: number, buffer: Uint8Array): boolean {
        let bytes = Buffer.from(buffer.buffer, buffer.byteOffset, length);
        if (partial !== undefined) bytes = Buffer.concat([partial, bytes]);
        if (answerLength(bytes) === 0) {
          partial = Buffer.from(bytes);
          return true;
        }
        partial = undefined;
        const now = performance.now();
        count(bytes, now - sentAt);
        if (job.pauseMs === undefined) send(now);
        else setTimeout(() => send(performance.now()), job.pauseMs);
        return true;
      }

      let asked = false;
      socket.on('connect', () => {
        asked = true;
        send(performance.now());
      });
      socket.on('error', (error) => {
        lost++;
        sample ??= error.message;
      });
      socket.on('end', () => {
        if (asked) lost++;
      });
      socket.on('close', () => done());
    });
  }

  const { ports, connections } = job;
  await Promise.all(Array.from({ length: connections }, (_, i) => drive(ports[i % ports.length]!)));
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return {
    answers: latencies.count,
    refused,
    lost,
    seconds,
    perSecond: (latencies.count - refused) / seconds,
    p50Ms: latencies.quantileMs(0.5),
    p99Ms: latencies.quantileMs(0.99),
    maxMs: latencies.maxMs(),
    cpuSeconds: (user + system) / 1e6,
    sample,
  };
}

process.on('message', async (job) => {
  process.send?.(await run(job as LoadJob));
});
