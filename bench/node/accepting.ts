/** A node that takes transfers from many funded senders, as a contender. */
import type { Bench } from '../bench.ts';
import { type LoadResult, startHttpLoad } from '../load/http.ts';
import { batch, get, type RequestBatch } from '../load/requests.ts';
import type { Contender } from '../measure/contender.ts';
import { withCost } from '../measure/cost.ts';
import { threadTimes } from '../measure/thread-times.ts';
import { createPosting } from '../transfers/posting.ts';
import type { DevFolder } from './dev-folder.ts';
import { drained, type Funded, makeFunded, poolSize, until } from './funded.ts';
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

/** More than the node accepts; the rest is never sent. */
const PREPARED_PER_SECOND = 18_000;
const FILL_MS_MAX = 300_000;
const READERS = 8;
const READ_PAUSE_MS = 10;
/** So much later the load ends. */
const MARGIN_MS = 500;

/** By default on a new network. */
export async function startAccepting(
  bench: Bench,
  options: NodeOptions = {},
  funded?: Funded,
): Promise<Accepting> {
  const { folder, senders } = funded ?? (await makeFunded(bench, 'accepting', { roundMs: 1000 }));
  const { scheme } = folder;
  const node = await startNode(folder, options);
  const posting = createPosting(bench.load, senders, scheme);
  const preparedFor = (ms: number): RequestBatch =>
    posting.prepared(Math.ceil((PREPARED_PER_SECOND * ms) / 1000));
  const post = (ms: number, requests: RequestBatch): Promise<LoadResult> =>
    posting.post([node.port], ms, requests);

  return {
    node,
    folder,
    async fill(count) {
      await post(FILL_MS_MAX, posting.prepared(count));
    },
    accepted: {
      name: 'accepted',
      async run(ms) {
        const requests = preparedFor(ms);
        const before = node.cpuSeconds();
        const mainBefore = threadTimes(node.pid).main;
        const result = await withCost(() => post(ms, requests));
        const cpu = node.cpuSeconds() - before;
        const main = threadTimes(node.pid).main - mainBefore;
        await drained(node);
        const { answers } = result;
        return { ...result, cpuPerOperation: cpu / answers, mainPerOperation: main / answers };
      },
    },
    async readsUnderLoad(ms) {
      const reader = startHttpLoad();
      const reads = senders.map(({ address }) =>
        get(`/addresses/balance/${scheme.addressToText(address)}`),
      );
      const posts = post(ms + MARGIN_MS, preparedFor(ms + MARGIN_MS));
      await until('the load', async () => (await poolSize(node)) > 0);
      const result = await reader.run({
        ports: [node.port],
        connections: READERS,
        durationMs: ms,
        once: false,
        pauseMs: READ_PAUSE_MS,
        requests: batch(reads),
      });
      await posts;
      await reader.stop();
      await drained(node);
      return result;
    },
    poolSize: () => poolSize(node),
    drained: () => drained(node),
    stop: () => node.stop(),
  };
}
