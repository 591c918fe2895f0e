/**
 * A real node with one miner, accounts that can overload it, and its readings from outside: blocks,
 * memory, descriptors, delay of timers.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { makeDevFolder } from '../../../bench/node/dev-folder.ts';
import { drained, poolSize, submit } from '../../../bench/node/funded.ts';
import { type NodeProcess, startNode } from '../../../bench/node/node-process.ts';
import { createSenders } from '../../../bench/transfers/senders.ts';
import { broadcastBody, fundingTransfers } from '../../../bench/transfers/transfers.ts';
import { freePorts } from '../../../src/cli/commands/dev/free-ports.ts';
import { threadSettings } from '../../http-threads.ts';
import { countOf } from './paced.ts';
import { startTransfers, type TransfersJob, type TransfersResult } from './transfers.ts';

export const ROUND_MS = 1000;
const SENDERS = 512;
const HEADERS_MAX = 100;
/** Transfers with a lower number come from the load itself. */
const BESIDE_FIRST = 100_000_000;
const HOST = '127.0.0.1';
/** Microseconds: a load looks once for many answers, a probe sees each when it comes. */
const LOAD_TICK = 1000;
const PROBE_TICK = 0;
/** Few enough that none is refused, enough that the node always has something to do. */
const FULL_CONNECTIONS = 64;
const FULL_PER_SECOND = 50_000;

export interface Header {
  readonly height: number;
  readonly timestamp: number;
  readonly transactionCount: number;
}

export interface LoadedNode {
  readonly node: NodeProcess;
  /** Where the balances of the senders are read. */
  readonly paths: readonly string[];
  /** Signs so many of the next transfers in advance, so that the load is no slower for it. */
  sign(count: number): Promise<void>;
  /** Posts the next transfers. */
  post(job: Pick<TransfersJob, 'connections' | 'perSecond' | 'ms'>): Promise<TransfersResult>;
  /** Posts others from a process of its own, which has little else to do, beside `post`. */
  postBeside(job: Pick<TransfersJob, 'connections' | 'perSecond' | 'ms'>): Promise<TransfersResult>;
  /** Transfers a second that get into blocks while the node has always more to do. */
  maximum(ms: number): Promise<number>;
  height(): Promise<number>;
  /** Of the blocks from one height to another. */
  headers(from: number, to: number): Promise<Header[]>;
  /** Open files and connections. */
  descriptors(): number;
  /**
   * How late its timers were, over the last minute at least: the slowest of a hundred, in
   * milliseconds. A call begins a new minute, once the one before is over.
   */
  loopDelayMs(): Promise<number>;
  drained(): Promise<void>;
  poolSize(): Promise<number>;
}

export async function loadedNode(t: Test, set: readonly string[] = []): Promise<LoadedNode> {
  const dir = mkdtempSync(join(tmpdir(), 'load-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const folder = await makeDevFolder({
    dir,
    roundMs: ROUND_MS,
    genesisTimestamp: Date.now() - ROUND_MS,
  });
  const { scheme, owner } = folder;
  const [metricsPort] = (await freePorts(1)) as [number];
  const node = await startNode(folder, {
    set: ['metrics.enable=yes', `metrics.port=${metricsPort}`, ...threadSettings, ...set],
  });
  t.teardown(() => node.kill());
  const senders = createSenders(SENDERS, scheme);
  for (const tx of fundingTransfers(senders, owner, Date.now(), scheme)) {
    await submit(node.port, broadcastBody(tx, scheme));
  }
  await drained(node);
  const transfers = startTransfers(t);
  const beside = startTransfers(t, true);
  let first = 0;
  let firstBeside = BESIDE_FIRST;

  async function height(): Promise<number> {
    return ((await node.get('/blocks/height')) as { height: number }).height;
  }

  async function headers(from: number, to: number): Promise<Header[]> {
    const all: Header[] = [];
    for (let at = from; at <= to; at += HEADERS_MAX) {
      const last = Math.min(to, at + HEADERS_MAX - 1);
      all.push(...((await node.get(`/blocks/headers/seq/${at}/${last}`)) as Header[]));
    }
    return all;
  }

  async function post(
    job: Pick<TransfersJob, 'connections' | 'perSecond' | 'ms'>,
  ): Promise<TransfersResult> {
    const result = await transfers.run({
      ...job,
      port: node.port,
      first,
      senders: SENDERS,
      tickMicros: LOAD_TICK,
    });
    first = result.next;
    return result;
  }

  return {
    node,
    paths: senders.map(({ address }) => `/addresses/balance/${scheme.addressToText(address)}`),
    async sign(count) {
      await transfers.sign({ first, senders: SENDERS, sign: count });
    },
    post,
    async postBeside(job) {
      const from = firstBeside;
      const result = await beside.run({
        ...job,
        port: node.port,
        first: from,
        senders: SENDERS,
        tickMicros: PROBE_TICK,
      });
      firstBeside = result.next;
      return result;
    },
    height,
    headers,
    async maximum(ms) {
      const from = await height();
      const start = performance.now();
      const result = await post({
        connections: FULL_CONNECTIONS,
        perSecond: FULL_PER_SECOND,
        ms,
      });
      // The first block may have begun before the load, the last one is under way.
      const blocks = await headers(from + 2, Math.max(from + 3, await height()));
      await drained(node);
      const seconds = (performance.now() - start) / 1000;
      return Math.max(minedPerSecond(blocks), countOf(result, 200) / seconds);
    },
    descriptors: () => readdirSync(`/proc/${node.pid}/fd`).length,
    async loopDelayMs() {
      const text = await (await fetch(`http://${HOST}:${metricsPort}/metrics`)).text();
      const found = /^node_event_loop_delay_seconds\{quantile="0?\.?99"\} (\S+)/m.exec(text);
      if (found === null) throw new Error(`no event-loop delay in ${text}`);
      return Number(found[1]) * 1000;
    },
    drained: () => drained(node),
    poolSize: () => poolSize(node),
  };
}

/** Transactions of all blocks but the first, over the time between the first and the last. */
export function minedPerSecond(blocks: readonly Header[]): number {
  const [first, ...rest] = blocks;
  const last = rest.at(-1);
  if (first === undefined || last === undefined) return 0;
  const count = rest.reduce((sum, { transactionCount }) => sum + transactionCount, 0);
  return (count * 1000) / (last.timestamp - first.timestamp);
}

/** Rounds between the first and the last of these blocks that have none. */
export function roundsMissed(blocks: readonly Header[]): number {
  let missed = 0;
  for (const [i, { timestamp }] of blocks.slice(1).entries()) {
    missed += Math.max(0, Math.round((timestamp - blocks[i]!.timestamp) / ROUND_MS) - 1);
  }
  return missed;
}

/** `reached` or `missed`, for the reports of the long forms. */
export const verdict = (isReached: boolean): string => (isReached ? 'reached' : 'MISSED');
