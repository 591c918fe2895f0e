/**
 * The series of row `growth` as an SVG: length of the chain across, cost of an operation upward,
 * both logarithmic. It has no background, and colours for light and dark pages.
 */
import { exponentOf } from '../growth/series.ts';
import type { Series } from './result.ts';

const WIDTH = 880;
const PLOT = { left: 60, right: 590, top: 48, bottom: 400 };
const HEIGHT = PLOT.bottom + 56;
const LABEL_STEP = 20;
const COST_STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
/** The axis shows at least this range, so that noise looks like noise. */
const COST_MIN = 0.5;
const COST_MAX = 5;
/** For light pages, then for dark ones. */
const COLOURS = [
  ['#1f5fbf', '#7fb0ff'],
  ['#b3470a', '#ff9d5c'],
  ['#8a6d00', '#e3c341'],
  ['#1b7a3d', '#62cf8a'],
  ['#00788a', '#4fd0e0'],
  ['#7a3fb0', '#c79bf2'],
  ['#55606b', '#a9b4bf'],
  ['#b01f4f', '#ff7fa6'],
] as const;

export function growthPicture(series: readonly Series[], caption: string): string {
  const lengths = [...new Set(series.flatMap(({ points }) => points.map((p) => p.transfers)))];
  lengths.sort((a, b) => a - b);
  const [shortest = 1, longest = 10] = [lengths[0], lengths.at(-1)];
  const costs = series.flatMap(({ points }) => points.map(({ cost }) => cost));
  const steps = stepsAround(Math.min(COST_MIN, ...costs), Math.max(COST_MAX, ...costs));
  const scale: Scale = {
    x: logarithmic([shortest, longest], [PLOT.left, PLOT.right]),
    y: logarithmic([steps[0]!, steps.at(-1)!], [PLOT.bottom, PLOT.top]),
  };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">`,
    `<title>${escaped(caption)}</title>`,
    `<style>${style()}</style>`,
    text(PLOT.left, 24, 'Cost of an operation, relative to the shortest chain', 'title'),
    ...steps.map((step) => costStep(step, scale)),
    ...lengths.map((length) => lengthStep(length, scale)),
    text((PLOT.left + PLOT.right) / 2, HEIGHT - 10, 'transfers in the chain', 'axis middle'),
    logarithm(shortest, longest, scale),
    ...series.map(({ points }, i) => line(points, i, scale)),
    ...labels(series, scale),
    '</svg>',
    '',
  ].join('\n');
}

interface Scale {
  readonly x: (length: number) => number;
  readonly y: (cost: number) => number;
}

function logarithmic(
  [from, to]: readonly [number, number],
  [start, end]: readonly [number, number],
) {
  const width = Math.log(to / from) || 1;
  return (value: number): number => round(start + ((end - start) * Math.log(value / from)) / width);
}

function stepsAround(low: number, high: number): number[] {
  const first = COST_STEPS.findLastIndex((step) => step <= low);
  const last = COST_STEPS.findIndex((step) => step >= high);
  return COST_STEPS.slice(Math.max(0, first), last < 0 ? undefined : last + 1);
}

const costStep = (step: number, { y }: Scale): string =>
  `<line class="grid" x1="${PLOT.left}" x2="${PLOT.right}" y1="${y(step)}" y2="${y(step)}"/>` +
  text(PLOT.left - 8, y(step) + 4, `× ${step}`, 'axis end');

const lengthStep = (length: number, { x }: Scale): string =>
  `<line class="grid" x1="${x(length)}" x2="${x(length)}" y1="${PLOT.top}" y2="${PLOT.bottom}"/>` +
  text(x(length), PLOT.bottom + 20, length.toLocaleString('en-US'), 'axis middle');

/** What the logarithm of the length would look like. */
function logarithm(shortest: number, longest: number, { x, y }: Scale): string {
  const steps = 24;
  const places = Array.from({ length: steps + 1 }, (_, i) => {
    const length = shortest * (longest / shortest) ** (i / steps);
    return `${x(length)},${y(Math.log(length) / Math.log(shortest))}`;
  });
  const label = text(PLOT.left + 8, PLOT.top + 16, '- - -  log n', 'axis');
  return `<polyline class="logarithm" points="${places.join(' ')}"/>${label}`;
}

function line(points: Series['points'], i: number, { x, y }: Scale): string {
  const places = points.map(({ transfers, cost }) => [x(transfers), y(cost)] as const);
  const dots = places.map(([at, up]) => `<circle class="f${i}" cx="${at}" cy="${up}" r="3.5"/>`);
  return `<polyline class="s${i}" points="${places.join(' ')}"/>${dots.join('')}`;
}

/** Beside the ends of the lines, in their order, apart from one another. */
function labels(series: readonly Series[], { x, y }: Scale): string[] {
  const ends = series
    .map(({ name, points }, i) => ({ name, points, i, last: points.at(-1) }))
    .filter(({ last }) => last !== undefined)
    .map(({ last, ...one }) => ({ ...one, x: x(last!.transfers), y: y(last!.cost), last: last! }))
    .sort((a, b) => a.y - b.y);
  const middle = ends.reduce((sum, end) => sum + end.y, 0) / Math.max(1, ends.length);
  const height = (ends.length - 1) * LABEL_STEP;
  const lowest = PLOT.bottom - height;
  let at = Math.max(PLOT.top, Math.min(lowest, middle - height / 2)) - LABEL_STEP;
  return ends.map((end) => {
    at = Math.max(at + LABEL_STEP, PLOT.top);
    const power = end.points.length > 1 ? `, n^${exponentOf(end.points).toFixed(2)}` : '';
    const words = `${end.name}: × ${end.last.cost.toFixed(2)}${power}`;
    const path = `M${end.x + 6} ${end.y}L${PLOT.right + 26} ${round(at)}h8`;
    return (
      `<path class="lead s${end.i}" d="${path}"/>` +
      text(PLOT.right + 38, at + 4, words, `f${end.i}`)
    );
  });
}

function style(): string {
  const rules = (theme: 0 | 1): string =>
    COLOURS.map((pair, i) => `.s${i}{stroke:${pair[theme]}}.f${i}{fill:${pair[theme]}}`).join('');
  return [
    'text{font:13px system-ui,sans-serif;fill:#24292f}.title{font-weight:600;font-size:15px}',
    '.axis{fill:#57606a;font-size:12px}.middle{text-anchor:middle}.end{text-anchor:end}',
    'polyline,path{fill:none;stroke-width:2}.lead{stroke-width:1;opacity:.6}',
    '.grid{stroke:#d0d7de}.logarithm{stroke:#57606a;stroke-dasharray:5 5;stroke-width:1.5}',
    rules(0),
    '@media(prefers-color-scheme:dark){text{fill:#e6edf3}.axis{fill:#9da7b1}',
    `.grid{stroke:#30363d}.logarithm{stroke:#9da7b1}${rules(1)}}`,
  ].join('');
}

const text = (x: number, y: number, words: string, kind: string): string =>
  `<text class="${kind}" x="${round(x)}" y="${round(y)}">${escaped(words)}</text>`;

const escaped = (words: string): string =>
  words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const round = (value: number): number => Math.round(value * 10) / 10;
