/** docs/reference/observability.md: the page of events and metrics, printed from their lists. */
import { MINER_STATES } from '../miner/miner.ts';
import { events, metricTable } from './observability.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|');

export function observabilityPage(): string {
  const eventRows = Object.entries(events).map(([name, help]) => `| \`${name}\` | ${cell(help)} |`);
  const metricRows = Object.values(metricTable).map(({ name, kind, labels, help }) => {
    const names = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${kind} | ${names} | ${cell(help)} |`;
  });
  return `# Events and metrics

Generated from \`src/node/observability.ts\`; do not edit. How to read and use them is told in
[Operations](../guide/operations.md).

## Events of the log

A line of the log has \`level\`, \`time\`, \`event\` and the fields of the event.

| Event | Meaning |
|---|---|
${eventRows.join('\n')}

## Metrics

Served at \`/metrics\` where \`metrics.enable\` is on. Durations are in seconds. States of the miner:
${MINER_STATES.map((state) => `\`${state}\``).join(', ')}.

| Metric | Kind | Labels | Meaning |
|---|---|---|---|
${metricRows.join('\n')}
`;
}
