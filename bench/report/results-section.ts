/** The goals and the results of the last accepted runs as the tables of performance.md. */
import {
  type AcceptedRow,
  type Figure,
  type Goal,
  isReached,
  LEVELS,
  type Level,
  number,
} from './result.ts';

const GOALS_HEAD = ['Row', 'What it measures', ...LEVELS];
const RESULTS_HEAD = ['Row', 'Figure', 'Measured', 'Against', 'Ratio (range)', 'Goal seen', 'At'];

/** What each level asks of a row. */
export function goalsSection(rows: readonly AcceptedRow[], names: readonly string[]): string {
  return table(
    GOALS_HEAD,
    shown(rows, names).map(({ row, title, goals }) => [
      row,
      title,
      ...LEVELS.map((level) => conditionsOf(goals, level)),
    ]),
  );
}

export function resultsSection(rows: readonly AcceptedRow[], names: readonly string[]): string {
  return table(RESULTS_HEAD, shown(rows, names).flatMap(linesOf));
}

/** In the order of `names`; rows with a picture have a section of their own. */
function shown(rows: readonly AcceptedRow[], names: readonly string[]): AcceptedRow[] {
  return names.flatMap((name) =>
    rows.filter(({ row, series }) => row === name && series === undefined),
  );
}

function table(head: readonly string[], lines: readonly string[][]): string {
  return [head, head.map(() => '---'), ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

const conditionsOf = (goals: readonly Goal[], level: Level): string =>
  goals
    .filter((goal) => goal.level === level)
    .flatMap(({ conditions }) => conditions.map(({ text }) => text))
    .join(', ');

/** Neighbours without a ratio share a line after the first one: the table is long. */
function linesOf({ row, figures, goals, measured }: AcceptedRow): string[][] {
  const at = `${measured.date} \`${measured.commit}\``;
  const lines: string[][] = [];
  let joined: string | undefined;
  for (const figure of figures.filter(({ isDetail }) => isDetail !== true)) {
    if (lines.length === 0) {
      lines.push([row, ...cellsOf(figure), goalSeen(goals), at]);
      continue;
    }
    if (figure.ratio !== undefined) {
      joined = undefined;
      lines.push(['', ...cellsOf(figure), '', '']);
      continue;
    }
    if (joined !== undefined) lines.pop();
    joined = joined === undefined ? phrase(figure) : `${joined}; ${phrase(figure)}`;
    lines.push(['', joined, '', '', '', '', '']);
  }
  return lines;
}

function phrase({ what, value, against }: Figure): string {
  const told = [what, value].filter((part) => part !== '').join(': ');
  return against === undefined ? told : `${told} (${against})`;
}

const cellsOf = (figure: Figure): string[] => [
  figure.what,
  figure.value,
  figure.against ?? '',
  ratioText(figure),
];

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
