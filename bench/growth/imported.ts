/** Rows c1 and c2: the import of the blocks that follow chains of several lengths. */
import { closeSync, cpSync, fsyncSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Bench } from '../bench.ts';
import type { GeneratedChain } from '../chain/generate.ts';
import { importer } from '../chain/importer.ts';
import { isLock, nextBlocks } from '../chain/kept-chains.ts';
import { startLibsodium } from '../denominators/libsodium.ts';
import type { Contender } from '../measure/contender.ts';
import type { Series } from '../report/result.ts';
import { storeFile } from '../rows/chain.ts';
import { contenderName, seriesOfRates } from './series.ts';

const ROUNDS = { full: 3, quick: 2 };

export async function importSeries(
  bench: Bench,
  chains: readonly GeneratedChain[],
  notes: string[],
): Promise<Series[]> {
  const contenders: Contender[] = [];
  for (const chain of chains) {
    const file = await nextBlocks(chain);
    const before = (data: string): void => copyStore(chain, data);
    const place = { dir: bench.folder('imported'), config: chain.folder.config };
    for (const [what, flags] of [
      ['c1', []],
      ['c2', ['--trusted']],
    ] as const) {
      const name = contenderName(what, chain);
      contenders.push(importer(bench, place, file, { name, flags, before }));
    }
  }
  const libsodium = startLibsodium();
  const size = { rounds: ROUNDS[bench.quick ? 'quick' : 'full'], warmUp: false };
  const rounds = await bench.measure([...contenders, libsodium.one], notes, size);
  await libsodium.stop();
  const series = (what: string, name: string): Series =>
    seriesOfRates(rounds, chains, { name, what, denominator: 'V1' });
  return [series('c1', 'c1 import'), series('c2', 'c2 verified blocks')];
}

/** On disk before the time begins, so that the import does not wait for it. */
function copyStore(chain: GeneratedChain, data: string): void {
  const from = dirname(storeFile(chain));
  cpSync(from, join(data, 'chain'), { recursive: true, filter: (path) => !isLock(path) });
  const handle = openSync(join(data, 'chain', 'data.mdb'), 'r+');
  fsyncSync(handle);
  closeSync(handle);
}
