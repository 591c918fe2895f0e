/** Row h: from the start of the process to its first answer, after a stop and after kill -9. */
import type { Bench } from '../bench.ts';
import { UNCHANGED } from '../chain/kept-chains.ts';
import { spread } from '../measure/rounds.ts';
import { type NodeProcess, startNode } from '../node/node-process.ts';
import { atMost, type RowResult, withUnit } from '../report/result.ts';
import { longChain } from './chain.ts';

const RUNS = { full: 5, quick: 2 };

export async function start(bench: Bench): Promise<RowResult> {
  const { folder, senders, transfers } = await longChain(bench);
  const address = folder.scheme.addressToText(senders[0]!.address);
  const options = { firstPath: `/addresses/balance/${address}`, set: [UNCHANGED] };
  const runs = bench.quick ? RUNS.quick : RUNS.full;

  async function measured(end: (node: NodeProcess) => Promise<void>) {
    const times: number[] = [];
    // The first start reads the files into memory; what follows is how a restart feels.
    for (let i = 0; i <= runs; i++) {
      const node = await startNode(folder, options);
      if (i > 0) times.push(node.startMs / 1000);
      await end(node);
    }
    return spread(times);
  }
  const clean = await measured((node) => node.stop());
  const killed = await measured((node) => node.kill());
  return {
    row: 'h',
    title: 'start',
    figures: [
      { what: 'start to first answer, clean', value: withUnit(clean, ' s') },
      { what: 'after kill -9', value: withUnit(killed, ' s') },
      { what: 'chain', value: `${transfers} transfers` },
    ],
    goals: [
      {
        level: 'Good',
        conditions: [atMost(3, clean?.median, 's'), atMost(10, killed?.median, 's after kill')],
      },
      {
        level: 'Strong',
        conditions: [atMost(1, clean?.median, 's'), atMost(3, killed?.median, 's after kill')],
      },
      {
        level: 'Moonshot',
        conditions: [atMost(0.4, clean?.median, 's'), atMost(0.8, killed?.median, 's after kill')],
      },
    ],
    notes: [],
  };
}
