/** Values of the labels that the metric declares. */
export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  add(amount?: number, labels?: Labels): void;
}

/** Not shown before it is set. */
export interface Gauge {
  set(value: number, labels?: Labels): void;
  /** Nobody knows its value any more: it is not shown until it is set again. */
  remove(labels?: Labels): void;
}

export interface Histogram {
  observe(seconds: number, labels?: Labels): void;
  /** Begins a measurement; the returned function ends it. */
  start(labels?: Labels): () => void;
}

/** Metrics sink; names are listed in node/metrics/observability.ts. */
export interface Metrics {
  counter(name: string, help: string, labels?: readonly string[]): Counter;
  gauge(name: string, help: string, labels?: readonly string[]): Gauge;
  histogram(
    name: string,
    help: string,
    bounds: readonly number[],
    labels?: readonly string[],
  ): Histogram;
  /** Called before the values are read, to look up values that are not counted as they change. */
  onRead(action: () => void): void;
}
