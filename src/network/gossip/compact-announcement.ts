/** The announcement of a block: its header, and its transactions by their hashes. */
import { latin1 } from '../../base/bytes.ts';
import type { Header } from '../../block/header.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { defOfBytes } from '../../tx/registry.ts';
import { encodeCompact } from '../messages/block-messages.ts';

/** Undefined where the block contains a transaction twice, which an announcement cannot express. */
export function announcementOf(
  header: Header,
  transactions: readonly Uint8Array[],
  scheme: ChainScheme,
): Uint8Array | undefined {
  const txs = transactions.map((bytes) =>
    isMadeByMiner(bytes) ? { bytes } : { hash: scheme.fastHash(bytes) },
  );
  const hashes = txs.flatMap(({ hash }) => (hash === undefined ? [] : [latin1(hash)]));
  if (new Set(hashes).size < hashes.length) return undefined;
  return encodeCompact({ header, txs }, scheme);
}

/** Results of contracts are made together with the block, so they are in no pool. */
const isMadeByMiner = (bytes: Uint8Array): boolean => defOfBytes(bytes)?.madeByMiner === true;
