/** The result of a row of the benchmark, and its comparison with the goals. */
import type { Spread } from '../measure/rounds.ts';

export interface RowResult {
  /** Letter of the row in performance.md, or a short word for a figure that stands elsewhere. */
  readonly row: string;
  readonly title: string;
  readonly figures: readonly Figure[];
  readonly goals: readonly Goal[];
  /** What was left out or did not go as it should. */
  readonly notes: readonly string[];
  /** What the picture shows. */
  readonly series?: readonly Series[];
}

export interface AcceptedRow extends RowResult {
  readonly measured: Measured;
}

/** When, of what, and where. */
export interface Measured {
  readonly date: string;
  readonly commit: string;
  readonly processors: string;
  readonly node: string;
}

export interface Figure {
  readonly what: string;
  readonly value: string;
  /** The denominator of the same run and its own figure. */
  readonly against?: string;
  readonly ratio?: Spread | undefined;
  /** The same ratio in processor time of everything that took part. */
  readonly perCpu?: Spread | undefined;
  /** True: shown by the run, and not in performance.md. */
  readonly isDetail?: boolean;
}

/** How the cost of an operation depends on the length of the chain. */
export interface Series {
  /** Letter of the row and what it measures. */
  readonly name: string;
  /** True for what a node does for each transaction or request. */
  readonly isHotPath: boolean;
  /** The shortest chain first. */
  readonly points: readonly Point[];
}

export interface Point {
  readonly transfers: number;
  readonly value: string;
  /** The cost of an operation, in units of that with the shortest chain. */
  readonly cost: number;
  readonly low: number;
  readonly high: number;
  /** The denominator of the same run and the ratio to it. */
  readonly against?: string;
  readonly ratio?: Spread | undefined;
}

/** From the lowest. */
export const LEVELS = ['Good', 'Strong', 'Moonshot'] as const;
export type Level = (typeof LEVELS)[number];

export interface Goal {
  readonly level: Level;
  readonly conditions: readonly Condition[];
}

export interface Condition {
  readonly text: string;
  /** Undefined: not measured. */
  readonly met: boolean | undefined;
}

export const atLeast = (bound: number, value: number | undefined, unit: string): Condition => ({
  text: `≥ ${number(bound)} ${unit}`,
  met: value === undefined ? undefined : value >= bound,
});

export const atMost = (bound: number, value: number | undefined, unit: string): Condition => ({
  text: `≤ ${number(bound)} ${unit}`,
  met: value === undefined ? undefined : value <= bound,
});

/** A ratio to a denominator of the same run. */
export const ratioAtLeast = (bound: number, ratio: Spread | undefined, of: string): Condition =>
  atLeast(bound, ratio?.median, of);

/** True if all conditions hold, false if one fails, undefined while one is unknown. */
export function isReached(goal: Goal): boolean | undefined {
  if (goal.conditions.some(({ met }) => met === false)) return false;
  return goal.conditions.every(({ met }) => met === true) ? true : undefined;
}

/** Three significant digits, thousands apart. */
export function number(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

export const perSecond = (spread: Spread | undefined): string => withUnit(spread, '/s');

export const percent = (spread: Spread | undefined): string => {
  const of = (share: number): number => 100 * share;
  if (spread === undefined) return 'not measured';
  const { median, low, high, count } = spread;
  return withUnit({ median: of(median), low: of(low), high: of(high), count }, ' %');
};

export function withUnit(spread: Spread | undefined, unit: string): string {
  if (spread === undefined) return 'not measured';
  const { median, low, high, count } = spread;
  const range = count > 1 ? ` (${number(low)}–${number(high)})` : '';
  return `${number(median)}${unit}${range}`;
}
