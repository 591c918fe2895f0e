/** What the crawler measures; the metrics of the service count it. */
export interface CrawlMeter {
  /** Begins a measurement; the returned function ends it. */
  fetching(): () => void;
  writing(): () => void;
  removing(): () => void;
  written(type: number, txs: number): void;
  wrote(blocks: number, unknownTxs: number): void;
  reorganised(depth: number): void;
}
