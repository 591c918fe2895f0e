/** The process of http.ts: takes a job as a message, answers with its result. */
import { isOk } from '../../src/cli/load/answers.ts';
import type { Due, Exchange } from '../../src/cli/load/connection.ts';
import { Latencies } from '../../src/cli/load/tally.ts';
import { drive } from '../../src/cli/load/traffic.ts';
import type { LoadJob, LoadResult } from './http.ts';
import { split } from './requests.ts';

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

  /** Each connection rests before every request but its first. */
  function exchange(): Exchange<Due> {
    let pauseMs = 0;
    return {
      next(now) {
        const at = now + pauseMs;
        pauseMs = job.pauseMs ?? 0;
        if (at >= until || (job.once && next >= requests.length)) return undefined;
        return { bytes: requests[next++ % requests.length]!, at };
      },
      answered({ at }, answer, now) {
        latencies.add(now - at);
        if (isOk(answer)) return;
        refused++;
        sample ??= answer.toString();
      },
      lost(_request, why) {
        lost++;
        sample ??= why;
      },
    };
  }

  let isOver = false;
  const stayAwake = (): void => {
    if (!isOver) setImmediate(stayAwake);
  };
  if (job.polls === true) stayAwake();
  const places = job.ports.map((port) => ({ host: '127.0.0.1', port }));
  await drive(places, exchange, { connections: job.connections, failuresMax: 1 });
  isOver = true;
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
