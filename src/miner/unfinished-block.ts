/**
 * The blocks that this node has sealed and that are not in its chain: one that never came into it,
 * since the node or its disk failed in between, and those that left it. A block counts, too, that has no
 * signature because the answer of the signer was lost. A turn belongs to one block. Where
 * that turn does not pass with time, as under proof of stake, nothing but the same block
 * continues the chain (consensus.md#a-block-that-was-sealed).
 *
 * Invariants: the block is on disk before it is committed; a block that breaks a rule is given up, and
 * its turn is freed only where the block never left this node.
 */
import { equal } from '../base/bytes.ts';
import { Refusal } from '../base/errors.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { Log } from '../base/ports/log.ts';
import { isRefused, type Sign } from '../base/signer/signing.ts';
import { type Block, blockId, decodeBlock, signedBytes } from '../block/block.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import { headerRowAt } from '../chain/store/stored-blocks.ts';
import { CodecError } from '../codec/codec.ts';
import { type Consensus, isFromFuture } from '../consensus/consensus.ts';
import type { Tx } from '../tx/transaction.ts';
import type { SealedBlock } from './slot-records.ts';
import type { UsedSlots } from './used-slots.ts';

export interface UnfinishedDeps {
  readonly slots: Pick<
    UsedSlots,
    'sealed' | 'ask' | 'asked' | 'claim' | 'free' | 'forget' | 'isOfThisLife'
  >;
  readonly consensus: Pick<Consensus, 'hasEnded'>;
  /** What signs blocks of this node. */
  readonly key: { readonly publicKey: Uint8Array; readonly sign: Sign };
  readonly blockchain: Blockchain;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  /** `synchronization.max-rollback`: sealed blocks are kept for so many. */
  readonly rollbackMax: number;
}

const NONE: readonly Tx[] = [];

export class UnfinishedBlock {
  readonly #deps: UnfinishedDeps;
  /** Each is decoded once; undefined: unreadable. */
  readonly #decoded = new WeakMap<Uint8Array, Block | undefined>();
  readonly #refused = new WeakSet<Uint8Array>();
  /** The newest block, once it was in the chain in this life, so that peers may have it. */
  #shown: Uint8Array | undefined;
  #unlisten = (): void => {};

