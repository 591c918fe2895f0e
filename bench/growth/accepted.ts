/** Row a with chains of several lengths. Its own transfers come on top, so it works on copies. */
import { rmSync } from 'node:fs';
import type { Bench } from '../bench.ts';
import type { GeneratedChain } from '../chain/generate.ts';
import { copyFolder } from '../chain/kept-chains.ts';
import { startEcho } from '../denominators/hyper-express.ts';
import { type Accepting, startAccepting } from '../node/accepting.ts';
import type { Series } from '../report/result.ts';
import { contenderName, seriesOfRates } from './series.ts';

/** The end of a kept chain may be long ago. */
const OLD_TIP = 'miner.interval-after-last-block-then-generation-is-allowed=1000 days';

export async function acceptedSeries(
  bench: Bench,
  chains: readonly GeneratedChain[],
  notes: string[],
): Promise<Series[]> {
  const nodes: Accepting[] = [];
  for (const chain of chains) {
    const folder = copyFolder(chain.folder, bench.folder('accepted'));
    const funded = { folder, senders: chain.senders, others: [] };
    nodes.push(await startAccepting(bench, { set: [OLD_TIP], funded }));
  }
  const echo = await startEcho(bench.load);
  const contenders = chains.map((chain, i) => ({
    ...nodes[i]!.accepted,
    name: contenderName('a', chain),
  }));
  const rounds = await bench.measure([...contenders, echo.post], notes);
  await Promise.all([echo.stop(), ...nodes.map((node) => node.stop())]);
  for (const { folder } of nodes) rmSync(folder.dir, { recursive: true });
  const name = 'a accepted';
  return [seriesOfRates(rounds, chains, { name, what: 'a', denominator: 'E' })];
}
