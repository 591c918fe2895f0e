/** What the crawler tells about itself: to metrics, to the progress line and to GET /status. */

export interface CrawlState {
  height: number;
  nodeHeight: number;
  /** Time of the last stored block in milliseconds. */
  lastBlock: number;
  bulk: boolean;
  /** Bytes of fetched blocks that wait to be written. */
  waitingBytes: number;
  blocks: number;
  txs: number;
  unknownTxs: number;
  reorganisations: number;
  nodeErrors: number;
  lastError: string | undefined;
  /** Node or database have failed since the crawler last got on; to wait for another one is no failure. */
  failing: boolean;
  /** Why the crawler has ended for good: an operator must act. */
  stopped: string | undefined;
  /** A step of a first load that has no height, such as an index being built. */
  step: string | undefined;
}

export const newCrawlState = (): CrawlState => ({
  height: 0,
  nodeHeight: 0,
  lastBlock: 0,
  bulk: false,
  waitingBytes: 0,
  blocks: 0,
  txs: 0,
  unknownTxs: 0,
  reorganisations: 0,
  nodeErrors: 0,
  lastError: undefined,
  failing: false,
  stopped: undefined,
  step: undefined,
});

/** A long range is one pass, and so is a first load: neither shows for hours what is over. */
export function gotOn(state: CrawlState): void {
  state.failing = false;
  state.lastError = undefined;
}
