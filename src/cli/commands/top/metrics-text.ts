/** The metrics of a node as Prometheus reads them. */
import { metricTable } from '../../../node/metrics/observability.ts';

interface Named {
  readonly name: string;
}

const LINE = /^([a-z_]+)(?:\{([^}]*)\})? ([-+.\deE]+)$/;

export class MetricsText {
  private readonly sums = new Map<string, number>();
  /** Of a gauge that is 1 for one of its labels: the text of that label. */
  private readonly states = new Map<string, string>();

  constructor(text: string) {
    for (const line of text.split('\n')) {
      const [, name = '', labels = '', value = ''] = LINE.exec(line) ?? [];
      if (name === '') continue;
      this.sums.set(name, (this.sums.get(name) ?? 0) + Number(value));
      const state = /^state="([a-z-]+)"$/.exec(labels)?.[1];
      if (state !== undefined && value === '1') this.states.set(name, state);
    }
  }

  /** Over all labels; undefined where there is none. */
  sum({ name }: Named): number | undefined {
    return this.sums.get(name);
  }

  state({ name }: Named): string | undefined {
    return this.states.get(name);
  }
}

export interface MetricRates {
  readonly miner: string | undefined;
  readonly synchronisation: string | undefined;
  /** In a second, like the next two. */
  readonly accepted: number;
  readonly refused: number;
  readonly requests: number;
  /** 1: one processor. */
  readonly processors: number;
  readonly residentBytes: number | undefined;
  readonly storeBytes: number | undefined;
  readonly diskFreeBytes: number | undefined;
}

/** `seconds` 0: of a first reading, which has no rates. */
export function ratesBetween(was: MetricsText, is: MetricsText, seconds: number): MetricRates {
  const rate = (metric: Named): number => {
    const more = (is.sum(metric) ?? 0) - (was.sum(metric) ?? 0);
    // A node that was started again counts from zero.
    return seconds > 0 && more > 0 ? more / seconds : 0;
  };
  return {
    miner: is.state(metricTable.minerState),
    synchronisation: is.state(metricTable.syncState),
    accepted: rate(metricTable.accepted),
    refused: rate(metricTable.refused),
    requests: rate(metricTable.requests),
    processors: rate(metricTable.cpuSeconds),
    residentBytes: is.sum(metricTable.residentBytes),
    storeBytes: is.sum(metricTable.storeBytes),
    diskFreeBytes: is.sum(metricTable.diskFree),
  };
}
