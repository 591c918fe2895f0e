/**
 * H and E: the HTTP server alone, through hyper-express as installed. S: the same server with a
 * store, about the least program that answers a transaction by its id. The file is also the program
 * of the server's process.
 */
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type HyperExpress from 'hyper-express';
import { post } from '../../src/cli/load/signed-transfers.ts';
import type { HttpLoad } from '../load/http.ts';
import { batch, get, type RequestBatch } from '../load/requests.ts';
import type { Contender } from '../measure/contender.ts';
import { withCost } from '../measure/cost.ts';
import { cpuSecondsOf } from '../measure/cpu.ts';

export interface Echo {
  readonly get: Contender;
  readonly post: Contender;
  readonly stored: Contender;
  stop(): Promise<void>;
}

const CONNECTIONS = 32;
/** As long as the JSON of a transfer. */
const BODY = JSON.stringify({ data: 'x'.repeat(465 - '{"data":""}'.length) });

const STORED = 30_000;
/** As long as the id of a transaction. */
const storedKey = (i: number): string => createHash('sha256').update(`${i}`).digest('hex');
const storedPath = (_: unknown, i: number): Uint8Array => get(`/stored/${storedKey(i)}`);

/**
 * GET /hello answers `hello`; POST /echo answers the body; GET /stored/KEY reads an object of the
 * store, adds a field and prints it. As in the rows that they belong to, the load of the reads
 * never sleeps, and only the second pays for its load.
 */
export async function startEcho(load: HttpLoad): Promise<Echo> {
  const folder = await mkdtemp(join(tmpdir(), 'stored-'));
  const child = fork(fileURLToPath(import.meta.url), ['serve', folder], { stdio: 'inherit' });
  const ended = once(child, 'exit').then(() => rm(folder, { recursive: true }));
  const [port] = (await once(child, 'message')) as [number];
  const { pid = 0 } = child;
  const contender = (name: string, requests: RequestBatch, polls: boolean): Contender => ({
    name,
    async run(ms) {
      const before = cpuSecondsOf(pid);
      const connections = CONNECTIONS;
      const job = { ports: [port], connections, durationMs: ms, once: false, polls, requests };
      const result = await withCost(() => load.run(job));
      const cpu = (cpuSecondsOf(pid) - before) / result.answers;
      const cost = polls ? cpu : result.costPerOperation;
      return { ...result, cpuPerOperation: cpu, costPerOperation: cost };
    },
  });
  return {
    get: contender('H', batch([get('/hello')]), true),
    post: contender('E', batch([post('/echo', BODY)]), false),
    stored: contender('S', batch(Array.from({ length: STORED }, storedPath)), true),
    stop() {
      child.kill();
      return ended;
    },
  };
}

async function serve(folder: string): Promise<void> {
  const { default: hyperExpress } = await import('hyper-express');
  const { open } = await import('lmdb');
  const store = open<Record<string, unknown>, string>({ path: folder, encoding: 'json' });
  await store.transaction(() => {
    for (let i = 0; i < STORED; i++) void store.put(storedKey(i), storedTransfer(i));
  });
  const server = new hyperExpress.Server();
  server.get('/stored/:key', (request, response) => {
    const { key = '' } = request.path_parameters;
    response.json({ ...store.get(key), confirmations: STORED });
  });
  server.get('/hello', (_request, response) => {
    response.send('hello');
  });
  server.post('/echo', async (request: HyperExpress.Request, response: HyperExpress.Response) => {
    response.type('json').send(await request.buffer());
  });
  await server.listen(0, '127.0.0.1');
  process.send?.(server.port);
}

const storedTransfer = (i: number): Record<string, unknown> => ({
  type: 4,
  version: 2,
  id: storedKey(i),
  sender: storedKey(i).slice(0, 35),
  senderPublicKey: storedKey(i).slice(0, 44),
  recipient: storedKey(i).slice(-35),
  assetId: null,
  amount: i,
  fee: 1_000_000,
  timestamp: 1_700_000_000_000 + i,
  attachment: '',
  proofs: [storedKey(i) + storedKey(i).slice(0, 24)],
  height: i,
});

if (process.argv[2] === 'serve') await serve(process.argv[3] ?? '');
