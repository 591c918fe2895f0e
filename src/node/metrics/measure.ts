/**
 * The sources of the metrics in observability.ts. Parts without metrics of their own are wrapped
 * here, only when metrics are switched on. Other values are looked up when the metrics are read.
 */

import { ApiError } from '../../base/errors.ts';
import type { HttpRoute } from '../../base/ports/http.ts';
import type { Gauge } from '../../base/ports/metrics.ts';
import type { LoopDelay, ProcessReadings } from '../../base/ports/process-readings.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import type { Pool } from '../../mempool/pool.ts';
import { MINER_STATES, type Miner } from '../../miner/miner.ts';
import { SYNC_STATES } from '../../network/sync/sync.ts';
import type { Privacy } from '../../privacy/privacy-service.ts';
import type { RouteMeter } from '../../rest-framework/measured-routes.ts';
import type { Tx } from '../../tx/transaction.ts';
import type { FreeSpace } from '../free-space.ts';
import type { NodePorts } from '../node-ports.ts';
import type { NetworkReadings } from '../open-network.ts';
import type { NodeMetrics } from './observability.ts';

/** The pool with its submissions counted. */
export function measuredPool(pool: Pool, metrics: NodeMetrics): Pool {
  pool.listen({ added: () => metrics.accepted.add() });
  const countRefusal = (error: unknown): void =>
    metrics.refused.add(1, { code: error instanceof ApiError ? String(error.code) : 'none' });
  const counted = async (submitted: Promise<Tx>): Promise<Tx> => {
    try {
      return await submitted;
    } catch (error) {
      countRefusal(error);
      throw error;
    }
  };
  return {
    ...pool,
    submit: (tx) => counted(pool.submit(tx)),
    submitBytes: (bytes, arriving) => counted(pool.submitBytes(bytes, arriving)),
    async submitAll(list, isDoubted) {
      const errors = await pool.submitAll(list, isDoubted);
      for (const error of errors) if (error !== undefined) countRefusal(error);
      return errors;
    },
  };
}

/** Requests by their pattern, and their times by the first part of it. */
export const routeMeter =
  (metrics: NodeMetrics) =>
  ({ method, pattern: route }: HttpRoute): RouteMeter => {
    const group = { group: route.split('/')[1] ?? '' };
    return {
      begin: () => metrics.latency.start(group),
      answered: (status) => metrics.requests.add(1, { method, route, status: `${status}` }),
    };
  };

/** Records the events of the chain; the returned function ends this. */
export function watchChain(
  blockchain: Blockchain,
  owner: Uint8Array,
  metrics: NodeMetrics,
): () => void {
  const { scheme } = blockchain.view;
  const own = scheme.addressToText(owner);
  let { height } = blockchain.tip();
  let before = blockchain.tip().header.timestamp;
  return blockchain.listen({
    block({ tip, block }) {
      const { timestamp, generator } = tip.header;
      const forged = scheme.addressToText(scheme.addressOf(generator)) === own;
      metrics.blocks.add(1, { origin: forged ? 'own' : 'others' });
      metrics.blockTxs.add(block.txs.length);
      metrics.blockTime.observe((timestamp - before) / 1000);
      before = timestamp;
      height = tip.height;
    },
    rolledBack(tip) {
      metrics.rollbacks.add();
      metrics.rolledBack.add(height - tip.height);
      height = tip.height;
      before = tip.header.timestamp;
    },
  });
}

export interface Watched
  extends Pick<NodePorts, 'version' | 'verifier' | 'store' | 'journal' | 'turns' | 'clock'> {
  readonly chainId: string;
  readonly blockchain: Blockchain;
  readonly pool: Pool;
  readonly poolBytesMax: number;
  readonly miner: Miner;
  readonly process: ProcessReadings;
  readonly healthy: () => boolean;
  readonly isShutOut: () => boolean;
  readonly space: Pick<FreeSpace, 'bytes'>;
  readonly freeBytesMin: number;
}

