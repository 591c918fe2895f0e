/** The lines of the screen. Texts of other nodes are shown, never obeyed by the terminal. */
import { MIB } from '../../../base/limits/budget.ts';
import { colour } from '../../terminal/output.ts';
import type { MetricRates } from './metrics-text.ts';
import type { Facts, Reading } from './node-watch.ts';

const LABEL_CHARS = 11;
const NAME_CHARS_MAX = 24;
const ROWS_MAX = 12;

export function linesOf(reading: Reading, width: number): string[] {
  const cut = (text: string): string => shown(text, width);
  const head = cut(`platform-node top   ${reading.url}   ${reading.time}`);
  if ('error' in reading) return [head, '', cut(`  no answer: ${reading.error}`)];
  const rows = [...chainRows(reading), ...(reading.metrics ? metricRows(reading.metrics) : [NONE])];
  return [
    colour('bold', head, process.stdout),
    '',
    ...rows.map(([label, text]) => {
      const rest = shown(text, width - LABEL_CHARS - 2);
      return `  ${colour('dim', label.padEnd(LABEL_CHARS), process.stdout)}${rest}`;
    }),
    '',
    ...listOf('Miners of the last blocks', minerLines(reading), cut),
    ...listOf('Peers', peerLines(reading), cut),
  ];
}

type Row = readonly [label: string, text: string];

const NONE: Row = ['Metrics', 'none: metrics.enable = yes, and --metrics where they are elsewhere'];

function chainRows(facts: Facts): Row[] {
  const { height, finalHeight, tipAgeSeconds, recent, health, pool } = facts;
  const reasons = health.reasons.map(({ code, message }) => `${code}: ${message}`).join('; ');
  const final =
    finalHeight === undefined ? 'nobody votes' : `${finalHeight}, ${height - finalHeight} below`;
  return [
    ['Version', facts.version],
    ['Health', `${health.status} ${reasons}`],
    ['Height', `${height}, ${tipAgeSeconds.toFixed(1)} s old`],
    ['Final', final],
    ['Round', `${facts.round}, ${facts.consensus}`],
    ['Blocks', `${recent.perMinute.toFixed(1)} in a minute, over the last ${recent.count}`],
    ['In blocks', `${recent.transactionsPerSecond.toFixed(1)} transactions in a second`],
    ['Pool', `${pool} transactions`],
  ];
}

function metricRows(of: MetricRates): Row[] {
  const mib = (bytes: number | undefined): string =>
    bytes === undefined ? '?' : `${Math.round(bytes / MIB)} MiB`;
  const { accepted, refused, requests } = of;
  return [
    ['Miner', of.miner ?? '?'],
    ['Sync', of.synchronisation ?? 'alone'],
    ['Taken', `${accepted.toFixed(1)} transactions in a second, ${refused.toFixed(1)} refused`],
    ['Requests', `${requests.toFixed(1)} in a second`],
    ['Process', `${of.processors.toFixed(2)} processors, ${mib(of.residentBytes)}`],
    ['Disk', `chain ${mib(of.storeBytes)}, free ${mib(of.diskFreeBytes)}`],
  ];
}

const minerLines = ({ recent: { miners } }: Facts): string[] =>
  miners.map(({ address, blocks }) => `${address}  ${blocks}`);

const peerLines = ({ peers }: Facts): string[] =>
  peers.map(({ name, address, owner, version }) =>
    [shown(name, NAME_CHARS_MAX).padEnd(NAME_CHARS_MAX), owner, version, address].join('  '),
  );

function listOf(title: string, lines: readonly string[], cut: (text: string) => string): string[] {
  const more = lines.length > ROWS_MAX ? [`  and ${lines.length - ROWS_MAX} more`] : [];
  return [
    `  ${title}: ${lines.length}`,
    ...lines.slice(0, ROWS_MAX).map((line) => cut(`    ${line}`)),
    ...more,
    '',
  ];
}

const shown = (text: string, width: number): string =>
  text.replace(/\p{C}/gu, '?').slice(0, Math.max(0, width));
