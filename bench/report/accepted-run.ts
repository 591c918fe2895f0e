/**
 * What the repository keeps of the last accepted run: the results of each row, the ratios with
 * which the short form compares, the picture of growth, and in performance.md the two tables and
 * the sentence about growth.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { exponentOf } from '../growth/series.ts';
import { growthPicture } from './growth-picture.ts';
import { type AcceptedRow, type Measured, number, type RowResult, type Series } from './result.ts';
import { goalsSection, resultsSection } from './results-section.ts';

export interface AcceptedRun {
  readonly rows: readonly AcceptedRow[];
  /** By name, what the short form measured. */
  readonly short: Readonly<Record<string, number>>;
}

const FILE = fileURLToPath(new URL('../results.json', import.meta.url));
const PICTURE = fileURLToPath(new URL('../../docs/performance.svg', import.meta.url));
const DOCUMENT = fileURLToPath(new URL('../../docs/performance.md', import.meta.url));
const LINE_WIDTH = 110;
const DATE_CHARS = 10;

export function readAccepted(): AcceptedRun {
  if (!existsSync(FILE)) return { rows: [], short: {} };
  return JSON.parse(readFileSync(FILE, 'utf8')) as AcceptedRun;
}

interface Acceptance {
  /** False: growth that has been measured up to a longer chain stays. */
  readonly replacesLonger: boolean;
  /** Of all rows, in their order. */
  readonly names: readonly string[];
}

/** Rows that were not measured stay as they were. */
export function acceptRows(all: readonly RowResult[], { replacesLonger, names }: Acceptance): void {
  const { rows, short } = readAccepted();
  const measured = measuredNow();
  const isShorter = ({ row, series }: RowResult): boolean =>
    longestOf(series) < longestOf(rows.find((one) => one.row === row)?.series);
  const results = replacesLonger ? all : all.filter((one) => !isShorter(one));
  const kept = rows.filter(({ row }) => !results.some((one) => one.row === row));
  const accepted = [...kept, ...results.map((one) => ({ ...one, measured }))];
  write({ rows: accepted, short });
  tell('goals', goalsSection(accepted, names));
  tell('results', resultsSection(accepted, names));
  const { series, notes = [] } = results.find((one) => one.series !== undefined) ?? {};
  if (series === undefined) return;
  const sentence = growthSentence(series);
  writeFileSync(PICTURE, growthPicture(series, sentence));
  const told = [
    sentence,
    `Measured on ${measured.date} at commit \`${measured.commit}\`.`,
    ...notes.map((note) => `Note: ${note}.`),
  ].join(' ');
  tell('growth', wrapped(told));
}

/** Replaces a marked part of performance.md. */
function tell(part: 'goals' | 'results' | 'growth', text: string): void {
  const marks = new RegExp(`(<!-- ${part} -->\\n)[\\s\\S]*?(\\n<!-- /${part} -->)`);
  const document = readFileSync(DOCUMENT, 'utf8');
  writeFileSync(
    DOCUMENT,
    document.replace(marks, (_, start: string, end: string) => start + text + end),
  );
}

const longestOf = (series: readonly Series[] = []): number =>
  Math.max(0, ...series.flatMap(({ points }) => points.map(({ transfers }) => transfers)));

export const acceptShort = (short: AcceptedRun['short']): void =>
  write({ ...readAccepted(), short });

const write = (run: AcceptedRun): void => writeFileSync(FILE, `${JSON.stringify(run, null, 2)}\n`);

/** What grows with the length of the chain, and how fast. */
export function growthSentence(series: readonly Series[]): string {
  const first = series[0]?.points[0];
  const last = series[0]?.points.at(-1);
  const told = series
    .filter(({ points }) => points.length > 1)
    .map(({ name, points }) => {
      const { cost } = points.at(-1)!;
      return `${name} ${number(cost)} times (n^${exponentOf(points).toFixed(2)})`;
    });
  return (
    `From ${count(first?.transfers)} to ${count(last?.transfers)} transfers in the chain, costs grow to: ` +
    `${told.join('; ')}. The logarithm of the length grows to ` +
    `${number(Math.log(last?.transfers ?? 1) / Math.log(first?.transfers ?? 1))} times.`
  );
}

function measuredNow(): Measured {
  const [{ model } = { model: 'unknown' }] = cpus();
  return {
    date: new Date().toISOString().slice(0, DATE_CHARS),
    commit: commit(),
    processors: `${availableParallelism()} × ${model}`,
    node: process.version,
  };
}

function commit(): string {
  try {
    const cwd = fileURLToPath(new URL('.', import.meta.url));
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd, encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}

const count = (value = 0): string => value.toLocaleString('en-US');

function wrapped(text: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trimStart();
    if (longer.length > LINE_WIDTH) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines.join('\n');
}
