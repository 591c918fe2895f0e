/**
 * Which peers have told of votes for blocks that this node does not know: they, or those before them, have
 * the blocks.
 *
 * Invariant: at most `TOLD_MAX` blocks are remembered, those told of first leave first.
 */
import { latin1 } from '../base/bytes.ts';
import type { SignedVote } from './vote.ts';

export const TOLD_MAX = 1_000;

interface Tellers<Peer extends object> {
  /** Of the block. */
  readonly height: number;
  readonly peers: WeakSet<Peer>;
}

type IsSought = (id: string, height: number) => boolean;

export class VoteTellers<Peer extends object> {
  private readonly tellers = new Map<string, Tellers<Peer>>();

  told(peer: Peer, votes: readonly SignedVote[], isSought: IsSought): void {
    for (const { target } of votes) {
      const { height } = target;
      const id = latin1(target.id);
      const known = this.tellers.get(id);
      if (known !== undefined) known.peers.add(peer);
      else if (isSought(id, height)) this.add(id, { height, peers: new WeakSet([peer]) });
    }
  }

  private add(id: string, tellers: Tellers<Peer>): void {
    this.tellers.set(id, tellers);
    if (this.tellers.size <= TOLD_MAX) return;
    const [oldest] = this.tellers.keys();
    if (oldest !== undefined) this.tellers.delete(oldest);
  }

  has(peer: Peer, ids: readonly string[]): boolean {
    return ids.some((id) => this.tellers.get(id)?.peers.has(peer) === true);
  }

  /** Forgets what nobody seeks any more. */
  keep(isSought: IsSought): void {
    for (const [id, { height }] of this.tellers) if (!isSought(id, height)) this.tellers.delete(id);
  }
}