  constructor(deps: UnfinishedDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#unlisten = this.#deps.blockchain.listen({
      block: ({ tip }) => {
        const sealed = this.#deps.slots.sealed();
        const newest = sealed.at(-1);
        const block = newest && this.#blockOf(newest);
        if (block !== undefined && equal(blockId(block), tip.id)) this.#shown = newest?.bytes;
        if (sealed.length > 1) this.#forgetPast(sealed);
      },
    });
  }

  stop(): void {
    this.#unlisten();
  }

  /** True where one of these blocks is the next one of the chain. */
  waits(): boolean {
    return this.#next() !== undefined || this.#askedNext() !== undefined;
  }

  /** True where a signature in this turn was asked for, and nothing else may be signed in it on this head. */
  isAsked(turn: string): boolean {
    const asked = this.#askedOnTip();
    return asked !== undefined && asked.turn === turn;
  }

  /** Asks the signer for the signature of a new block, which has zeros in its place. Throws ApiError. */
  async sign(turn: string, bytes: Uint8Array, message: Uint8Array): Promise<Uint8Array> {
    const { slots, key } = this.#deps;
    await slots.ask(turn, bytes);
    try {
      return await key.sign(message);
    } catch (cause) {
      // A signer that refuses the first request has noted the block nowhere.
      if (isRefused(cause)) await slots.free(turn);
      throw cause;
    }
  }

  /** Resolves with the transactions of what it has committed. Throws where a block may come later. */
  async finish(): Promise<readonly Tx[]> {
    const { slots, blockchain, log } = this.#deps;
    const sealed = this.#next() ?? (await this.#askAgain());
    const block = sealed && this.#blockOf(sealed);
    if (sealed === undefined || block === undefined) return NONE;
    await slots.claim(sealed.turn, sealed.bytes);
    let txs = NONE;
    const unlisten = blockchain.listen({
      block(applied) {
        if (equal(applied.tip.id, blockId(block))) txs = applied.block.txs;
      },
    });
    try {
      await blockchain.append(block);
    } catch (error) {
      // The block may be valid: this node failed, or its clock is behind.
      if (!(error instanceof Refusal) || error.entry === 'BlockFromFuture') throw error;
      // Where the head has moved meanwhile, the block is no longer the next one.
      if (this.#next()?.bytes === sealed.bytes) await this.#refuse(sealed, error);
      return NONE;
    } finally {
      unlisten();
    }
    const { height } = blockchain.tip();
    log.warn('miner.block-finished', { turn: sealed.turn, height });
    return txs;
  }

  #next(): SealedBlock | undefined {
    return this.#deps.slots.sealed().findLast((sealed) => {
      const block = this.#refused.has(sealed.bytes) ? undefined : this.#blockOf(sealed);
      return block !== undefined && this.#isNext(block);
    });
  }

  /** The block on this head whose signature was asked for and did not arrive. */
  #askedOnTip(): SealedBlock | undefined {
    const { slots, blockchain, key } = this.#deps;
    const asked = slots.asked();
    const header = asked && this.#blockOf(asked)?.header;
    if (header === undefined || !equal(header.generator, key.publicKey)) return undefined;
    return equal(header.reference, blockchain.tip().id) ? asked : undefined;
  }

  #askedNext(): SealedBlock | undefined {
    const { consensus, clock } = this.#deps;
    const asked = this.#askedOnTip();
    const block = asked && this.#blockOf(asked);
    if (block === undefined || !this.#isNext(block)) return undefined;
    return consensus.hasEnded(block.header, clock.now()) ? undefined : asked;
  }

  /**
   * The signer may have noted the block: whatever it says now, it never signs another one of its turn.
   * So a refusal, which may pass, is an error, and the block stays.
   */
  async #askAgain(): Promise<SealedBlock | undefined> {
    const { slots, blockchain, key } = this.#deps;
    const asked = this.#askedNext();
    const block = asked && this.#blockOf(asked);
    if (asked === undefined || block === undefined) return undefined;
    await slots.ask(asked.turn, asked.bytes);
    const signature = await key.sign(signedBytes(block, blockchain.view.scheme));
    if (this.#askedNext() !== asked) return undefined;
    const bytes = asked.bytes.slice();
    bytes.set(signature, bytes.length - signature.length);
    await slots.claim(asked.turn, bytes);
    return this.#next();
  }

  /** A block of a clock that was ahead waits for its time; until then free turns before it are used. */
  #isNext({ header }: Block): boolean {
    const { blockchain, clock } = this.#deps;
    const isChild = equal(header.reference, blockchain.tip().id);
    return isChild && !isFromFuture(header.timestamp, clock.now());
  }

  /** Throws where the turn is freed, so that another block may come. */
  async #refuse({ turn, bytes }: SealedBlock, why: Refusal): Promise<void> {
    const { slots, log } = this.#deps;
    const isOurs = slots.isOfThisLife(turn) && this.#shown !== bytes;
    log.error('miner.sealed-refused', { turn, why: why.message, isFreed: isOurs });
    if (isOurs) await slots.free(turn);
    this.#refused.add(bytes);
    if (isOurs) throw why;
  }

  /** Where turns do not pass with time, a reorganisation takes back no parent of an older block. */
  #forgetPast(sealed: readonly SealedBlock[]): void {
    const { slots, blockchain, rollbackMax } = this.#deps;
    const height = blockchain.tip().height - rollbackMax;
    const oldest = height < 1 ? undefined : headerRowAt(blockchain.view, height)?.header.timestamp;
    for (const one of sealed) {
      const time = this.#blockOf(one)?.header.timestamp ?? 0;
      if (oldest !== undefined && time < oldest) slots.forget(one.turn);
    }
  }

  #blockOf({ bytes }: SealedBlock): Block | undefined {
    if (!this.#decoded.has(bytes)) this.#decoded.set(bytes, this.#read(bytes));
    return this.#decoded.get(bytes);
  }

  #read(bytes: Uint8Array): Block | undefined {
    const { blockchain, log } = this.#deps;
    try {
      return decodeBlock(bytes, blockchain.view.scheme);
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      log.error('miner.sealed-unreadable', { why: error.message });
      return undefined;
    }
  }
}
