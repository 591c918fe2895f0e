/**
 * H and E: the HTTP server alone, through hyper-express as installed. The file is also the program
 * of the server's process.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type HyperExpress from 'hyper-express';
import { post } from '../../src/cli/load/signed-transfers.ts';
import type { HttpLoad } from '../load/http.ts';
import { batch, get } from '../load/requests.ts';
import type { Contender } from '../measure/contender.ts';
import { withCost } from '../measure/cost.ts';
import { cpuSecondsOf } from '../measure/cpu.ts';

export interface Echo {
  readonly get: Contender;
  readonly post: Contender;
  stop(): Promise<void>;
}

const CONNECTIONS = 32;
/** As long as the JSON of a transfer. */
const BODY = JSON.stringify({ data: 'x'.repeat(465 - '{"data":""}'.length) });

/**
 * GET /hello answers `hello`; POST /echo answers the body. As in the rows that they belong to, the
 * load of the first never sleeps, and only the second pays for its load.
 */
export async function startEcho(load: HttpLoad): Promise<Echo> {
  const child = fork(fileURLToPath(import.meta.url), ['serve'], { stdio: 'inherit' });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const [port] = (await once(child, 'message')) as [number];
  const { pid = 0 } = child;
  const contender = (name: string, request: Uint8Array, polls: boolean): Contender => ({
    name,
    async run(ms) {
      const before = cpuSecondsOf(pid);
      const requests = batch([request]);
      const connections = CONNECTIONS;
      const job = { ports: [port], connections, durationMs: ms, once: false, polls, requests };
      const result = await withCost(() => load.run(job));
      const cpu = (cpuSecondsOf(pid) - before) / result.answers;
      const cost = polls ? cpu : result.costPerOperation;
      return { ...result, cpuPerOperation: cpu, costPerOperation: cost };
    },
  });
  return {
    get: contender('H', get('/hello'), true),
    post: contender('E', post('/echo', BODY), false),
    stop() {
      child.kill();
      return ended;
    },
  };
}

async function serve(): Promise<void> {
  const { default: hyperExpress } = await import('hyper-express');
  const server = new hyperExpress.Server();
  server.get('/hello', (_request, response) => {
    response.send('hello');
  });
  server.post('/echo', async (request: HyperExpress.Request, response: HyperExpress.Response) => {
    response.type('json').send(await request.buffer());
  });
  await server.listen(0, '127.0.0.1');
  process.send?.(server.port);
}

if (process.argv[2] === 'serve') await serve();
