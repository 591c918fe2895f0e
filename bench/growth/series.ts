/** How the cost of an operation depends on the length of the chain. */
import type { GeneratedChain } from '../chain/generate.ts';
import { SIZES } from '../chain/kept-chains.ts';
import type { Sample } from '../measure/contender.ts';
import { figureOf, type Rounds, ratioOf } from '../measure/rounds.ts';
import { type Point, type Series, withUnit } from '../report/result.ts';

export const sizeName = (transfers: number): string =>
  Object.entries(SIZES).find(([, size]) => size === transfers)?.[0] ?? String(transfers);

/** The name of the contender that measures `what` with this chain. */
export const contenderName = (what: string, { transfers }: GeneratedChain): string =>
  `${what} ${sizeName(transfers)}`;

export interface RatesOptions {
  readonly name: string;
  /** As in the names of the contenders. */
  readonly what: string;
  readonly denominator?: string;
  /** Where the figure is not the rate. */
  readonly show?: (sample: Sample) => number;
  readonly unit?: string;
  /** Where not every operation of a node depends on it. */
  readonly isHotPath?: boolean;
}

/** A series of rates; costs are compared within each round. Chains that were not measured are left out. */
export function seriesOfRates(
  rounds: Rounds,
  chains: readonly GeneratedChain[],
  options: RatesOptions,
): Series {
  const { name, what, denominator, show, unit = '/s', isHotPath = true } = options;
  const [first] = chains;
  const points = chains.map((chain): Point | undefined => {
    const contender = contenderName(what, chain);
    const value = figureOf(rounds, contender, show ?? ((sample) => sample.perSecond));
    const cost = first && ratioOf(rounds, contenderName(what, first), contender);
    if (value === undefined || cost === undefined) return undefined;
    const { median, low, high } = cost;
    const point = { transfers: chain.transfers, cost: median, low, high };
    const shown = { ...point, value: withUnit(value, unit) };
    if (denominator === undefined) return shown;
    const against = figureOf(rounds, denominator, show ?? ((sample) => sample.perSecond));
    return {
      ...shown,
      against: `${denominator} ${withUnit(against, unit)}`,
      ratio: ratioOf(rounds, contender, denominator),
    };
  });
  return { name, isHotPath, points: points.filter((point) => point !== undefined) };
}

/** The slope of a line through the logarithms: the cost grows as the length to this power. */
export function exponentOf(points: readonly Pick<Point, 'transfers' | 'cost'>[]): number {
  const xs = points.map(({ transfers }) => Math.log(transfers));
  const ys = points.map(({ cost }) => Math.log(cost));
  const [x, y] = [mean(xs), mean(ys)];
  const covariance = mean(xs.map((one, i) => (one - x) * (ys[i]! - y)));
  const variance = mean(xs.map((one) => (one - x) ** 2));
  return variance === 0 ? 0 : covariance / variance;
}

/** How much the logarithm of the length grows from the first point to the last. */
export function logarithmicGrowth(points: readonly Pick<Point, 'transfers'>[]): number {
  const [first, last] = [points[0], points.at(-1)];
  return first && last ? Math.log(last.transfers) / Math.log(first.transfers) : 1;
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
