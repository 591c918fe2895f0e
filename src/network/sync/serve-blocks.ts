/**
 * Answers what peers ask about blocks (network.md#messages): ids after a common block, whole
 * blocks, and single transactions of a block that was announced in short.
 *
 * Invariants: an answer is bounded in blocks and bytes; only what was asked for is read, in pieces
 * between which other work runs.
 */
import { limitsOf } from '../../base/budget.ts';
import { equal, latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports.ts';
import { createTurns } from '../../base/turns.ts';
import { type Block, blockId } from '../../block/block.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import {
  blockInTurns,
  headerRowAt,
  heightOf,
  transactionBytes,
} from '../../chain/stored-blocks.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import {
  blockLimits,
  blockProtocols,
  decodeBlockTxsRequest,
  decodeIdList,
  encodeBlocks,
  encodeIds,
  encodeTxList,
  type Ids,
} from '../messages/block-messages.ts';
import { blockBudgets, budgets } from '../messages/message-budgets.ts';
import type { Sessions } from '../sessions/session.ts';

export interface ServeBlocksPorts {
  readonly scheme: ChainScheme;
  readonly blockchain: Blockchain;
  readonly sessions: Sessions;
  readonly clock: Clock;
}

export interface ServeBlocks {
  /** Serves the block before it is in the chain, or although it never gets there. */
  hold(block: Block): void;
  held(id: Uint8Array): Block | undefined;
}

/** Blocks of the last rounds that peers may still ask parts of. */
const HELD_MAX = 4;

export function serveBlocks(transactionBytesMax: number, ports: ServeBlocksPorts): ServeBlocks {
  const { scheme, blockchain, sessions, clock } = ports;
  const { view } = blockchain;
  const held = new Map<string, Block>();
  const turns = createTurns(clock);
  const { blocks, blockTxs } = blockBudgets(transactionBytesMax);

  sessions.handleRequests(blockProtocols.ids, {
    ...limitsOf(budgets.ids),
    answer: async (_session, message) => encodeIds(idsAfter(decodeIdList(message, scheme)), scheme),
  });
  sessions.handleRequests(blockProtocols.blocks, {
    ...limitsOf(blocks),
    answer: (_session, message) => blocksOf(decodeIdList(message, scheme)),
  });
  sessions.handleRequests(blockProtocols.blockTxs, {
    ...limitsOf(blockTxs),
    async answer(_session, message) {
      const { id, indexes } = decodeBlockTxsRequest(message, scheme);
      // All or nothing: a part of them would not complete the block.
      return encodeTxList((await partsOf(id, indexes)) ?? [], scheme);
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

  /** These transactions of a block. Undefined where one or all of them are unknown. */
  async function partsOf(
    id: Uint8Array,
    indexes: readonly number[],
  ): Promise<Uint8Array[] | undefined> {
    const transactions = held.get(latin1(id))?.transactions;
    const height = heightOf(view, id);
    const parts: Uint8Array[] = [];
    for (const index of indexes) {
      const bytes =
        transactions === undefined
          ? height && transactionBytes(view, { height, index })
          : transactions[index];
      if (!bytes) return undefined;
      parts.push(bytes);
      if (turns.due()) await turns.take();
    }
    return transactions !== undefined || isAt(id, height) ? parts : undefined;
  }

  /** Between two reads the chain may have switched to another branch. */
  const isAt = (id: Uint8Array, height: number | undefined): boolean =>
    height !== undefined && heightOf(view, id) === height;

  async function bytesOf(id: Uint8Array): Promise<Uint8Array | undefined> {
    const waiting = held.get(latin1(id));
    if (waiting !== undefined) return waiting.bytes;
    const height = heightOf(view, id);
    const block = height === undefined ? undefined : await blockInTurns(view, height, turns);
    return block !== undefined && isAt(id, height) && equal(blockId(block), id)
      ? block.bytes
      : undefined;
  }

  async function blocksOf(ids: readonly Uint8Array[]): Promise<Uint8Array> {
    const found: (Uint8Array | undefined)[] = [];
    let size = 0;
    for (const id of ids) {
      if (size >= blockLimits.answerBytes) break;
      const bytes = await bytesOf(id);
      size += bytes?.length ?? 0;
      found.push(bytes);
      if (turns.due()) await turns.take();
    }
    return encodeBlocks(found, scheme);
  }

  return {
    hold(block) {
      held.set(latin1(blockId(block)), block);
      if (held.size > HELD_MAX) held.delete(held.keys().next().value ?? '');
    },
    held: (id) => held.get(latin1(id)),
  };
}
