/** A node that takes transfers from many funded senders, as a contender. */
import type { Bench } from '../bench.ts';
import { type LoadResult, startHttpLoad } from '../load/http.ts';
import { batch, get, type RequestBatch } from '../load/requests.ts';
import type { Contender } from '../measure/contender.ts';
import { withCost } from '../measure/cost.ts';
import { createSenders } from '../transfers/senders.ts';
import {
  broadcastBody,
  broadcastRequest,
  fundingTransfers,
  nthTransfer,
} from '../transfers/transfers.ts';
import { type DevFolder, makeDevFolder } from './dev-folder.ts';
import { type NodeOptions, type NodeProcess, startNode } from './node-process.ts';

export interface Accepting {
  readonly node: NodeProcess;
  readonly folder: DevFolder;
  readonly accepted: Contender;
  /** Posts so many. */
  fill(count: number): Promise<void>;
  /** Reads balances at a moderate rate while transfers are posted at full speed. */
  readsUnderLoad(ms: number): Promise<LoadResult>;
  poolSize(): Promise<number>;
  drained(): Promise<void>;
  stop(): Promise<void>;
}

const SENDERS = 512;
const CONNECTIONS = 32;
/** More than the node accepts; the rest is never sent. */
const PREPARED_PER_SECOND = 18_000;
const FILL_MS_MAX = 300_000;
const READERS = 8;
const READ_PAUSE_MS = 10;
/** So much later the load ends. */
const MARGIN_MS = 500;
const WAIT_MS = 50;
const WAIT_MS_MAX = 120_000;

export async function startAccepting(bench: Bench, options: NodeOptions = {}): Promise<Accepting> {
  const folder = await makeDevFolder({
    dir: bench.folder('accepting'),
    roundMs: 1000,
    genesisTimestamp: Date.now() - 1000,
  });
  const { chain, owner } = folder;
  const senders = createSenders(SENDERS, chain);
  // Whoever funds the senders must be mined, also where the measured node makes no blocks.
  const funding = await startNode(folder);
  for (const tx of fundingTransfers(senders, owner, Date.now(), chain)) {
    await submit(funding.port, broadcastBody(tx, chain));
  }
  await until(() => isDrained(funding));
  await funding.stop();

  const node = await startNode(folder, options);
  let sent = 0;

  function prepared(count: number): RequestBatch {
    const now = Date.now();
    return batch(
      Array.from({ length: count }, (_, i) =>
        broadcastRequest(nthTransfer(sent + i, senders, now, chain), chain),
      ),
    );
  }

  const preparedFor = (ms: number): RequestBatch =>
    prepared(Math.ceil((PREPARED_PER_SECOND * ms) / 1000));

  async function post(ms: number, requests: RequestBatch): Promise<LoadResult> {
    const result = await bench.load.run({
      port: node.port,
      connections: CONNECTIONS,
      durationMs: ms,
      once: true,
      requests,
    });
    sent += result.answers;
    if (result.refused > 0) throw new Error(`the node refused a transfer: ${result.sample}`);
    return result;
  }

  return {
    node,
    folder,
    async fill(count) {
      await post(FILL_MS_MAX, prepared(count));
    },
    accepted: {
      name: 'accepted',
      async run(ms) {
        const requests = preparedFor(ms);
        const before = node.cpuSeconds();
        const result = await withCost(() => post(ms, requests));
        const cpu = node.cpuSeconds() - before;
        await until(() => isDrained(node));
        return { ...result, cpuPerOperation: cpu / result.answers };
      },
    },
    async readsUnderLoad(ms) {
      const reader = startHttpLoad();
      const reads = senders.map(({ address }) =>
        get(`/addresses/balance/${chain.addressToText(address)}`),
      );
      const posts = post(ms + MARGIN_MS, preparedFor(ms + MARGIN_MS));
      await until(async () => (await poolSize(node)) > 0);
      const result = await reader.run({
        port: node.port,
        connections: READERS,
        durationMs: ms,
        once: false,
        pauseMs: READ_PAUSE_MS,
        requests: batch(reads),
      });
      await posts;
      await reader.stop();
      await until(() => isDrained(node));
      return result;
    },
    poolSize: () => poolSize(node),
    drained: () => until(() => isDrained(node)),
    stop: () => node.stop(),
  };
}

async function submit(port: number, body: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/transactions/broadcast`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  if (!response.ok) throw new Error(`broadcast: ${response.status} ${await response.text()}`);
}

async function poolSize(node: NodeProcess): Promise<number> {
  const { size } = (await node.get('/transactions/unconfirmed/size')) as { size: number };
  return size;
}

const isDrained = async (node: NodeProcess): Promise<boolean> => (await poolSize(node)) === 0;

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (let waited = 0; waited < WAIT_MS_MAX; waited += WAIT_MS) {
    if (await isTrue()) return;
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
  throw new Error('the pool does not empty');
}
