/** Tries entries on top of the head, with the verdicts that they hold. */
import type { ApiError } from '../../base/errors.ts';
import type { ScriptTime } from '../../chain/apply/script-time.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { refusalFrom } from '../../codec/refusal.ts';
import type { Tx } from '../../tx/transaction.ts';
import { decodeStoredTx } from '../../tx/tx-bytes.ts';
import { idOf, type PoolEntry } from '../entries/entry.ts';
import type { Spending } from '../entries/spending.ts';
import type { PoolChain } from '../pool-chain.ts';

/** Entries that are tried one after the other, each on top of those before it. */
export interface EntriesTogether {
  /** False as soon as the head has moved; later results are then meaningless. */
  isCurrent(): boolean;
  /** Throws ApiError; one that `hadNoTime` where there was none left for its scripts. */
  tryApply(entry: PoolEntry, scriptTime: ScriptTime): Spending;
}

export interface EntryTrial {
  decode(entry: PoolEntry): Tx;
  /** Why the head alone refuses it; or an error that `hadNoTime`. */
  problemOf(entry: PoolEntry, scriptTime: ScriptTime): ApiError | undefined;
  together(): EntriesTogether;
}

/** Nothing is known of the entry, since there was no time left for its scripts. */
export const hadNoTime = ({ entry }: ApiError): boolean => entry === 'BlockFull';

export function createEntryTrial(
  scheme: ChainScheme,
  chain: Pick<PoolChain, 'tryApply' | 'together'>,
): EntryTrial {
  const decode = (entry: PoolEntry): Tx => decodeStoredTx(entry.bytes, scheme, idOf(entry));
  return {
    decode,
    problemOf(entry, scriptTime) {
      try {
        chain.tryApply(decode(entry), entry.verdicts, scriptTime);
        return undefined;
      } catch (error) {
        return refusalFrom(error);
      }
    },
    together() {
      const { isCurrent, tryApply } = chain.together();
      return {
        isCurrent,
        tryApply: (entry, scriptTime) => tryApply(decode(entry), entry.verdicts, scriptTime),
      };
    },
  };
}
