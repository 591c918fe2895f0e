/** Reads what a node says of itself, again and again. Rates are those since the reading before. */
import { undiciClient } from '../../../adapters/http/undici.ts';
import { isObject } from '../../../base/json/json.ts';
import { MIB } from '../../../base/limits/budget.ts';
import type { HttpClient } from '../../../base/ports/http.ts';
import { blocks } from '../../../rest/routes/blocks.ts';
import { consensus } from '../../../rest/routes/consensus.ts';
import { health } from '../../../rest/routes/health.ts';
import { node } from '../../../rest/routes/node.ts';
import { peers } from '../../../rest/routes/peers.ts';
import { transactions } from '../../../rest/routes/transactions.ts';
import { RefusedError } from '../../../rest-framework/client.ts';
import type { NodeFlags } from '../../node-options.ts';
import { type RestNode, restNode } from '../../rest-calls.ts';
import { CliError } from '../../terminal/exit.ts';
import { type MetricRates, MetricsText, ratesBetween } from './metrics-text.ts';

export interface Health {
  readonly status: string;
  readonly reasons: readonly { readonly code: string; readonly message: string }[];
}

export interface Peer {
  readonly name: string;
  readonly address: string;
  readonly owner: string;
  readonly version: string;
}

/** Of the last blocks. */
export interface RecentBlocks {
  readonly count: number;
  readonly perMinute: number;
  readonly transactionsPerSecond: number;
  /** Who made them, the busiest first. */
  readonly miners: readonly { readonly address: string; readonly blocks: number }[];
}

export interface Facts {
  readonly time: string;
  readonly url: string;
  readonly version: string;
  readonly consensus: string;
  readonly round: string;
  readonly height: number;
  /** Absent where nobody votes on blocks. */
  readonly finalHeight?: number;
  readonly tipAgeSeconds: number;
  readonly health: Health;
  readonly pool: number;
  readonly peers: readonly Peer[];
  readonly recent: RecentBlocks;
  /** Absent where the node measures nothing, or not for this machine. */
  readonly metrics?: MetricRates;
}

/** `error`: why the node does not answer; it is asked again. */
export type Reading =
  | Facts
  | { readonly time: string; readonly url: string; readonly error: string };

const RECENT_BLOCKS = 100;
const ANSWER_MS_MAX = 5000;
const MS = 1000;

export class NodeWatch {
  private readonly url: string;
  private readonly metricsUrl: string | undefined;
  private readonly rest: RestNode;
  private readonly http: HttpClient;
  private before: { readonly at: number; readonly text: MetricsText } | undefined;

  constructor(flags: NodeFlags, metricsUrl: string | undefined) {
    this.url = flags.url;
    this.metricsUrl = metricsUrl;
    this.rest = restNode(flags);
    this.http = undiciClient({ answerBytesMax: MIB, answerMsMax: ANSWER_MS_MAX });
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const time = new Date().toISOString();
    const { url } = this;
    try {
      const [facts, metrics] = await Promise.all([this.facts(), this.metrics(signal)]);
      return { time, url, ...facts, ...(metrics === undefined ? {} : { metrics }) };
    } catch (cause) {
      if (!(cause instanceof CliError || cause instanceof RefusedError)) throw cause;
      return { time, url, error: cause.message };
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.rest.close(), this.http.close()]);
  }

  private async facts(): Promise<Omit<Facts, 'time' | 'url' | 'metrics'>> {
    const { call } = this.rest;
    const [{ version }, state, settings, config, pool, connected, well] = await Promise.all([
      call(node.version),
      call(node.status),
      call(consensus.settings),
      call(node.config),
      call(transactions.unconfirmedSize),
      call(peers.connected),
      this.health(),
    ]);
    const height = state.blockchainHeight;
    const from = Math.max(1, height - RECENT_BLOCKS + 1);
    const headers = await call(blocks.headersSeq, { params: { from, to: height } });
    const { finalHeight, updatedTimestamp } = state;
    const timing = Object.values(config.blockTiming).map((ms) => `${ms / MS} s`);
    return {
      version,
      consensus: settings.consensusAlgo,
      round: timing.join(' + '),
      height,
      ...(finalHeight === undefined ? {} : { finalHeight }),
      tipAgeSeconds: Math.max(0, Date.now() - Number(updatedTimestamp)) / MS,
      health: well,
      pool: pool.size,
      peers: connected.peers.map((peer) => ({
        name: peer.peerName,
        address: peer.address,
        owner: peer.nodeOwnerAddress,
        version: peer.applicationVersion,
      })),
      recent: recentOf(headers),
    };
  }

  /** A node that is not ready says so with an error status. */
  private async health(): Promise<Health> {
    try {
      return await this.rest.call(health.ready);
    } catch (cause) {
      if (!(cause instanceof RefusedError) || !isHealth(cause.body)) throw cause;
      return cause.body;
    }
  }

  /** Undefined where there are none: they are off by default, and for the machine of the node. */
  private async metrics(signal: AbortSignal): Promise<MetricRates | undefined> {
    if (this.metricsUrl === undefined) return undefined;
    try {
      const { status, text } = await this.http.request({
        method: 'GET',
        url: this.metricsUrl,
        signal,
      });
      if (status !== 200) return undefined;
      const now = { at: performance.now(), text: new MetricsText(text) };
      const { before = now } = this;
      this.before = now;
      return ratesBetween(before.text, now.text, (now.at - before.at) / MS);
    } catch {
      return undefined;
    }
  }
}

const isHealth = (body: unknown): body is Health =>
  isObject(body) && typeof body['status'] === 'string' && Array.isArray(body['reasons']);

interface Header {
  readonly generator: string;
  readonly timestamp: number | bigint;
  readonly transactionCount: number;
}

function recentOf(headers: readonly Header[]): RecentBlocks {
  const made = new Map<string, number>();
  for (const { generator } of headers) made.set(generator, (made.get(generator) ?? 0) + 1);
  const [first, ...rest] = headers;
  const last = rest.at(-1);
  const seconds =
    first === undefined || last === undefined
      ? 0
      : (Number(last.timestamp) - Number(first.timestamp)) / MS;
  const sent = rest.reduce((sum, { transactionCount }) => sum + transactionCount, 0);
  const rate = (count: number): number => (seconds > 0 ? count / seconds : 0);
  return {
    count: headers.length,
    perMinute: rate(rest.length) * 60,
    transactionsPerSecond: rate(sent),
    miners: [...made]
      .map(([address, count]) => ({ address, blocks: count }))
      .sort((one, other) => other.blocks - one.blocks),
  };
}
