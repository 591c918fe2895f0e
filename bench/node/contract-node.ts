/** A node that executes contracts, as contenders: calls that it executes and commits. */
import { base58 } from '../../src/base/base58.ts';
import type { Engine } from '../../test/containers/engine.ts';
import type { TestImage } from '../../test/containers/images.ts';
import type { Bench } from '../bench.ts';
import { batch } from '../load/requests.ts';
import type { Contender } from '../measure/contender.ts';
import { freePort } from '../measure/free-port.ts';
import { creation, nthCall, type Param } from '../transfers/contract-calls.ts';
import { broadcastBody, broadcastRequest } from '../transfers/transfers.ts';
import { drained, makeFunded, submit, until } from './funded.ts';
import { type NodeProcess, startNode } from './node-process.ts';

export interface ContractNode {
  readonly node: NodeProcess;
  /** A contract of the image, created and ready. */
  create(image: TestImage): Promise<Uint8Array>;
  /** Calls of these contracts in turn, from the first POST until the last is in a block. */
  calls(
    name: string,
    contracts: readonly Uint8Array[],
    params: readonly Param[],
    expectedPerSecond: number,
  ): Contender;
  /** Puts so many calls into the pool. */
  post(count: number, contracts: readonly Uint8Array[], params: readonly Param[]): Promise<void>;
  /** From the beginning of an execution to its outcome, since the start of the node. */
  runMs(quantile: number): Promise<number | undefined>;
  stop(): Promise<void>;
}

export interface ContractNodeOptions {
  readonly roundMs: number;
  readonly set?: readonly string[];
  /** As in FundedOptions. */
  readonly features?: readonly number[];
  readonly checkout?: string | undefined;
}

const CONNECTIONS = 32;
/** Calls prepared for a run, as a multiple of what the last run reached in its time. */
const GROWTH = 1.5;
const POST_MS_MAX = 120_000;
const WAIT_MS_MAX = 60_000;

export async function startContractNode(
  bench: Bench,
  engine: Engine,
  { set = [], ...network }: ContractNodeOptions,
): Promise<ContractNode> {
  const { roundMs, checkout } = network;
  const { folder, senders } = await makeFunded(bench, 'contracts', network);
  const { scheme, owner } = folder;
  const metricsPort = await freePort();
  const node = await startNode(folder, {
    checkout,
    execArgv: bench.nodeFlags,
    set: [
      'docker-engine.enable=yes',
      `docker-engine.docker-host=${engine.host}`,
      `docker-engine.execution-limits.timeout=${0.8 * roundMs}ms`,
      'docker-engine.check-registry-auth-on-startup=no',
      'docker-engine.pull=never',
      'metrics.enable=yes',
      `metrics.port=${metricsPort}`,
      ...set,
    ],
  });
  let sent = 0;
  const metrics = async (): Promise<string> =>
    (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  /** A call that failed is in no block. */
  const committed = async (): Promise<number> =>
    Number(/^node_block_transactions_total (\S+)/m.exec(await metrics())?.[1] ?? 0);

  async function post(
    count: number,
    contracts: readonly Uint8Array[],
    params: readonly Param[],
  ): Promise<void> {
    const now = Date.now();
    const txs = Array.from({ length: count }, (_, i) => {
      const contract = contracts[i % contracts.length]!;
      return nthCall(sent + i, contract, params, senders, now + Math.floor(i / 512), scheme);
    });
    sent += count;
    const requests = batch(txs.map((tx) => broadcastRequest(tx, scheme)));
    const job = { ports: [node.port], connections: CONNECTIONS, durationMs: POST_MS_MAX, requests };
    const result = await bench.load.run({ ...job, once: true });
    if (result.refused > 0) throw new Error(`the node refused a call: ${result.sample}`);
  }

  return {
    node,
    post,
    async create(image) {
      const tx = creation(image, `contract ${sent++}`, owner, Date.now(), scheme);
      await submit(node.port, broadcastBody(tx, scheme));
      await drained(node);
      const id = base58.encode(tx.id);
      // It is in a block only with its result.
      await node.get(`/contracts/executed-tx-for/${id}`);
      return tx.id;
    },

    calls(name, contracts, params, expectedPerSecond) {
      let perSecond = expectedPerSecond;
      return {
        name,
        async run(ms) {
          const count = Math.ceil((perSecond * ms) / 1000);
          const before = await committed();
          const cpu = node.cpuSeconds();
          const begun = performance.now();
          await post(count, contracts, params);
          await until('the calls', async () => (await committed()) - before >= count, WAIT_MS_MAX);
          const seconds = (performance.now() - begun) / 1000;
          const reached = count / seconds;
          bench.say(`    ${name}: ${count} calls, ${reached.toFixed(0)}/s`);
          perSecond = reached * GROWTH;
          return { perSecond: reached, cpuPerOperation: (node.cpuSeconds() - cpu) / count };
        },
      };
    },

    runMs: async (quantile) => quantileMs(await metrics(), quantile),
    stop: () => node.stop(),
  };
}

/** Between two limits of the histogram, calls are assumed to be spread evenly. */
function quantileMs(metrics: string, quantile: number): number | undefined {
  const limits = [
    ...metrics.matchAll(/^node_contract_run_seconds_bucket\{le="(\S+)"\} (\d+)$/gm),
  ].map(([, limit = '', count = '']) => ({ seconds: Number(limit), count: Number(count) }));
  const wanted = (limits.at(-1)?.count ?? 0) * quantile;
  let below = { seconds: 0, count: 0 };
  for (const limit of limits) {
    if (limit.count >= wanted && limit.count > below.count) {
      const share = (wanted - below.count) / (limit.count - below.count);
      return 1000 * (below.seconds + share * (limit.seconds - below.seconds));
    }
    below = limit;
  }
  return undefined;
}
