/** Fills the metrics of the data service. */

import type { Clock } from '../base/ports/clock.ts';
import type { Database } from '../base/ports/database.ts';
import type { HttpRoute } from '../base/ports/http.ts';
import type { RouteMeter } from '../rest-framework/measured-routes.ts';
import type { QueryMeter } from './api/services.ts';
import type { CrawlState } from './crawler/crawl-state.ts';
import type { CrawlMeter } from './crawler/meter.ts';
import type { DataMetrics } from './observability.ts';

export const crawlMeter = (metrics: DataMetrics): CrawlMeter => ({
  fetching: () => metrics.fetch.start(),
  writing: () => metrics.batch.start(),
  removing: () => metrics.rollback.start(),
  written: (type, txs) => metrics.txs.add(txs, { type: String(type) }),
  wrote(blocks, unknownTxs) {
    metrics.blocks.add(blocks);
    if (unknownTxs > 0) metrics.unknownTxs.add(unknownTxs);
  },
  reorganised(depth) {
    metrics.reorgs.add();
    metrics.reorgDepth.observe(depth);
  },
});

export const queryMeter = (metrics: DataMetrics): QueryMeter => ({
  query: (scope) => metrics.query.start({ scope }),
  timedOut: () => metrics.timeouts.add(),
});

interface MeasuredParts {
  /** Undefined where another process crawls. */
  readonly crawl: CrawlState | undefined;
  readonly clock: Clock;
  readonly inUse: () => number;
  /** Undefined until it is open. */
  readonly db: () => Database | undefined;
}

/** Values that are looked up when they are asked for. */
export function readOnDemand(
  metrics: DataMetrics,
  { crawl, clock, inUse, db }: MeasuredParts,
): void {
  let isAsking = false;
  // Sizes are those of the reading before: a database that hangs does not keep back the others.
  const askSizes = (): void => {
    const store = db();
    if (isAsking || store === undefined) return;
    isAsking = true;
    void setSizes(metrics, store)
      .catch(() => undefined)
      .then(() => {
        isAsking = false;
      });
  };
  metrics.onRead(() => {
    askSizes();
    metrics.poolInUse.set(inUse());
    const isFollowing = crawl !== undefined && crawl.stopped === undefined;
    if (crawl === undefined) {
      for (const gauge of [metrics.height, metrics.crawling]) gauge.remove();
    } else {
      metrics.height.set(crawl.height);
      // The lag of a crawler that has ended is unknown, so an alert needs to see that.
      metrics.crawling.set(isFollowing ? 1 : 0);
    }
    if (isFollowing) setProgress(metrics, crawl, clock.now());
    else for (const gauge of progressOf(metrics)) gauge.remove();
  });
}

/** What only a running crawler knows. */
const progressOf = (metrics: DataMetrics) => [
  metrics.failing,
  metrics.nodeHeight,
  metrics.lagBlocks,
  metrics.lagSeconds,
  metrics.waitingBytes,
];

function setProgress(metrics: DataMetrics, crawl: CrawlState, now: number): void {
  const lag = Math.max(0, crawl.nodeHeight - crawl.height);
  // Nobody looks at the node while the database is away, so the heights alone would show no lag.
  const isFailing = crawl.failing;
  const isBehind = lag > 0 || (isFailing && crawl.height > 0);
  metrics.failing.set(isFailing ? 1 : 0);
  metrics.nodeHeight.set(crawl.nodeHeight);
  metrics.lagBlocks.set(lag);
  metrics.lagSeconds.set(isBehind ? Math.max(0, (now - crawl.lastBlock) / 1000) : 0);
  metrics.waitingBytes.set(crawl.waitingBytes);
}

async function setSizes(metrics: DataMetrics, db: Database): Promise<void> {
  const [sizes] = await db.query<{ dirty: string; bytes: string }>(
    `SELECT (SELECT count(*) FROM balance_dirty WHERE since_height >= 0) AS dirty,
       pg_database_size(current_database()) AS bytes`,
  );
  metrics.balanceDirty.set(Number(sizes?.dirty ?? 0));
  metrics.dbSize.set(Number(sizes?.bytes ?? 0));
}

/** Requests and their times, by their pattern. */
export const routeMeter =
  (metrics: DataMetrics) =>
  ({ pattern: route }: HttpRoute): RouteMeter => ({
    begin: () => metrics.requestTime.start({ route }),
    answered: (status) => metrics.requests.add(1, { route, code: `${status}` }),
  });
