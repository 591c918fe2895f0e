/**
 * Row k: processor time of the ordering (main) thread for an accepted transfer, without connection
 * threads and with them. It bounds what a machine with more processors can accept.
 */
import type { Bench } from '../bench.ts';
import { figureOf, type Rounds, ratioOf, type Spread } from '../measure/rounds.ts';
import { type Accepting, startAccepting } from '../node/accepting.ts';
import { atMost, type Figure, perSecond, type RowResult, withUnit } from '../report/result.ts';

const THREADS = [0, 1, 2];
const MICROSECONDS = 1e6;
const nameOf = (threads: number): string => `threads = ${threads}`;

export async function cores(bench: Bench): Promise<RowResult> {
  const notes: string[] = [];
  const nodes: Accepting[] = [];
  for (const threads of THREADS) {
    nodes.push(
      await startAccepting(bench, {
        execArgv: bench.nodeFlags,
        set: [`rest-api.threads=${threads}`],
      }),
    );
  }
  const contenders = nodes.map((node, index) => ({
    ...node.accepted,
    name: nameOf(THREADS[index]!),
  }));
  const rounds = await bench.measure(contenders, notes);
  for (const node of nodes) await node.stop();

  const without = nameOf(0);
  const figures = contenders.flatMap(({ name }): Figure[] => [
    {
      what: `${name}: main thread for a transfer`,
      value: withUnit(microseconds(rounds, name, 'mainPerOperation'), ' µs'),
    },
    {
      what: `${name}: all threads`,
      value: withUnit(microseconds(rounds, name, 'cpuPerOperation'), ' µs'),
    },
    {
      what: `${name}: accepted`,
      value: perSecond(figureOf(rounds, name, (sample) => sample.perSecond)),
      ...(name === without ? {} : { against: without, ratio: ratioOf(rounds, name, without) }),
    },
  ]);
  const main = contenders
    .map(({ name }) => microseconds(rounds, name, 'mainPerOperation')?.median)
    .filter((median) => median !== undefined);
  const least = main.length === 0 ? undefined : Math.min(...main);
  const bound = (level: 'Good' | 'Strong' | 'Moonshot', most: number) => ({
    level,
    conditions: [atMost(most, least, 'µs of the main thread')],
  });
  return {
    row: 'k',
    title: 'cores',
    figures,
    goals: [bound('Good', 71), bound('Strong', 35), bound('Moonshot', 15)],
    notes,
  };
}

function microseconds(
  rounds: Rounds,
  name: string,
  of: 'mainPerOperation' | 'cpuPerOperation',
): Spread | undefined {
  return figureOf(rounds, name, (sample) => {
    const seconds = sample[of];
    return seconds === undefined ? undefined : seconds * MICROSECONDS;
  });
}
