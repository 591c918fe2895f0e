/**
 * Row k: processor time of the ordering (main) thread for an accepted transfer, without connection
 * threads and with them. It bounds what a machine with more processors can accept. Instructions tell
 * the same without the caches and the frequency of the machine, where it counts them.
 */
import type { Bench } from '../bench.ts';
import { canCountInstructions, type Instructions } from '../measure/instructions.ts';
import { figureOf, type Rounds, ratioOf, type Spread } from '../measure/rounds.ts';
import { type Accepting, startAccepting } from '../node/accepting.ts';
import {
  atMost,
  type Figure,
  number,
  perSecond,
  type RowResult,
  withUnit,
} from '../report/result.ts';

const THREADS = [0, 1, 2];
/** As many clients as a machine with eight processors may have. */
const CONNECTIONS = 256;
const MICROSECONDS = 1e6;
const nameOf = (threads: number): string => `threads = ${threads}`;

export async function cores(bench: Bench): Promise<RowResult> {
  const notes: string[] = [];
  const nodes: Accepting[] = [];
  const countsInstructions = canCountInstructions();
  if (!countsInstructions) notes.push('the machine does not count instructions (`perf stat`)');
  for (const threads of THREADS) {
    nodes.push(
      await startAccepting(bench, {
        execArgv: bench.nodeFlags,
        connections: CONNECTIONS,
        countsInstructions,
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
    ...(countsInstructions
      ? [
          {
            what: `${name}: instructions, main thread and all`,
            value: `${thousands(rounds, name, 'main')}, ${thousands(rounds, name, 'all')}`,
          },
        ]
      : []),
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
    figures: [...figures, { what: 'connections', value: String(CONNECTIONS) }],
    goals: [bound('Good', 71), bound('Strong', 35), bound('Moonshot', 15)],
    notes,
  };
}

function thousands(rounds: Rounds, name: string, of: keyof Instructions): string {
  const each = figureOf(rounds, name, ({ instructionsPerOperation: counted }) => counted?.[of]);
  return each === undefined ? 'not measured' : `${number(each.median / 1000)} k`;
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
