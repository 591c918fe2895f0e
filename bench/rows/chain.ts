/** The chain of many transfers that several rows measure. */
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import type { GeneratedChain } from '../chain/generate.ts';
import { keptChain, SIZES } from '../chain/kept-chains.ts';

export const longChain = (bench: Bench): Promise<GeneratedChain> =>
  keptChain(bench.chains, SIZES[bench.quick ? '100k' : '1m'], bench.say);

export const storeFile = (chain: GeneratedChain): string =>
  join(chain.folder.dir, 'data', 'chain', 'data.mdb');
