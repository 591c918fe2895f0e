// The document states every limit of the table, and no other.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { KIB, MIB } from '../../src/base/budget.ts';
import { type ContractLimit, contractLimits } from '../../src/base/contract-limits.ts';

const TEXT = readFileSync(new URL('../../docs/protocol/contracts.md', import.meta.url), 'utf8');

function amount({ value, unit }: ContractLimit): string {
  if (unit === 'ms') return value % 1000 === 0 ? `${value / 1000} s` : `${value} ms`;
  if (unit !== 'bytes') return value.toLocaleString('en-US');
  if (value % MIB === 0) return `${value / MIB} MiB`;
  return value % KIB === 0 ? `${value / KIB} KiB` : `${value} bytes`;
}

t.test('docs/protocol/contracts.md states the limits', async (t) => {
  const section = TEXT.slice(TEXT.indexOf('## Limits of the gRPC interface'));
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  const expected = Object.values(contractLimits).map(
    (one) => `| ${one.meaning} | ${amount(one)} |`,
  );
  t.same(rows, ['| Limit | Value |', ...expected]);
});
