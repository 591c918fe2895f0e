/**
 * Interleaved measuring (performance.md#measuring): every round runs all contenders once, one after
 * the other, so that a slow phase of the machine slows both sides of a ratio. Every other round runs
 * them in the reverse order, because whoever runs first finds the machine cooler, or its caches
 * emptier. A run does not count when other programs keep the machine busy.
 */
import type { Contender, Sample } from './contender.ts';
import { foreignShare, readCpu } from './cpu.ts';

export interface RoundsOptions {
  readonly rounds: number;
  readonly ms: number;
  /** Counts what was measured on a busy machine too. */
  readonly evenBusy: boolean;
}

export interface Rounds {
  /** By contender, then by round; undefined: the machine was busy. */
  readonly samples: ReadonlyMap<string, readonly (Sample | undefined)[]>;
  readonly dropped: number;
}

export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly count: number;
}

/** Share of the machine that others may use before a run is dropped. */
const FOREIGN_SHARE_MAX = 0.1;
const QUIET_SAMPLE_MS = 500;
const QUIET_WAIT_MS = 60_000;
/** Rounds run at most, as a multiple of those asked for. */
const ATTEMPTS_FACTOR = 3;

export async function interleave(
  contenders: readonly Contender[],
  { rounds, ms, evenBusy }: RoundsOptions,
): Promise<Rounds> {
  const samples = new Map<string, (Sample | undefined)[]>();
  for (const { name } of contenders) samples.set(name, []);
  let dropped = 0;
  for (let round = 0; round < rounds * ATTEMPTS_FACTOR; round++) {
    const order = round % 2 === 0 ? contenders : contenders.toReversed();
    for (const contender of order) {
      if (!evenBusy) await quietMoment();
      const before = readCpu();
      const sample = await contender.run(ms);
      const busy = !evenBusy && foreignShare(before, readCpu()) > FOREIGN_SHARE_MAX;
      if (busy) dropped++;
      samples.get(contender.name)?.push(busy ? undefined : sample);
    }
    if ([...samples.values()].every((list) => countOf(list) >= rounds)) break;
  }
  return { samples, dropped };
}

/** Waits until others leave the machine alone, but not for ever. */
async function quietMoment(): Promise<void> {
  for (let waited = 0; waited < QUIET_WAIT_MS; waited += QUIET_SAMPLE_MS) {
    const before = readCpu();
    await new Promise((resolve) => setTimeout(resolve, QUIET_SAMPLE_MS));
    if (foreignShare(before, readCpu()) <= FOREIGN_SHARE_MAX) return;
  }
}

const countOf = (list: readonly unknown[]): number =>
  list.filter((item) => item !== undefined).length;

/** The ratio of two contenders, by default of their rates, from the rounds in which both count. */
export function ratioOf(
  rounds: Rounds,
  name: string,
  of: string,
  read: (sample: Sample) => number | undefined = ({ perSecond }) => perSecond,
): Spread | undefined {
  const own = rounds.samples.get(name) ?? [];
  const other = rounds.samples.get(of) ?? [];
  return spread(
    own.map((sample, i) => {
      const base = other[i];
      const [value, against] = [sample && read(sample), base && read(base)];
      return value === undefined || against === undefined ? undefined : value / against;
    }),
  );
}

/** How many times less processor time an operation takes than one of the other contender. */
export function costRatioOf(rounds: Rounds, name: string, of: string): Spread | undefined {
  const cost = (contender: string): Spread | undefined =>
    figureOf(rounds, contender, (sample) => sample.costPerOperation);
  const [own, other] = [cost(name), cost(of)];
  if (own === undefined || other === undefined) return undefined;
  return {
    median: other.median / own.median,
    low: other.low / own.high,
    high: other.high / own.low,
    count: Math.min(own.count, other.count),
  };
}

export function figureOf(
  rounds: Rounds,
  name: string,
  read: (sample: Sample) => number | undefined,
): Spread | undefined {
  return spread((rounds.samples.get(name) ?? []).map((sample) => sample && read(sample)));
}

export function spread(values: readonly (number | undefined)[]): Spread | undefined {
  const known = values.filter((value) => value !== undefined).sort((a, b) => a - b);
  const count = known.length;
  if (count === 0) return undefined;
  const upper = known[Math.floor(count / 2)]!;
  const lower = known[Math.floor((count - 1) / 2)]!;
  return { median: (upper + lower) / 2, low: known[0]!, high: known[count - 1]!, count };
}
