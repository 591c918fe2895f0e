/** Row d with chains of several lengths. */
import type { Bench } from '../bench.ts';
import type { GeneratedChain } from '../chain/generate.ts';
import { UNCHANGED } from '../chain/kept-chains.ts';
import { startEcho } from '../denominators/hyper-express.ts';
import type { Contender } from '../measure/contender.ts';
import { type NodeProcess, startNode } from '../node/node-process.ts';
import type { Series } from '../report/result.ts';
import { readers } from '../rows/readers.ts';
import { contenderName, seriesOfRates } from './series.ts';

export async function readSeries(
  bench: Bench,
  chains: readonly GeneratedChain[],
  notes: string[],
): Promise<Series[]> {
  const nodes: NodeProcess[] = [];
  const contenders: Contender[] = [];
  for (const chain of chains) {
    const node = await startNode(chain.folder, { set: [UNCHANGED] });
    nodes.push(node);
    for (const reader of readers(bench, node, chain)) {
      contenders.push({ ...reader, name: contenderName(reader.name, chain) });
    }
  }
  const echo = await startEcho(bench.load);
  const rounds = await bench.measure([...contenders, echo.get], notes);
  await Promise.all([echo.stop(), ...nodes.map((node) => node.stop())]);
  return ['balance', 'transaction', 'header'].map((what) =>
    seriesOfRates(rounds, chains, { name: `d ${what}`, what, denominator: 'H' }),
  );
}
