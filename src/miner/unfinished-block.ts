/**
 * The blocks that this node has sealed and that are not in its chain: one that never came into it,
 * since the node or its disk failed in between, and those that left it. A turn belongs to one block.
 * Where that turn does not pass with time, as under proof of stake, nothing but the same block
 * continues the chain (consensus.md#a-block-that-was-sealed).
 *
 * Invariants: the block is on disk before it is committed; a block that breaks a rule is given up, and
 * its turn is freed only where the block never left this node.
 */
import { equal } from '../base/bytes.ts';
import { Refusal } from '../base/errors.ts';
import type { Clock, Log } from '../base/ports.ts';
import { type Block, blockId, decodeBlock } from '../block/block.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import { headerRowAt } from '../chain/store/stored-blocks.ts';
import { CodecError } from '../codec/codec.ts';
import { isFromFuture } from '../consensus/consensus.ts';
import type { SealedBlock } from './slot-records.ts';
import type { UsedSlots } from './used-slots.ts';

export interface UnfinishedBlock {
  /** True where a sealed block is the next one of the chain. */
  waits(): boolean;
  /** Commits it. Throws where a block may come later. */
  finish(): Promise<void>;
}

interface UnfinishedPorts {
  readonly blockchain: Blockchain;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  /** The blocks that the chain of this node gives up at most. */
  readonly rollbackMax: number;
}

export function createUnfinishedBlock(
  slots: Pick<UsedSlots, 'sealed' | 'claim' | 'free' | 'forget' | 'isOfThisLife'>,
  { blockchain, clock, log, rollbackMax }: UnfinishedPorts,
): UnfinishedBlock {
  /** Each is decoded once; undefined: unreadable. */
  const decoded = new WeakMap<Uint8Array, Block | undefined>();
  const refused = new WeakSet<Uint8Array>();
  /** The newest block, once it was in the chain in this life, so that peers may have it. */
  let shown: Uint8Array | undefined;

  blockchain.listen({
    block({ tip }) {
      const sealed = slots.sealed();
      const newest = sealed.at(-1);
      if (newest !== undefined && isAt(tip.id, newest)) shown = newest.bytes;
      if (sealed.length > 1) forgetPast(sealed);
    },
  });

  const isAt = (id: Uint8Array, sealed: SealedBlock): boolean => {
    const block = blockOf(sealed);
    return block !== undefined && equal(blockId(block), id);
  };

  /** The parents of older blocks are below what a reorganisation takes back. */
  function forgetPast(sealed: readonly SealedBlock[]): void {
    const height = blockchain.tip().height - rollbackMax;
    const oldest = height < 1 ? undefined : headerRowAt(blockchain.view, height)?.header.timestamp;
    for (const one of sealed) {
      const time = blockOf(one)?.header.timestamp ?? 0;
      if (oldest !== undefined && time < oldest) slots.forget(one.turn);
    }
  }

  function blockOf({ bytes }: SealedBlock): Block | undefined {
    if (!decoded.has(bytes)) decoded.set(bytes, read(bytes));
    return decoded.get(bytes);
  }

  function read(bytes: Uint8Array): Block | undefined {
    try {
      return decodeBlock(bytes, blockchain.view.scheme);
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      log.error('miner.sealed-unreadable', { why: error.message });
      return undefined;
    }
  }

  /** Sealed by a clock that was ahead: until its time, free turns before it are used. */
  const isNext = ({ header }: Block): boolean =>
    equal(header.reference, blockchain.tip().id) && !isFromFuture(header.timestamp, clock.now());

  function next(): SealedBlock | undefined {
    return slots.sealed().findLast((sealed) => {
      const block = refused.has(sealed.bytes) ? undefined : blockOf(sealed);
      return block !== undefined && isNext(block);
    });
  }

  /** Throws where the turn is freed, so that another block may come. */
  async function refuse(sealed: SealedBlock, why: Refusal): Promise<void> {
    const { turn, bytes } = sealed;
    const isOurs = slots.isOfThisLife(turn) && shown !== bytes;
    log.error('miner.sealed-refused', { turn, why: why.message, isFreed: isOurs });
    if (isOurs) await slots.free(turn);
    refused.add(bytes);
    if (isOurs) throw why;
  }

  return {
    waits: () => next() !== undefined,
    async finish() {
      const sealed = next();
      const block = sealed && blockOf(sealed);
      if (sealed === undefined || block === undefined) return;
      await slots.claim(sealed.turn, sealed.bytes);
      try {
        await blockchain.append(block);
      } catch (error) {
        // The block may be valid: this node failed, or its clock is behind.
        if (!(error instanceof Refusal) || error.entry === 'BlockFromFuture') throw error;
        // Where the head has moved meanwhile, the block is no longer the next one.
        if (next()?.bytes !== sealed.bytes) return;
        return refuse(sealed, error);
      }
      const { height } = blockchain.tip();
      log.warn('miner.block-finished', { turn: sealed.turn, height });
    },
  };
}
