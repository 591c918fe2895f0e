/** A chain of many transfers, made once for all rows that need one. */
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import { type GeneratedChain, generateChain } from '../chain/generate.ts';

const FULL = 1_000_000;
const QUICK = 100_000;

const chains = new WeakMap<Bench, Promise<GeneratedChain>>();

export function longChain(bench: Bench): Promise<GeneratedChain> {
  const known = chains.get(bench);
  if (known !== undefined) return known;
  const transfers = bench.quick ? QUICK : FULL;
  bench.say(`  making a chain of ${transfers} transfers`);
  const made = generateChain(bench.folder('chain'), transfers);
  chains.set(bench, made);
  return made;
}

export const storeFile = (chain: GeneratedChain): string =>
  join(chain.folder.dir, 'data', 'chain', 'data.mdb');
