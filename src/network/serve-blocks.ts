/**
 * Answers what peers ask about blocks (protocol.md §10.5): ids after a common block, whole blocks,
 * and single transactions of a block that was announced in short.
 *
 * Invariants: an answer is bounded in blocks and bytes; nothing is read that the message has not
 * paid for.
 */
import { equal, latin1 } from '../base/bytes.ts';
import type { Clock } from '../base/ports.ts';
import { type Block, blockBytesMax, blockId } from '../block/block.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import { blockAt, headerRowAt, heightOf } from '../chain/stored-blocks.ts';
import type { Chain } from '../codec/codec.ts';
import {
  blockLimits,
  blockProtocols,
  decodeBlockTxsRequest,
  decodeIdList,
  encodeBlocks,
  encodeIds,
  encodeTxList,
  type Ids,
} from './messages-blocks.ts';
import type { Sessions } from './session.ts';

export interface ServeBlocksPorts {
  readonly chain: Chain;
  readonly blockchain: Blockchain;
  readonly sessions: Sessions;
  readonly clock: Clock;
}

export interface ServeBlocks {
  /** Hands the block out before it is in the chain, or although it never gets there. */
  hold(block: Block): void;
  held(id: Uint8Array): Block | undefined;
}

/** Blocks of the last rounds that peers may still ask parts of. */
const HELD_MAX = 4;

export function serveBlocks(transactionBytesMax: number, ports: ServeBlocksPorts): ServeBlocks {
  const { chain, blockchain, sessions, clock } = ports;
  const { view } = blockchain;
  const held = new Map<string, Block>();
  // With room for the lengths.
  const blockMax = blockBytesMax(transactionBytesMax) + 1024;

  sessions.handleRequests(blockProtocols.ids, {
    messageBytesMax: blockLimits.getIdsBytesMax,
    answerBytesMax: blockLimits.idsBytesMax,
    concurrent: 2,
    answer: async (_session, message) => encodeIds(idsAfter(decodeIdList(message, chain)), chain),
  });
  sessions.handleRequests(blockProtocols.blocks, {
    messageBytesMax: blockLimits.getBlocksBytesMax,
    answerBytesMax: blockLimits.answerBytes + blockMax,
    concurrent: 4,
    answer: (_session, message) => blocksOf(decodeIdList(message, chain)),
  });
  sessions.handleRequests(blockProtocols.blockTxs, {
    messageBytesMax: blockLimits.getBlockTxsBytesMax,
    answerBytesMax: blockMax,
    concurrent: 2,
    async answer(_session, message) {
      const { id, indexes } = decodeBlockTxsRequest(message, chain);
      const { transactions = [] } = blockOf(id) ?? {};
      const asked = indexes.map((index) => transactions[index]);
      // All or nothing: a part of them would not complete the block.
      return encodeTxList(asked.every((tx) => tx !== undefined) ? asked : [], chain);
    },
  });

  function idsAfter(ids: readonly Uint8Array[]): Ids | undefined {
    const common = ids.find((id) => heightOf(view, id) !== undefined);
    if (common === undefined) return undefined;
    const next: Uint8Array[] = [];
    let height = heightOf(view, common)!;
    while (next.length < blockLimits.idsMax) {
      const row = headerRowAt(view, ++height);
      if (row === undefined) break;
      next.push(row.header.signature);
    }
    return { common, next };
  }

  function blockOf(id: Uint8Array): Block | undefined {
    const waiting = held.get(latin1(id));
    if (waiting !== undefined) return waiting;
    const height = heightOf(view, id);
    const block = height === undefined ? undefined : blockAt(view, height);
    // Between the two reads another branch may have taken the place.
    return block !== undefined && equal(blockId(block), id) ? block : undefined;
  }

  async function blocksOf(ids: readonly Uint8Array[]): Promise<Uint8Array> {
    const blocks: (Uint8Array | undefined)[] = [];
    let size = 0;
    for (const id of ids) {
      if (size >= blockLimits.answerBytes) break;
      const bytes = blockOf(id)?.bytes;
      size += bytes?.length ?? 0;
      blocks.push(bytes);
      await clock.turn();
    }
    return encodeBlocks(blocks, chain);
  }

  return {
    hold(block) {
      held.set(latin1(blockId(block)), block);
      if (held.size > HELD_MAX) held.delete(held.keys().next().value ?? '');
    },
    held: (id) => held.get(latin1(id)),
  };
}
