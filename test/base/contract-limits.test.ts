// The document states every limit of each table, and no other.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { KIB, MIB } from '../../src/base/budget.ts';
import { type ContractLimit, contractLimits } from '../../src/base/contract-limits.ts';
import { roundLimits } from '../../src/base/round-limits.ts';
import { statusLimits } from '../../src/base/status-limits.ts';

const TEXT = readFileSync(new URL('../../docs/protocol/contracts.md', import.meta.url), 'utf8');

function amount({ value, unit }: ContractLimit): string {
  if (unit === 'ms') return value % 1000 === 0 ? `${value / 1000} s` : `${value} ms`;
  if (unit !== 'bytes') return value.toLocaleString('en-US');
  if (value % MIB === 0) return `${value / MIB} MiB`;
  return value % KIB === 0 ? `${value / KIB} KiB` : `${value} bytes`;
}

const TABLES = [
  ['## Limits of the gRPC interface', contractLimits],
  ['### Limits of a round', roundLimits],
  ['### Limits of refusals', statusLimits],
] as const;

for (const [heading, limits] of TABLES) {
  t.test(`docs/protocol/contracts.md states its ${heading.replace(/^#+ L/, 'l')}`, async (t) => {
    const [section = ''] = TEXT.slice(TEXT.indexOf(`${heading}\n`) + heading.length).split('\n## ');
    const rows = section.split('\n').filter((line) => line.startsWith('| '));
    const expected = Object.values(limits).map((one) => `| ${one.meaning} | ${amount(one)} |`);
    t.same(rows, ['| Limit | Value |', ...expected]);
  });
}

t.test('the guide of the engine leads to both', async (t) => {
  const guide = readFileSync(
    new URL('../../docs/guide/container-engine.md', import.meta.url),
    'utf8',
  );
  for (const [heading] of TABLES) {
    const anchor = heading.replace(/^#+ /, '').toLowerCase().replaceAll(' ', '-');
    t.ok(guide.includes(`contracts.md#${anchor}`), anchor);
  }
});
