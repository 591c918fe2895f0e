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
    heightOf: (signature) => heightOf(view, signature),
    transaction(id) {
      const found = findTransaction(view, id);
      return found && confirmed(found);
    },
    transactionsOf(address, limit, after) {
      const below = after && findTransaction(view, after);
      return Array.from(transactionsOf(view, address, limit, below), confirmed);
    },
    scoreAt: (height) => headerRowAt(view, height)?.score ?? 0n,
  };
}
