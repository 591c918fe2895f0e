/** The results of the last accepted runs as the table of performance.md. */
import {
  type AcceptedRow,
  type Figure,
  type Goal,
  isReached,
  LEVELS,
  type Level,
  number,
} from './result.ts';

const HEAD = ['Row', 'Figure', 'Measured', 'Against', 'Ratio (range)', 'Goal seen', 'At'];

/** In the order of `names`; rows with a picture have a section of their own. */
export function resultsSection(rows: readonly AcceptedRow[], names: readonly string[]): string {
  const shown = names.flatMap((name) =>
    rows.filter(({ row, series }) => row === name && series === undefined),
  );
  const lines = [HEAD, HEAD.map(() => '---'), ...shown.flatMap(linesOf)];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function linesOf({ row, figures, goals, measured }: AcceptedRow): string[][] {
  return figures
    .filter(({ isDetail }) => isDetail !== true)
    .map((figure, i) => [
      i === 0 ? row : '',
      figure.what,
      figure.value,
      figure.against ?? '',
      ratioText(figure),
      i === 0 ? goalSeen(goals) : '',
      i === 0 ? `\`${measured.commit}\`` : '',
    ]);
}

const ratioText = ({ ratio }: Figure): string =>
  ratio === undefined ? '' : `${number(ratio.median)} (${number(ratio.low)}–${number(ratio.high)})`;

/** The level that is reached, and what the next one lacks. */
export function goalSeen(goals: readonly Goal[]): string {
  let seen: Level | undefined;
  for (const level of LEVELS) {
    const own = goals.filter((goal) => goal.level === level);
    if (own.length === 0) continue;
    if (own.every((goal) => isReached(goal) === true)) {
      seen = level;
      continue;
    }
    const missed = own.flatMap(({ conditions }) => conditions).filter(({ met }) => met !== true);
    const lacking = `${level}: ${missed.map(({ text }) => text).join(', ')}`;
    return seen === undefined ? `**below ${lacking}**` : `${seen}; ${lacking}`;
  }
  return seen ?? '';
}
