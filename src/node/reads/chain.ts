/** Blocks and transactions for the API, from the committed head. */
import type { BlockView, ChainReads, ConfirmedTx, HeaderView } from '../../api/services.ts';
import type { HeaderRow } from '../../block/header-row.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import {
  findTransaction,
  headerRowAt,
  heightOf,
  type StoredTx,
  transactionsAt,
  transactionsOf,
} from '../../chain/stored-blocks.ts';
import { isBlockId, isTransactionId } from './ids.ts';

export function chainReads(blockchain: Blockchain): ChainReads {
  const { view } = blockchain;
  const { chain } = view;

  const headerView = (height: number, row: HeaderRow): HeaderView => ({
    height,
    version: row.header.version,
    timestamp: row.header.timestamp,
    reference: row.header.reference,
    signature: row.header.signature,
    generator: chain.addressOf(row.header.generator),
    features: row.header.features,
    size: row.blockSize,
    transactionCount: row.transactionCount,
    fee: row.fee,
    consensus: row.header.consensus,
  });

  const find = (id: Uint8Array): StoredTx | undefined =>
    isTransactionId(id) ? findTransaction(view, id) : undefined;

  const confirmed = ({ tx, height }: StoredTx): ConfirmedTx => ({ tx, height });

  return {
    height: () => blockchain.tip().height,
    headerAt(height) {
      const row = headerRowAt(view, height);
      return row && headerView(height, row);
    },
    blockAt(height): BlockView | undefined {
      const row = headerRowAt(view, height);
      return row && { ...headerView(height, row), transactions: transactionsAt(view, height) };
    },
    heightOf: (signature) => (isBlockId(signature) ? heightOf(view, signature) : undefined),
    transaction(id) {
      const found = find(id);
      return found && confirmed(found);
    },
    transactionsOf(address, limit, after) {
      const below = after && find(after);
      return Array.from(transactionsOf(view, address, limit, below), confirmed);
    },
    scoreAt: (height) => headerRowAt(view, height)?.score ?? 0n,
  };
}
