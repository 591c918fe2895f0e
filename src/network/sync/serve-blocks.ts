/**
 * Answers what peers ask about blocks (network.md#messages): ids after a common block, whole
 * blocks, and single transactions of a block that was announced in short.
 */
import { limitsOf } from '../../base/limits/budget.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Block } from '../../block/block.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import {
  blockProtocols,
  decodeBlockTxsRequest,
  decodeIdList,
  encodeBlocks,
  encodeIds,
  encodeTxList,
} from '../messages/block-messages.ts';
import { blockBudgets, budgets } from '../messages/message-budgets.ts';
import type { Sessions } from '../sessions/session.ts';
import { ServableBlocks } from './servable-blocks.ts';

export interface ServeBlocksPorts {
  readonly scheme: ChainScheme;
  readonly blockchain: Blockchain;
  readonly sessions: Sessions;
  readonly clock: Clock;
}

export interface ServeBlocks {
  /** Serves the block before it is in the chain, or although it never gets there. */
  hold(block: Block): void;
}

export function serveBlocks(transactionBytesMax: number, ports: ServeBlocksPorts): ServeBlocks {
  const { scheme, blockchain, sessions, clock } = ports;
  const servable = new ServableBlocks(blockchain.view, clock);
  const { blocks, blockTxs } = blockBudgets(transactionBytesMax);

  sessions.handleRequests(blockProtocols.ids, {
    ...limitsOf(budgets.ids),
    answer: async (_session, message) =>
      encodeIds(servable.idsAfter(decodeIdList(message, scheme)), scheme),
  });
  sessions.handleRequests(blockProtocols.blocks, {
    ...limitsOf(blocks),
    answer: async (_session, message) =>
      encodeBlocks(await servable.blocksOf(decodeIdList(message, scheme)), scheme),
  });
  sessions.handleRequests(blockProtocols.blockTxs, {
    ...limitsOf(blockTxs),
    async answer(_session, message) {
      const { id, indexes } = decodeBlockTxsRequest(message, scheme);
      // All or nothing: a part of them would not complete the block.
      return encodeTxList((await servable.partsOf(id, indexes)) ?? [], scheme);
    },
  });

  return servable;
}
