/**
 * Blocks by their ids, from several peers: helpers take turns (block-sources.ts), and the followed
 * peer is asked last. Of the blocks only the ids are checked.
 */
import { equal } from '../../base/bytes.ts';
import { misconduct } from '../../base/faults/misconduct.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import { type Block, blockBytesMax, blockId, decodeBlock } from '../../block/block.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { blockProtocols, decodeBlocks, encodeIdList } from '../messages/block-messages.ts';
import type { Session } from '../sessions/session.ts';
import type { AskPeer } from './ask-peer.ts';
import { BlockSources } from './block-sources.ts';
import { Blamed, GivenUp, notGiven, read } from './given-up.ts';
import type { PeerTip, PeerTips } from './peer-tips.ts';
import type { NamedIds } from './unknown-ids.ts';

export interface FetchBlocksPorts {
  readonly scheme: ChainScheme;
  readonly peerTips: Pick<PeerTips, 'holders' | 'reaching' | 'ignore' | 'rollsBack'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly ask: AskPeer;
}

/** A block as it arrived, and its sender. */
export interface Arrived {
  readonly block: Block;
  readonly session: Session;
}

export class BlockFetcher {
  private readonly ports: FetchBlocksPorts;
  private readonly blockBytesMax: number;
  private readonly helpers: BlockSources;
  private stopped = false;

  constructor(transactionBytesMax: number, ports: FetchBlocksPorts) {
    this.ports = ports;
    this.helpers = new BlockSources(ports.peerTips, ports.clock);
    this.blockBytesMax = blockBytesMax(transactionBytesMax);
  }

  /** All of these, in order. Rejects with GivenUp. */
  async fetch({ ids, height }: NamedIds, target: PeerTip, left: AbortSignal): Promise<Arrived[]> {
    const { peerTips, log } = this.ports;
    const blocks: Arrived[] = [];
    const asked = new Set<Session>();
    while (blocks.length < ids.length) {
      const before = blocks.length;
      const helper = this.helpers.next(target, height + before, asked);
      const source = helper ?? target.session;
      asked.add(source);
      try {
        await this.fetchInto(blocks, ids.slice(before), source, left);
        if (blocks.length === before) this.helpers.lacks(source, target);
      } catch (error) {
        if (!(error instanceof GivenUp) || helper === undefined || left.aborted) throw error;
        if (error instanceof Blamed && source === target.session) throw error;
        log.debug('sync.helper-failed', { peer: source.nodeName, why: error.message });
        if (error instanceof Blamed) peerTips.ignore(source);
      }
      if (this.stopped) throw new GivenUp('the node stops', 'later');
      if (helper === undefined && blocks.length === before) {
        const what = misconduct('blocks without their bodies');
        throw await notGiven(target, what, peerTips);
      }
    }
    return blocks;
  }

  stop(): void {
    this.stopped = true;
  }

  /** Appends what the peer sends up to the first block that it lacks. */
  private async fetchInto(
    blocks: Arrived[],
    ids: readonly Uint8Array[],
    session: Session,
    left: AbortSignal,
  ): Promise<void> {
    const { scheme, clock, ask } = this.ports;
    const answer = await this.timed(session, left, () =>
      ask(session, blockProtocols.blocks, encodeIdList(ids, scheme), left),
    );
    const parts = read(session, () => decodeBlocks(answer, scheme, this.blockBytesMax));
    for (const [i, bytes] of parts.entries()) {
      if (bytes === undefined || this.stopped) return;
      const block = read(session, () => decodeBlock(bytes, scheme));
      const id = ids[i];
      if (id === undefined || !equal(blockId(block), id)) {
        const what = misconduct('another block than was asked for');
        session.offend('malformed-message', what);
        throw new Blamed(what, session);
      }
      blocks.push({ block, session });
      await clock.turn();
    }
  }

  /** An answer that nobody waits for any more says nothing about the peer. */
  private async timed(
    session: Session,
    left: AbortSignal,
    ask: () => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const { clock } = this.ports;
    const since = clock.monotonic();
    const note = (bytes: number): void =>
      this.helpers.answered(session, clock.monotonic() - since, bytes);
    try {
      const answer = await ask();
      note(answer.length);
      return answer;
    } catch (error) {
      if (!left.aborted) note(0);
      throw error;
    }
  }
}