/** Values that are looked up whenever the metrics are read. */
export function readOnDemand(of: Watched, metrics: NodeMetrics): void {
  metrics.info.set(1, { version: of.version, chain_id: of.chainId });
  metrics.poolBytesMax.set(of.poolBytesMax);
  metrics.diskFreeMin.set(of.freeBytesMin);
  metrics.startTime.set(of.process.startSeconds());
  metrics.journalDamage.set(of.journal.damagedPlaces ?? 0, { journal: 'pool' });
  metrics.journalDamage.set(of.turns.damagedPlaces ?? 0, { journal: 'miner' });
  metrics.onRead(() => {
    const { height, header } = of.blockchain.tip();
    metrics.height.set(height);
    metrics.tipAge.set(Math.max(0, of.clock.now() - header.timestamp) / 1000);
    metrics.poolSize.set(of.pool.size());
    metrics.poolBytes.set(of.pool.bytes());
    metrics.verifyQueue.set(of.verifier.pending ?? 0);
    const now = of.miner.state();
    for (const state of MINER_STATES) metrics.minerState.set(state === now ? 1 : 0, { state });
    const { clock } = of;
    metrics.synchronized.set((clock.confirmed?.() ?? clock.synchronized()) ? 1 : 0);
    metrics.storeBytes.set(of.store.size());
    const free = of.space.bytes();
    if (free === undefined) metrics.diskFree.remove();
    else metrics.diskFree.set(free);
    metrics.healthy.set(of.healthy() ? 1 : 0);
    metrics.shutOut.set(of.isShutOut() ? 1 : 0);
    setDelay(metrics.loopDelay, of.process.loopDelay(), {});
    metrics.residentBytes.set(of.process.residentBytes());
    metrics.heapBytes.set(of.process.heapBytes());
    metrics.cpuSeconds.set(of.process.cpuSeconds());
  });
}

/** The threads that hold connections, numbered from 1. */
export function watchThreads(delays: () => readonly LoopDelay[], metrics: NodeMetrics): void {
  metrics.onRead(() => {
    for (const [i, delay] of delays().entries()) {
      setDelay(metrics.threadDelay, delay, { thread: String(i + 1) });
    }
  });
}

/** The certificate may be replaced without a stop. */
export function watchCertificate(end: () => number | undefined, metrics: NodeMetrics): void {
  metrics.onRead(() => {
    const ms = end();
    if (ms === undefined) metrics.certificateEnd.remove();
    else metrics.certificateEnd.set(ms / 1000);
  });
}

function setDelay(
  gauge: Gauge,
  { p50, p99, max }: LoopDelay,
  labels: Readonly<Record<string, string>>,
): void {
  gauge.set(p50, { ...labels, quantile: '0.5' });
  gauge.set(p99, { ...labels, quantile: '0.99' });
  gauge.set(max, { ...labels, quantile: '1' });
}

/** Confidential data: the accepted bytes, and the items still to be fetched. */
export function watchPrivacy(of: Pick<Privacy, 'bytes' | 'queue'>, metrics: NodeMetrics): void {
  metrics.onRead(() => {
    metrics.privateBytes.set(of.bytes());
    for (const [state, count] of Object.entries(of.queue())) {
      metrics.privateQueue.set(count, { state });
    }
  });
}

const MODES = ['default', 'watcher'] as const;
const DIRECTIONS = ['in', 'out'] as const;

/** Sessions, known addresses, synchronisation, and offences of peers. */
export function watchNetwork(of: NetworkReadings, metrics: NodeMetrics): void {
  of.penalties.onOffence((offence, verdict) => metrics.offences.add(1, { offence, verdict }));
  metrics.onRead(() => {
    const open = of.sessions.all();
    for (const mode of MODES) {
      for (const direction of DIRECTIONS) {
        const outbound = direction === 'out';
        const those = open.filter((one) => one.mode === mode && one.outbound === outbound);
        metrics.peers.set(those.length, { mode, direction });
      }
    }
    metrics.knownPeers.set(of.book.known().length);
    metrics.missing.set(of.sync.missing());
    const now = of.sync.state();
    for (const state of SYNC_STATES) metrics.syncState.set(state === now ? 1 : 0, { state });
  });
}
