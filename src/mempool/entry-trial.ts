/** Tries entries on top of the head, with the verdicts that they hold. */
import type { ApiError } from '../base/errors.ts';
import type { ScriptTime } from '../chain/script-time.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { refusalFrom } from '../codec/refusal.ts';
import type { Tx } from '../tx/transaction.ts';
import { decodeTx } from '../tx/tx-bytes.ts';
import { idOf, type PoolEntry } from './entry.ts';
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
  /** Why the head alone refuses it; undefined also where there is no time left for its scripts. */
  problemOf(entry: PoolEntry, scriptTime?: ScriptTime): ApiError | undefined;
  together(): EntriesTogether;
}

export function createEntryTrial(
  scheme: ChainScheme,
  chain: Pick<PoolChain, 'tryApply' | 'together'>,
): EntryTrial {
  const decode = (entry: PoolEntry): Tx => decodeTx(entry.bytes, scheme, idOf(entry));
  return {
    decode,
    problemOf(entry, scriptTime) {
      scriptTime?.begin();
      try {
        chain.tryApply(decode(entry), entry.verdicts, scriptTime?.run);
        return undefined;
      } catch (error) {
        const refusal = refusalFrom(error);
        return refusal.entry === 'BlockFull' ? undefined : refusal;
      }
    },
    together() {
      const { isCurrent, tryApply } = chain.together();
      return { isCurrent, tryApply: (entry) => tryApply(decode(entry), entry.verdicts) };
    },
  };
}
