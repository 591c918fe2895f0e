/**
 * Votes for the highest justified block that this node has from a block alone (finality.md#spread). Nobody may repeat
 * them any more, and a peer on a branch with a higher score learns of the block by votes.
 */
import { latin1 } from '../base/bytes.ts';
import { voteFor } from './carried.ts';
import { votesOf } from './proofs/final-proof.ts';
import type { BlockIndex } from './tracked-block.ts';
import type { Tracker } from './tracker.ts';
import type { KeptVotes } from './votes/kept-votes.ts';
import type { Checkpoint, SignedVote } from './votes/vote.ts';

export interface JustifiedVotesPorts {
  readonly tracker: Tracker;
  readonly kept: KeptVotes;
  readonly blocks: BlockIndex;
  readonly genesis: Uint8Array;
}

export class JustifiedVotes {
  private readonly ports: JustifiedVotesPorts;
  private told: Checkpoint | undefined;

  constructor(ports: JustifiedVotesPorts) {
    this.ports = ports;
  }

  /** Those that the pool lacks. */
  all(): readonly SignedVote[] {
    const { tracker, kept, blocks, genesis } = this.ports;
    const { id, height } = tracker.justified;
    const block = blocks.get(latin1(id), height);
    const justification = tracker.justificationOf(latin1(id));
    if (block === undefined || justification === undefined) return [];
    const deciding = tracker.deciding(block.deciding);
    const known = new Set(Array.from(kept.for(block.id), ({ voter }) => latin1(voter)));
    const link = voteFor(block, deciding, genesis);
    return votesOf(link, justification, deciding.members.keys).filter(
      ({ voter }) => !known.has(latin1(voter)),
    );
  }

  /** The same, once for each block. */
  untold(): readonly SignedVote[] {
    const { justified, final } = this.ports.tracker;
    if (justified.height <= final.height || justified === this.told) return [];
    this.told = justified;
    return this.all();
  }
}
