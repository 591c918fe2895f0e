/**
 * The block that this node has sealed and that never came into its chain, since the node or its disk
 * failed in between. A turn belongs to one block. Where that turn does not pass with time, as under
 * proof of stake, nothing but the same block continues the chain
 * (consensus.md#a-block-that-was-sealed).
 *
 * Invariants: the block is on disk before it is committed; a block that breaks a rule is given up.
 */
import { equal } from '../base/bytes.ts';
import { Refusal } from '../base/errors.ts';
import type { Clock, Log } from '../base/ports.ts';
import { type Block, decodeBlock } from '../block/block.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import { CodecError } from '../codec/codec.ts';
import { isFromFuture } from '../consensus/consensus.ts';
import type { UsedTurns } from './used-turns.ts';

export interface UnfinishedBlock {
  /** True where the newest sealed block is the next one of the chain. */
  waits(): boolean;
  /** Commits it. Throws where that may succeed later. */
  finish(): Promise<void>;
}

interface UnfinishedPorts {
  readonly blockchain: Blockchain;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

export function createUnfinishedBlock(
  turns: Pick<UsedTurns, 'newest' | 'claim'>,
  { blockchain, clock, log }: UnfinishedPorts,
): UnfinishedBlock {
  let known: { readonly bytes: Uint8Array; readonly block: Block | undefined } | undefined;

  /** The newest sealed block, decoded once; undefined where it is none, or was given up. */
  function newest(): Block | undefined {
    const bytes = turns.newest()?.bytes;
    if (bytes === undefined) return undefined;
    if (known?.bytes !== bytes) known = { bytes, block: decoded(bytes) };
    return known.block;
  }

  function decoded(bytes: Uint8Array): Block | undefined {
    try {
      return decodeBlock(bytes, blockchain.view.scheme);
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      log.error('miner.sealed-unreadable', { why: error.message });
      return undefined;
    }
  }

  function next(): Block | undefined {
    const block = newest();
    if (block === undefined || !equal(block.header.reference, blockchain.tip().id))
      return undefined;
    // Sealed by a clock that was ahead: until its time, free turns before it are used.
    return isFromFuture(block.header.timestamp, clock.now()) ? undefined : block;
  }

  return {
    waits: () => next() !== undefined,
    async finish() {
      const block = next();
      const sealed = turns.newest();
      if (block === undefined || sealed === undefined) return;
      await turns.claim(sealed.turn, sealed.bytes);
      try {
        await blockchain.append(block);
      } catch (error) {
        // The block may be valid: this node failed, or its clock is behind.
        if (!(error instanceof Refusal) || error.entry === 'BlockFromFuture') throw error;
        // Where the head has moved meanwhile, the block is no longer the next one.
        if (next() === undefined) return;
        log.error('miner.sealed-refused', { turn: sealed.turn, why: error.message });
        known = { bytes: sealed.bytes, block: undefined };
        return;
      }
      log.warn('miner.block-finished', { turn: sealed.turn, height: blockchain.tip().height });
    },
  };
}
