// The documents state the limits of each table: the protocol every one, the guide those that an operator meets.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { KIB, MIB } from '../../../src/base/limits/budget.ts';
import { type ContractLimit, contractLimits } from '../../../src/base/limits/contract-limits.ts';
import { eventLimits } from '../../../src/base/limits/event-limits.ts';
import { roundLimits } from '../../../src/base/limits/round-limits.ts';
import { statusLimits } from '../../../src/base/limits/status-limits.ts';

const page = (name: string): string =>
  readFileSync(new URL(`../../../docs/protocol/${name}`, import.meta.url), 'utf8');
const TEXT = page('contracts.md');

function amount({ value, unit }: ContractLimit): string {
  if (unit === 'ms') return value % 1000 === 0 ? `${value / 1000} s` : `${value} ms`;
  if (unit !== 'bytes') return value.toLocaleString('en-US');
  if (value % MIB === 0) return `${value / MIB} MiB`;
  return value % KIB === 0 ? `${value / KIB} KiB` : `${value} bytes`;
}

const rowOf = (one: ContractLimit): string => `| ${one.meaning} | ${amount(one)} |`;

function ofContracts(...names: (keyof typeof contractLimits)[]): ContractLimit[] {
  return names.map((name) => contractLimits[name]);
}

const TABLES = [
  ['## Limits of the gRPC interface', contractLimits],
  ['### Limits of a round', roundLimits],
  ['### Limits of status records', statusLimits],
] as const;

const EVENTS = ['### Limits of events', eventLimits] as const;

for (const [heading, limits] of [...TABLES, EVENTS]) {
  const [name, text] =
    limits === eventLimits ? ['rest.md', page('rest.md')] : ['contracts.md', TEXT];
  t.test(`docs/protocol/${name} states its ${heading.replace(/^#+ L/, 'l')}`, async (t) => {
    const [section = ''] = text!
      .slice(text!.indexOf(`${heading}\n`) + heading.length)
      .split('\n## ');
    const rows = section.split('\n').filter((line) => line.startsWith('| '));
    t.same(rows, ['| Limit | Value |', ...Object.values(limits).map(rowOf)]);
  });
}

const GUIDE = readFileSync(
  new URL('../../../docs/guide/container-engine.md', import.meta.url),
  'utf8',
);

t.test('the guide of the engine leads to each table', async (t) => {
  for (const [heading] of TABLES) {
    const anchor = heading.replace(/^#+ /, '').toLowerCase().replaceAll(' ', '-');
    t.ok(GUIDE.includes(`contracts.md#${anchor}`), anchor);
  }
});

/** Limits that an operator meets in the log, or by the size of a machine or disk. */
const SHOWN: readonly ContractLimit[] = [
  ...ofContracts('containers', 'memoryShare', 'perProcessor', 'stay'),
  ...ofContracts('perStart', 'startTurn', 'kept', 'engineLog', 'cpuShares', 'connections'),
  ...ofContracts('tcpConnections', 'refusals', 'newConnections', 'received', 'interval'),
  ...ofContracts('pulls', 'pullsWaiting', 'pullsWaitingOfOne', 'layers', 'manifest'),
  ...ofContracts('registryTime', 'growth', 'growthFiles', 'filesShare', 'diskFree', 'pulledImages'),
  ...(['attempts', 'heldUp', 'failures', 'rests'] as const).map((name) => roundLimits[name]),
];

t.test('the guide states what an operator meets', async (t) => {
  const [section = ''] = GUIDE.slice(GUIDE.indexOf('\n## Limits\n') + 1).split('\n## ');
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  t.same(rows, ['| Limit | Value |', ...SHOWN.map(rowOf)]);
});
