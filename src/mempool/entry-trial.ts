/** Tries entries on top of the head, with the verdicts that they hold. */
import type { ApiError } from '../base/errors.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { refusalFrom } from '../codec/refusal.ts';
import type { Tx } from '../tx/transaction.ts';
import { decodeTx } from '../tx/tx-bytes.ts';
import type { PoolEntry } from './entry.ts';
import type { PoolChain } from './pool-chain.ts';
import type { Spending } from './spending.ts';

/** Entries that are tried one after the other, each on top of those before it. */
export interface EntriesTogether {
  /** False as soon as the head has moved; later results are then meaningless. */
  isCurrent(): boolean;
  /** Throws ApiError. */
  tryApply(entry: PoolEntry): Spending;
}

export interface EntryTrial {
  decode(entry: PoolEntry): Tx;
  /** Why the head alone refuses it. */
  problemOf(entry: PoolEntry): ApiError | undefined;
  together(): EntriesTogether;
}

export function createEntryTrial(
  scheme: ChainScheme,
  chain: Pick<PoolChain, 'tryApply' | 'together'>,
): EntryTrial {
  const decode = (entry: PoolEntry): Tx => entry.tx ?? decodeTx(entry.bytes, scheme);
  return {
    decode,
    problemOf(entry) {
      try {
        chain.tryApply(decode(entry), entry.verdicts);
        return undefined;
      } catch (error) {
        return refusalFrom(error);
      }
    },
    together() {
      const { isCurrent, tryApply } = chain.together();
      return { isCurrent, tryApply: (entry) => tryApply(decode(entry), entry.verdicts) };
    },
  };
}
