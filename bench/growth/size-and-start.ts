/** Rows g and h with chains of several lengths. */
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Bench } from '../bench.ts';
import type { GeneratedChain } from '../chain/generate.ts';
import { UNCHANGED } from '../chain/kept-chains.ts';
import type { Contender } from '../measure/contender.ts';
import { startNode } from '../node/node-process.ts';
import { number, type Series } from '../report/result.ts';
import { storeFile } from '../rows/chain.ts';
import { contenderName, seriesOfRates } from './series.ts';

const run = promisify(execFile);

export function diskSeries(chains: readonly GeneratedChain[]): Series {
  const sizes = chains.map((chain) => (statSync(storeFile(chain)).blocks * 512) / chain.transfers);
  const points = chains.map(({ transfers }, i) => {
    const cost = sizes[i]! / sizes[0]!;
    return { transfers, value: `${number(sizes[i]!)} B`, cost, low: cost, high: cost };
  });
  return { name: 'g bytes of a transfer', isHotPath: true, points };
}

/** From the start of the process to its first answer; beside it Node alone. */
export async function startSeries(
  bench: Bench,
  chains: readonly GeneratedChain[],
  notes: string[],
): Promise<Series> {
  const contenders = chains.map((chain): Contender => {
    const { folder, senders } = chain;
    const firstPath = `/addresses/balance/${folder.scheme.addressToText(senders[0]!.address)}`;
    return {
      name: contenderName('h', chain),
      async run() {
        const node = await startNode(folder, { firstPath, set: [UNCHANGED] });
        await node.stop();
        return { perSecond: 1000 / node.startMs };
      },
    };
  });
  const bare: Contender = {
    name: 'node',
    async run() {
      const begun = performance.now();
      await run(process.execPath, ['--eval', '0']);
      return { perSecond: 1000 / (performance.now() - begun) };
    },
  };
  const rounds = await bench.measure([...contenders, bare], notes);
  return seriesOfRates(rounds, chains, {
    name: 'h start',
    what: 'h',
    denominator: 'node',
    show: ({ perSecond }) => 1 / perSecond,
    unit: ' s',
    isHotPath: false,
  });
}
