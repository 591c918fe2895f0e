/**
 * Makes a complete block from its announcement: from the pool, from the peer for missing
 * transactions, and as a whole from the peer where that fails (blocks.md#compact-blocks).
 *
 * Invariants: the result has exactly the header that was announced, which its generator has signed;
 * its transactions are within the limit of bytes, and their lengths are added up before they are
 * joined; a peer is penalised only for data that it has sent.
 */
import { equal, latin1 } from '../../base/bytes.ts';
import { type Misconduct, misconduct } from '../../base/faults/misconduct.ts';
import type { Verifier } from '../../base/ports/verifier.ts';
import {
  type Block,
  blockBytesMax,
  decodeBlock,
  encodeBlock,
  hasOwnBody,
  signedBytes,
} from '../../block/block.ts';
import { BOUND_VERSION, boundBytes, encodeHeader, type Header } from '../../block/header.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import type { BytesIndex } from '../../mempool/entries/bytes-index.ts';
import {
  blockProtocols,
  type CompactBlock,
  type CompactTx,
  decodeBlocks,
  decodeTxList,
  encodeBlockTxsRequest,
  encodeIdList,
} from '../messages/block-messages.ts';
import type { Session } from '../sessions/session.ts';

export interface RebuildOptions {
  readonly transactionBytesMax: number;
}

export interface RebuildDeps {
  readonly scheme: ChainScheme;
  readonly index: BytesIndex;
  readonly verifier: Verifier;
}

export interface Rebuilt {
  readonly block: Block;
  /** True where the announcement lists the transactions of this block. */
  readonly isAsListed: boolean;
  /** Transactions that the peer had to send. */
  readonly missing: number;
}

const FETCH_TIMEOUT_MS = 5_000;

export class Rebuild {
  private readonly transactionBytesMax: number;
  private readonly deps: RebuildDeps;

  constructor(options: RebuildOptions, deps: RebuildDeps) {
    this.transactionBytesMax = options.transactionBytesMax;
    this.deps = deps;
  }

  /** True where the listed and available transactions are more than a block may hold. */
  isTooMuch({ txs }: CompactBlock): boolean {
    return this.isOverLimit(txs.map((tx) => this.atHand(tx)));
  }

  /**
   * False where the generator has not signed the header. Below version 100 only the whole block says
   * so: then this is true.
   */
  async mayBeSigned(header: Header): Promise<boolean> {
    const { scheme, verifier } = this.deps;
    const { version, generator, signature } = header;
    if (version !== BOUND_VERSION) return true;
    return verifier.verifyOne(generator, boundBytes(header, scheme), signature);
  }

  /**
   * Rejects with CodecError or Refusal where the peer has sent something wrong, with Misconduct
   * where it did not answer, and with any other error where this node could not do its part.
   * Undefined: the peer does not have the block.
   */
  async from(compact: CompactBlock, session: Session): Promise<Rebuilt | undefined> {
    return (await this.fromParts(compact, session)) ?? (await this.whole(compact, session));
  }

  private atHand({ hash, bytes }: CompactTx): Uint8Array | undefined {
    return hash === undefined ? bytes : this.deps.index.get(latin1(hash))?.bytes;
  }

  private isOverLimit(parts: Iterable<Uint8Array | undefined>): boolean {
    let sum = 0;
    for (const part of parts) sum += part?.length ?? 0;
    return sum > this.transactionBytesMax;
  }

  /** Undefined where the result is not the block that the generator has signed. */
  private async fromParts(compact: CompactBlock, session: Session): Promise<Rebuilt | undefined> {
    const { scheme } = this.deps;
    const { header, txs } = compact;
    const parts = txs.map((tx) => this.atHand(tx));
    const missing = [...parts.keys()].filter((i) => parts[i] === undefined);
    if (missing.length > 0) {
      const request = encodeBlockTxsRequest({ id: header.signature, indexes: missing }, scheme);
      const answer = await session.request(blockProtocols.blockTxs, request, FETCH_TIMEOUT_MS);
      const fetched = decodeTxList(answer, scheme);
      if (fetched.length !== missing.length) return undefined;
      for (const [at, i] of missing.entries()) parts[i] = fetched[at];
    }
    if (this.isOverLimit(parts)) return undefined;
    const block = decodeBlock(encodeBlock(header, parts as Uint8Array[], scheme), scheme);
    if (!(await this.isSigned(block))) return undefined;
    const isAsListed = missing.every((i) => this.isHashOf(txs[i]!, parts[i]!));
    return { block, isAsListed, missing: missing.length };
  }

  private async whole(compact: CompactBlock, session: Session): Promise<Rebuilt | undefined> {
    const { scheme } = this.deps;
    const { header, txs } = compact;
    const request = encodeIdList([header.signature], scheme);
    const answer = await session.request(blockProtocols.blocks, request, FETCH_TIMEOUT_MS);
    const [bytes] = decodeBlocks(answer, scheme, blockBytesMax(this.transactionBytesMax));
    if (bytes === undefined) return undefined;
    const block = decodeBlock(bytes, scheme);
    const wrong = await this.wrongIn(block, header);
    if (wrong === undefined) {
      const { transactions } = block;
      const isAsListed =
        transactions.length === txs.length &&
        txs.every((tx, i) => this.isHashOf(tx, transactions[i]!));
      return { block, isAsListed, missing: transactions.length };
    }
    session.offend('invalid-block', wrong);
    return undefined;
  }

  /** The checks that every honest peer makes before it relays. */
  private async wrongIn(block: Block, announced: Header): Promise<Misconduct | undefined> {
    const { scheme } = this.deps;
    if (!equal(encodeHeader(block.header, scheme), encodeHeader(announced, scheme))) {
      return misconduct('a block with another header than was announced');
    }
    if (this.isOverLimit(block.transactions))
      return misconduct('a block with more bytes than are allowed');
    return (await this.isSigned(block)) ? undefined : misconduct('a block with a wrong signature');
  }

  private isHashOf({ hash, bytes }: CompactTx, full: Uint8Array): boolean {
    return equal(hash ?? bytes, hash === undefined ? full : this.deps.scheme.fastHash(full));
  }

  /** Until this check the generator is not responsible for the block. */
  private async isSigned(block: Block): Promise<boolean> {
    const { scheme, verifier } = this.deps;
    const { generator, signature } = block.header;
    if (!hasOwnBody(block, scheme)) return false;
    return verifier.verifyOne(generator, signedBytes(block, scheme), signature);
  }
}
