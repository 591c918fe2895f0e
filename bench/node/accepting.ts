/** A node that takes transfers from many funded senders, as a contender. */
import type { Bench } from '../bench.ts';
import { type LoadResult, startHttpLoad } from '../load/http.ts';
import { batch, get, type RequestBatch } from '../load/requests.ts';
import type { Contender } from '../measure/contender.ts';
import { withCost } from '../measure/cost.ts';
import { idleShare, readCpu } from '../measure/cpu.ts';
import { countInstructions } from '../measure/instructions.ts';
import { threadTimes } from '../measure/thread-times.ts';
import { createPosting, type Posting } from '../transfers/posting.ts';
import { BLOCK_BYTES_OF_FULL_LOAD, type DevFolder } from './dev-folder.ts';
import { drained, type Funded, type FundedOptions, makeFunded, poolSize, until } from './funded.ts';
import { committedPerSecond, headersAbove, tipOf } from './headers.ts';
import { type NodeOptions, type NodeProcess, startNode } from './node-process.ts';

export interface AcceptingOptions extends NodeOptions {
  /** By default a new network. */
  readonly funded?: Funded;
  /** By default 32. */
  readonly connections?: number;
  /** Counts the instructions of the node, where the processor does. */
  readonly countsInstructions?: boolean;
}

export interface Accepting {
  readonly node: NodeProcess;
  readonly folder: DevFolder;
  readonly accepted: Contender;
  /** The same with the other senders of the network. */
  readonly acceptedOfOthers: Contender;
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

/** A new network whose blocks hold all that a node accepts. */
export const fundedForLoad = (
  bench: Bench,
  options: Omit<FundedOptions, 'roundMs' | 'blockBytes'> = {},
): Promise<Funded> =>
  makeFunded(bench, 'accepting', {
    ...options,
    roundMs: 1000,
    blockBytes: BLOCK_BYTES_OF_FULL_LOAD,
  });

export async function startAccepting(
  bench: Bench,
  options: AcceptingOptions = {},
): Promise<Accepting> {
  const { connections, countsInstructions = false } = options;
  const { folder, senders, others } = options.funded ?? (await fundedForLoad(bench));
  const { scheme } = folder;
  const node = await startNode(folder, options);
  const posting = createPosting(bench.load, senders, scheme, connections);
  const postingOfOthers = createPosting(bench.load, others, scheme, connections);
  const preparedFor = (ms: number, from = posting): RequestBatch =>
    from.prepared(Math.ceil((PREPARED_PER_SECOND * ms) / 1000));
  const post = (ms: number, requests: RequestBatch, from = posting): Promise<LoadResult> =>
    from.post([node.port], ms, requests);

  /** Processor time runs until the last block, so that each transfer pays for its packing. */
  const accepting = (name: string, from: Posting): Contender => ({
    name,
    async run(ms) {
      const requests = preparedFor(ms, from);
      const { height } = await tipOf(node);
      const counted = countsInstructions ? countInstructions(node.pid) : undefined;
      const before = node.cpuSeconds();
      const mainBefore = threadTimes(node.pid).main;
      const { times, ...result } = await withCost(async () => {
        const begun = { now: Date.now(), cpu: readCpu() };
        const sent = await post(ms, requests, from);
        const ended = { now: Date.now(), cpu: readCpu() };
        await drained(node);
        return { ...sent, times: { begun, ended } };
      });
      const { answers } = result;
      const instructions = await counted?.();
      const { begun, ended } = times;
      return {
        ...result,
        cpuPerOperation: (node.cpuSeconds() - before) / answers,
        mainPerOperation: (threadTimes(node.pid).main - mainBefore) / answers,
        committedPerSecond: committedPerSecond(
          await headersAbove(node, height),
          begun.now,
          ended.now,
        ),
        idleShare: idleShare(begun.cpu, ended.cpu),
        instructionsPerOperation: instructions && {
          main: instructions.main / answers,
          all: instructions.all / answers,
        },
      };
    },
  });

  return {
    node,
    folder,
    accepted: accepting('accepted', posting),
    acceptedOfOthers: accepting('accepted of others', postingOfOthers),
    async fill(count) {
      await post(FILL_MS_MAX, posting.prepared(count));
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
