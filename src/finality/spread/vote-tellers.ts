/**
 * Which peers have told of votes for blocks that this node does not know: they, or those before them, have
 * the blocks.
 *
 * Invariant: at most `TOLD_MAX` blocks are remembered, those told of first leave first.
 */
import { latin1 } from '../../base/bytes.ts';
import { checkpointKey, type SignedVote } from '../votes/vote.ts';

const TOLD_MAX = 1_000;

interface Tellers<Peer extends object> {
  /** The header hash of the block as text. */
  readonly id: string;
  readonly height: number;
  readonly peers: WeakSet<Peer>;
}

type IsSought = (id: string, height: number) => boolean;

export class VoteTellers<Peer extends object> {
  /** By `checkpointKey`. */
  private readonly tellers = new Map<string, Tellers<Peer>>();

  told(peer: Peer, votes: readonly SignedVote[], isSought: IsSought): void {
    for (const { target } of votes) {
      const { height } = target;
      const id = latin1(target.id);
      const key = checkpointKey(target);
      const known = this.tellers.get(key);
      if (known !== undefined) known.peers.add(peer);
      else if (isSought(id, height)) this.add(key, { id, height, peers: new WeakSet([peer]) });
    }
  }

  private add(key: string, tellers: Tellers<Peer>): void {
    this.tellers.set(key, tellers);
    if (this.tellers.size <= TOLD_MAX) return;
    const [oldest] = this.tellers.keys();
    if (oldest !== undefined) this.tellers.delete(oldest);
  }

  has(peer: Peer, keys: readonly string[]): boolean {
    return keys.some((key) => this.tellers.get(key)?.peers.has(peer) === true);
  }

  /** Forgets what nobody seeks any more. */
  keep(isSought: IsSought): void {
    for (const [key, { id, height }] of this.tellers) {
      if (!isSought(id, height)) this.tellers.delete(key);
    }
  }
}
