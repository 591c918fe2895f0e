/** docs/reference/observability.md: the page of events and metrics, printed from their lists. */

import type { MetricTable } from '../../src/base/metric-table.ts';
import { MINER_STATES } from '../../src/miner/miner.ts';
import { events, metricTable } from '../../src/node/metrics/observability.ts';

/** What another program of this release logs and measures. */
export interface Observed {
  readonly events: Readonly<Record<string, string>>;
  readonly metrics: MetricTable;
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

const eventRows = (of: Observed['events']): string[] =>
  Object.entries(of).map(([name, help]) => `| \`${name}\` | ${cell(help)} |`);

const metricRows = (of: MetricTable): string[] =>
  Object.values(of).map(({ name, kind, labels, help }) => {
    const names = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${kind} | ${names} | ${cell(help)} |`;
  });

export function observabilityPage(dataService: Observed): string {
  return `# Events and metrics

Generated from \`src/node/metrics/observability.ts\`; do not edit. How to read and use them is told in
[Operations](../guide/operations.md).

## Events of the log

A line of the log has \`level\`, \`time\`, \`event\` and the fields of the event.

| Event | Meaning |
|---|---|
${eventRows(events).join('\n')}

## Metrics

Served at \`/metrics\` where \`metrics.enable\` is on. Durations are in seconds. States of the miner:
${MINER_STATES.map((state) => `\`${state}\``).join(', ')}.

| Metric | Kind | Labels | Meaning |
|---|---|---|---|
${metricRows(metricTable).join('\n')}

## The data service

From \`src/data-service/observability.ts\`; its metrics are served where \`data-service.metrics-port\` is set.

| Event | Meaning |
|---|---|
${eventRows(dataService.events).join('\n')}

| Metric | Kind | Labels | Meaning |
|---|---|---|---|
${metricRows(dataService.metrics).join('\n')}
`;
}
