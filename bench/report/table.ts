/** Results as a Markdown table, which is also readable in a terminal. */
import { type Goal, isReached, number, type RowResult } from './result.ts';

const HEAD = [
  'Row',
  'Figure',
  'Measured',
  'Against',
  'Ratio (range, rounds)',
  'Per cpu-s',
  'Goals',
];

export function table(results: readonly RowResult[]): string {
  const lines = [HEAD, ...results.flatMap(linesOf)];
  const widths = HEAD.map((_, i) => Math.max(...lines.map((line) => line[i]!.length)));
  const print = (line: readonly string[]): string =>
    `| ${line.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  const [head, ...rest] = lines.map(print);
  const notes = results.flatMap(({ row, notes }) => notes.map((note) => `* ${row}: ${note}`));
  return [head, rule, ...rest, ...(notes.length === 0 ? [] : ['', ...notes]), ''].join('\n');
}

/** Figures and goals of a row side by side, whichever are more. */
function linesOf({ row, title, figures, goals }: RowResult): string[][] {
  const count = Math.max(figures.length, goals.length, 1);
  return Array.from({ length: count }, (_, i) => {
    const figure = figures[i];
    const goal = goals[i];
    return [
      i === 0 ? row : '',
      i === 0 && figure === undefined ? title : (figure?.what ?? ''),
      figure?.value ?? '',
      figure?.against ?? '',
      figure?.ratio === undefined ? '' : ratioText(figure.ratio),
      figure?.perCpu === undefined ? '' : number(figure.perCpu.median),
      goal === undefined ? '' : goalText(goal),
    ];
  });
}

function ratioText({ median, low, high, count }: NonNullable<RowResult['figures'][0]['ratio']>) {
  return `${number(median)} (${number(low)}–${number(high)}, ${count})`;
}

function goalText(goal: Goal): string {
  const verdict = { true: 'reached', false: 'MISSED', undefined: 'open' }[String(isReached(goal))];
  const conditions = goal.conditions.map(({ text, met }) =>
    met === true ? text : met === false ? `${text} ✗` : `${text} ?`,
  );
  return `${goal.level} ${verdict}: ${conditions.join(', ')}`;
}
