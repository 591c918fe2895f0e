/** Blocks and transactions for the API, from the committed head. */
import type { BlockView, ChainReads, ConfirmedTx, HeaderView } from '../../api/reads.ts';
import type { HeaderRow } from '../../block/header-row.ts';
import {
  findTransaction,
  headerRowAt,
  heightOf,
  type StoredTx,
  transactionBytesAt,
  transactionsAt,
  transactionsOf,
} from '../../chain/stored-blocks.ts';
import { decodeTx } from '../../tx/tx-bytes.ts';
import type { ChainState } from './chain-state.ts';
import { isBlockId, isTransactionId } from './ids.ts';

export function chainReads(state: ChainState): ChainReads {
  const { view } = state;
  const { scheme } = view;

  const headerView = (height: number, row: HeaderRow): HeaderView => ({
    height,
    version: row.header.version,
    timestamp: row.header.timestamp,
    reference: row.header.reference,
    signature: row.header.signature,
    generator: scheme.addressOf(row.header.generator),
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
    height: () => state.tip().height,
    headerAt(height) {
      const row = headerRowAt(view, height);
      return row && headerView(height, row);
    },
    blockAt(height): BlockView | undefined {
      const row = headerRowAt(view, height);
      return row && { ...headerView(height, row), transactions: transactionsAt(view, height) };
    },
    *transactionsAt(height) {
      for (const bytes of transactionBytesAt(view, height)) yield decodeTx(bytes, scheme);
    },
    heightOf: (signature) => (isBlockId(signature) ? heightOf(view, signature) : undefined),
    transaction(id) {
      const found = find(id);
      return found && confirmed(found);
    },
    *transactionsOf(address, limit, after) {
      const below = after && find(after);
      for (const stored of transactionsOf(view, address, limit, below)) yield confirmed(stored);
    },
    scoreAt: (height) => headerRowAt(view, height)?.score ?? 0n,
  };
}
