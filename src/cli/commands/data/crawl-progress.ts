/** How far a crawl is: one line that changes on a terminal, else an event every ten seconds. */
import type { Clock } from '../../../base/ports/clock.ts';
import type { Log } from '../../../base/ports/log.ts';
import { every } from '../../../concurrency/interval.ts';
import type { CrawlState } from '../../../data-service/crawler/crawl-state.ts';

const TERMINAL_MS = 500;
const LOG_MS = 10_000;
/** Closer to the node there is no progress to show. */
const FOLLOWING_BLOCKS = 5;

interface Sample {
  readonly at: number;
  readonly blocks: number;
  readonly txs: number;
}

/** Returns the function that ends it. */
export function showProgress(
  state: CrawlState,
  clock: Pick<Clock, 'monotonic' | 'after'>,
  log: Pick<Log, 'info'>,
  stream: { isTTY?: boolean; write(text: string): unknown } = process.stderr,
): () => void {
  const terminal = stream.isTTY === true;
  const sample = (): Sample => ({ at: clock.monotonic(), blocks: state.blocks, txs: state.txs });
  let last = sample();
  let shown = false;
  const cancel = every(clock, terminal ? TERMINAL_MS : LOG_MS, () => {
    const now = sample();
    const seconds = Math.max(0.001, (now.at - last.at) / 1000);
    const rates = {
      txsPerSecond: Math.round((now.txs - last.txs) / seconds),
      blocksPerSecond: Math.round((now.blocks - last.blocks) / seconds),
    };
    last = now;
    const isBehind =
      state.stopped === undefined &&
      (state.nodeHeight - state.height > FOLLOWING_BLOCKS || state.step !== undefined);
    if (terminal && isBehind) {
      stream.write(`\r\x1b[K${progressLine(state, rates)}`);
      shown = true;
    } else if (terminal && shown) {
      stream.write('\r\x1b[K');
      shown = false;
    } else if (!terminal && isBehind) {
      const { height, nodeHeight, waitingBytes } = state;
      log.info('crawl.progress', { height, nodeHeight, ...rates, waitingBytes });
    }
  });
  return () => {
    cancel();
    if (shown) stream.write('\r\x1b[K');
  };
}

interface Rates {
  readonly txsPerSecond: number;
  readonly blocksPerSecond: number;
}

/** `blocks 812 345/1 204 110 67.5 % | 9 412 tx/s | 141 blk/s | eta 46m | queue 12 MB`. */
function progressLine(state: CrawlState, { txsPerSecond, blocksPerSecond }: Rates): string {
  const { height, nodeHeight, waitingBytes, step } = state;
  if (step !== undefined) return step;
  const share = ((100 * height) / Math.max(1, nodeHeight)).toFixed(1);
  const left = Math.max(0, nodeHeight - height);
  const eta = blocksPerSecond === 0 ? '–' : duration(left / blocksPerSecond);
  return [
    `blocks ${spaced(height)}/${spaced(nodeHeight)} ${share} %`,
    `${spaced(txsPerSecond)} tx/s`,
    `${spaced(blocksPerSecond)} blk/s`,
    `eta ${eta}`,
    `queue ${Math.round(waitingBytes / 1e6)} MB`,
  ].join(' | ');
}

const spaced = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ' ');

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)}s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes}m` : `${Math.round(minutes / 60)}h`;
}
