/**
 * Votes on their way to the peers (finality.md#spread). Those that come within `GATHER_MS` after a message leave together,
 * so the messages of a node do not depend on how many voters there are.
 *
 * Invariants: the first vote after a pause leaves at once, and no vote waits longer than `GATHER_MS`; nobody gets a
 * vote back from which it came.
 */
import type { Clock } from '../../base/ports/clock.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { encodeVote, type SignedVote } from '../votes/vote.ts';
import { joinVotes, VOTES_OF_MESSAGE_MAX } from '../votes/votes-message.ts';

export const GATHER_MS = 100;

interface Receiver {
  send(message: Uint8Array): void;
}

export interface OutboxPorts<Peer extends Receiver> {
  readonly scheme: ChainScheme;
  readonly clock: Pick<Clock, 'after'>;
  readonly peers: () => Iterable<Peer>;
}

interface Waiting<Peer> {
  readonly bytes: Uint8Array;
  readonly from: Peer | undefined;
}

export class VoteOutbox<Peer extends Receiver> {
  private readonly ports: OutboxPorts<Peer>;
  private waiting: Waiting<Peer>[] = [];
  private isGathering = false;
  private cancel = (): void => {};

  constructor(ports: OutboxPorts<Peer>) {
    this.ports = ports;
  }

  /** New votes of a peer, for all others. */
  add(votes: readonly SignedVote[], from?: Peer): void {
    for (const vote of votes) {
      this.waiting.push({ bytes: encodeVote(vote, this.ports.scheme), from });
    }
    if (!this.isGathering || this.waiting.length >= VOTES_OF_MESSAGE_MAX) this.flush();
  }

  /** What waits leaves now. */
  flush(): void {
    const { peers, clock } = this.ports;
    const { waiting } = this;
    if (waiting.length === 0) return;
    this.waiting = [];
    for (const peer of peers()) {
      const votes = waiting.filter(({ from }) => from !== peer).map(({ bytes }) => bytes);
      for (let at = 0; at < votes.length; at += VOTES_OF_MESSAGE_MAX) {
        peer.send(joinVotes(votes.slice(at, at + VOTES_OF_MESSAGE_MAX)));
      }
    }
    this.cancel();
    this.isGathering = true;
    this.cancel = clock.after(GATHER_MS, () => {
      this.isGathering = false;
      this.flush();
    });
  }

  stop(): void {
    this.cancel();
    this.waiting = [];
  }
}
