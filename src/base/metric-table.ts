/** How a program declares its metrics: a table by key, from which the instruments are made. */
import type { Counter, Gauge, Histogram, Metrics } from './ports/metrics.ts';

type Kind = 'counter' | 'gauge' | 'histogram';

export interface Definition<K extends Kind> {
  readonly kind: K;
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly bounds: readonly number[];
}

export type MetricTable = Readonly<Record<string, Definition<Kind>>>;

const define =
  <K extends Kind>(kind: K) =>
  (
    name: string,
    help: string,
    labels: readonly string[] = [],
    bounds: readonly number[] = [],
  ): Definition<K> => ({ kind, name, help, labels, bounds });

export const counter = define('counter');
export const gauge = define('gauge');
export const histogram = define('histogram');

type Instrument<D> =
  D extends Definition<'counter'> ? Counter : D extends Definition<'gauge'> ? Gauge : Histogram;

export type Instruments<T extends MetricTable> = {
  readonly [K in keyof T]: Instrument<T[K]>;
} & { onRead(action: () => void): void };

/** Without a sink they do nothing. */
export function instrumentsOf<T extends MetricTable>(
  table: T,
  sink: Metrics = nowhere,
): Instruments<T> {
  const made = Object.entries(table).map(([key, one]) => {
    const { kind, name, help, labels, bounds } = one;
    if (kind === 'histogram') return [key, sink.histogram(name, help, bounds, labels)];
    return [key, sink[kind](name, help, labels)];
  });
  // Each entry was made from the definition of its key.
  return { ...Object.fromEntries(made), onRead: sink.onRead } as unknown as Instruments<T>;
}

const nothing = (): void => {};
const silent = {
  add: nothing,
  set: nothing,
  remove: nothing,
  observe: nothing,
  start: () => nothing,
};

const nowhere: Metrics = {
  counter: () => silent,
  gauge: () => silent,
  histogram: () => silent,
  onRead: nothing,
};
