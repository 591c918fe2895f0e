/**
 * The engine of finality (finality.md): it keeps votes, sees what is justified and final, votes for this
 * node, says which branch is better and whether a block may be made, and what it carries. The chain, the
 * network, the clock and the disk are ports.
 *
 * Invariants: a block is shown as final only once its proof is on disk, and the proof of a block that the own
 * chain lacks is not written; the engine changes nothing of the
 * chain; all that peers can make it keep is bounded.
 */

import { unlessOurs } from '../base/assert.ts';
import { equal, latin1 } from '../base/bytes.ts';
import type { Misconduct } from '../base/faults/misconduct.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { Log } from '../base/ports/log.ts';
import type { Verifier } from '../base/ports/verifier.ts';
import type { Sign } from '../base/signer/signing.ts';
import { type ChainScheme, CodecError } from '../codec/codec.ts';
import { voteFor } from './carried.ts';
import { type Conflict, Conflicts } from './conflicts.ts';
import { JustifiedVotes } from './justified-votes.ts';
import type { Note, NoteDisk } from './note-file.ts';
import { decodeFinalProof, encodeFinalProof, votesOf } from './proofs/final-proof.ts';
import type { Justification } from './proofs/justification.ts';
import type { Rules } from './rules.ts';
import { VoteOutbox } from './spread/vote-outbox.ts';
import { VoteTellers } from './spread/vote-tellers.ts';
import { ancestorAt, type BlockIndex, type TrackedBlock } from './tracked-block.ts';
import { type FinalBlock, Tracker } from './tracker.ts';
import { Voter } from './voter.ts';
import { areContradictory, type Contradiction } from './votes/evidence.ts';
import { type Checkpoint, checkpointKey, type SignedVote } from './votes/vote.ts';
import { VotePool } from './votes/vote-pool.ts';
import { isQuorumOfEach, type VoterSet } from './votes/voter-set.ts';
import type { VoterSets } from './votes/voter-sets.ts';
import { decodeVotes, encodeVotes, VOTES_OF_MESSAGE_MAX } from './votes/votes-message.ts';

export interface FinalityOptions {
  /** Hash of the header of the genesis block. */
  readonly genesis: Uint8Array;
  readonly maxRollback: number;
  /** Own votes are sent again each round. */
  readonly roundMs: number;
}

/** A connected node. */
export interface Peer {
  /** Key of the voter that it is, if it is one. */
  readonly voter: Uint8Array | undefined;
  send(message: Uint8Array): void;
  /** Sends the proof of a final block. */
  prove(proof: Uint8Array): void;
}

export interface FinalityPorts {
  readonly scheme: ChainScheme;
  readonly clock: Clock;
  readonly log: Log;
  readonly verifier: Pick<Verifier, 'verify'>;
  readonly rules: Rules;
  readonly blocks: BlockIndex;
  /** The last block of this node's chain, which is on disk. */
  readonly head: () => TrackedBlock;
  readonly peers: () => Iterable<Peer>;
  /** Absent on a node that does not vote. */
  readonly voter: VoterKey | undefined;
  /**
   * Resolves once the proof of the highest final block is on disk, or with false where the own chain lacks the
   * block: then it is not shown, and comes again.
   */
  readonly saveProof: (proof: Uint8Array) => Promise<boolean>;
  /** Two final blocks contradict each other. Whoever decides what follows stops the engine. */
  readonly onConflict?: (found: Conflict, change: number) => void;
  /** Something is known that may make another branch the better one. */
  readonly onChange: () => void;
}

export interface VoterKey {
  readonly publicKey: Uint8Array;
  readonly sign: Sign;
  readonly disk: NoteDisk;
  /** What the disk had at the start. */
  readonly note: Note | undefined;
}

export class Finality {
  readonly tracker: Tracker;
  readonly pool: VotePool;
  readonly voter: Voter | undefined;
  readonly tellers = new VoteTellers<Peer>();
  private readonly conflicts: Conflicts;
  private readonly justified: JustifiedVotes;
  private readonly outbox: VoteOutbox<Peer>;
  private readonly options: FinalityOptions;
  private readonly ports: FinalityPorts;
  private readonly finalAtStart: number;
  private savedFinal: FinalBlock;
  private isSaving = false;
  private isStopped = false;
  private cancelRound = (): void => {};

  /** `final` is the block whose proof is on disk, or the root. */
  constructor(final: FinalBlock, options: FinalityOptions, ports: FinalityPorts) {
    const { scheme, blocks, rules, verifier } = ports;
    const { genesis } = options;
    this.options = options;
    this.ports = ports;
    this.outbox = new VoteOutbox(ports);
    this.savedFinal = final;
    this.finalAtStart = final.height;
    const votesFor = (id: string): Iterable<SignedVote> => this.pool.kept.for(id);
    this.tracker = new Tracker(final, { blocks, votesFor, genesis, scheme, rules });
    this.pool = new VotePool({
      genesis,
      scheme,
      verifier,
      onEvidence: (pair) => this.found(pair),
      view: {
        final: () => this.tracker.final.height,
        tip: () => ports.head().checkpoint.height,
        membersOn: (id, height) => {
          const block = blocks.get(id, height);
          return block && this.tracker.deciding(block.deciding).members;
        },
        membersNext: () => this.tracker.deciding(ports.head().leaves).members,
      },
    });
    const { tracker, pool } = this;
    this.justified = new JustifiedVotes({ tracker, kept: pool.kept, blocks, genesis });
    this.conflicts = new Conflicts({ ...ports, tracker, genesis });
    this.voter = ports.voter && this.createVoter(ports.voter);
  }

  private createVoter({ publicKey: voter, sign, disk, note }: VoterKey): Voter {
    const { scheme, clock, log, rules } = this.ports;
    const { genesis, maxRollback, roundMs } = this.options;
    return new Voter(
      note,
      { genesis, voter, maxRollback, roundMs },
      {
        scheme,
        clock,
        log,
        rules,
        disk,
        sign,
        deciding: (block) => this.tracker.deciding(block.deciding),
        finalHeightAt: (time) => this.finalHeightAt(time),
        send: (vote) => this.cast(vote),
      },
    );
  }

  start(): void {
    const { vote } = this.ports.voter?.note ?? {};
    if (vote !== undefined) {
      this.pool.own(vote);
      this.count([vote]);
    }
    this.nextRound();
    this.voter?.final(this.tracker.final.height);
    this.settle();
  }

  stop(): void {
    this.isStopped = true;
    this.cancelRound();
    this.outbox.stop();
    this.voter?.stop();
  }

  private nextRound(): void {
    const { clock } = this.ports;
    this.cancelRound = clock.after(this.options.roundMs, () => {
      this.nextRound();
      this.voter?.round();
      this.save();
      const own = this.voter?.repeated(this.tracker.final.height) ?? [];
      this.outbox.add(own);
      this.outbox.add(this.justified.untold());
      // Whoever seeks a block asks for it again.
      this.ports.onChange();
    });
  }

  /** The block came into the index, on whichever branch; parents come first. */
  added(block: TrackedBlock): void {
    if (this.isStopped) return;
    this.tracker.added(block);
    this.compareCarried(block);
    this.settle();
  }

  /** A block may carry an own vote that a note from a backup lacks. */
  private compareCarried({ carried }: TrackedBlock): void {
    const key = this.ports.voter?.publicKey;
    if (key === undefined || carried === undefined) return;
    const { id, height } = carried.target;
    const target = this.ports.blocks.get(latin1(id), height);
    if (target === undefined) return;
    const deciding = this.tracker.deciding(target.deciding);
    const signature = carried.votes[deciding.members.keys.findIndex((one) => equal(one, key))];
    if (signature === undefined) return;
    const vote = voteFor(target, deciding, this.options.genesis);
    this.voter?.seen({ ...vote, voter: key, signature });
  }

  /** The head is another block, and on disk. */
  moved(): void {
    if (this.isStopped) return;
    this.count(this.pool.moved());
    this.tellers.keep((id, height) => this.isSought(id, height));
    this.voter?.head(this.ports.head());
    this.conflicts.compare();
    // The proof of a final block waits until the own chain has the block.
    this.save();
  }

  /** Messages of votes from a peer. What it returns is held against the peer. */
  async receive(message: Uint8Array, from: Peer): Promise<Misconduct | CodecError | undefined> {
    const votes = decoded(() => decodeVotes(message, this.ports.scheme));
    return votes instanceof CodecError ? votes : this.take(votes, from);
  }

  /**
   * The proof of the final block of a peer: its votes are judged as if each had come alone, so whoever has
   * been away learns of them although nobody sends them again.
   */
  async receiveProof(
    message: Uint8Array,
    from: Peer,
  ): Promise<Misconduct | CodecError | undefined> {
    const proof = decoded(() => decodeFinalProof(message, this.ports.scheme));
    if (proof instanceof CodecError) return proof;
    const sets = this.conflicts.setsOf(proof.link);
    const keys = sets === undefined ? [] : this.tracker.deciding(sets).members.keys;
    const offence = await this.take(votesOf(proof.link, proof.justification, keys), from);
    if (this.isStopped) return offence;
    return (await this.conflicts.take(proof)) ?? offence;
  }

  private async take(votes: readonly SignedVote[], from: Peer): Promise<Misconduct | undefined> {
    const { taken, offence } = await this.pool.offer(votes);
    if (this.isStopped) return offence;
    this.tellers.told(from, votes, (id, height) => this.isSought(id, height));
    for (const vote of taken) this.compareWithOwn(vote);
    this.outbox.add(taken, from);
    this.count(taken);
    return offence;
  }

  /** There are votes for the block, and it is not known. */
  private isSought(id: string, height: number): boolean {
    return this.pool.kept.hasFor(id, height) && this.ports.blocks.get(id, height) === undefined;
  }

  private compareWithOwn(vote: SignedVote): void {
    const key = this.ports.voter?.publicKey;
    if (key === undefined || !equal(key, vote.voter)) return;
    const own = this.pool.kept.of(latin1(key));
    this.voter?.seen(
      vote,
      own.some((one) => areContradictory(one, vote)),
    );
  }

  /** A peer is connected: it may have missed what was sent before. */
  joined(peer: Peer): void {
    const votes = [...this.pool.kept.newest(VOTES_OF_MESSAGE_MAX), ...this.justified.all()];
    for (let at = 0; at < votes.length; at += VOTES_OF_MESSAGE_MAX) {
      const part = votes.slice(at, at + VOTES_OF_MESSAGE_MAX);
      peer.send(encodeVotes(part, this.ports.scheme));
    }
    const { proof } = this.savedFinal;
    if (proof !== undefined) peer.prove(encodeFinalProof(proof, this.ports.scheme));
  }

  private cast(vote: SignedVote): void {
    if (this.isStopped) return;
    this.pool.own(vote);
    this.outbox.add([vote]);
    this.outbox.flush();
    this.count([vote]);
  }

  private count(votes: readonly SignedVote[]): void {
    // By height and id: a vote with a false height must not hide those with the true one.
    const targets = new Map(votes.map(({ target }) => [checkpointKey(target), target]));
    for (const { id, height } of targets.values()) this.tracker.voted(latin1(id), height);
    if (votes.length > 0) this.settle();
  }

  /** Whatever is known now has its effects. */
  private settle(): void {
    const { height } = this.tracker.final;
    if (height > this.savedFinal.height) {
      this.count(this.pool.moved());
      this.voter?.final(height);
      this.save();
    }
    this.conflicts.compare();
    this.ports.onChange();
  }

  private save(): void {
    const { final } = this.tracker;
    const { scheme, saveProof, log } = this.ports;
    if (this.isSaving || final.proof === undefined || final === this.savedFinal) return;
    this.isSaving = true;
    saveProof(encodeFinalProof(final.proof, scheme))
      .then((isSaved) => {
        this.isSaving = false;
        if (!isSaved) return;
        this.savedFinal = final;
        if (!this.isStopped) this.save();
      })
      .catch(
        unlessOurs((cause) => {
          this.isSaving = false;
          log.error('finality.proof-failed', { why: String(cause) });
        }),
      );
  }

  private found([first, second]: Contradiction): void {
    this.ports.log.warn('finality.contradiction', {
      first: first.target.height,
      second: second.target.height,
    });
  }

  /** The highest final block that may be shown: its proof is on disk. */
  final(): Checkpoint {
    return this.savedFinal;
  }

  /** The justification that this node's next block carries. */
  toCarry(): Justification | undefined {
    return this.tracker.toCarry(this.ports.head());
  }

  /** Whether this node may make the next block. */
  mayMakeBlock(): boolean {
    const { maxRollback } = this.options;
    const { rules, head, voter } = this.ports;
    const parent = head();
    const { height } = parent.checkpoint;
    const connected = new Set<string>(voter && [latin1(voter.publicKey)]);
    for (const peer of this.ports.peers()) if (peer.voter) connected.add(latin1(peer.voter));
    const { kept } = this.pool;
    const isQuorum = (sets: VoterSets<VoterSet>, has: (name: string) => boolean): boolean =>
      isQuorumOfEach(this.tracker.deciding(sets), rules.quorum, has);
    return rules.mayMakeBlock({
      height: height + 1,
      final: this.tracker.final.height,
      maxRollback,
      isQuorumConnected: isQuorum(parent.leaves, (name) => connected.has(name)),
      // Who decides on the block alone could not vote for its parent, and nobody would go on.
      hasQuorumVoted:
        parent.isOverridden === true ||
        isQuorum(parent.deciding, (name) => kept.highestOf(name) >= height),
      carriesJustification: this.tracker.toCarry(parent) !== undefined,
    });
  }

  /** Where the index does not reach down to that time, it is too high, which is safe. */
  private finalHeightAt(time: number): number {
    const { blocks } = this.ports;
    const { final } = this.tracker;
    const last = blocks.get(latin1(final.id), final.height);
    // What was final at the start is not younger, whatever the clock says.
    let low = this.finalAtStart;
    let high = final.height;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const at = last && ancestorAt(last, middle, blocks);
      if (at !== undefined && at.timestamp > time) high = middle - 1;
      else low = middle;
    }
    return low;
  }
}

function decoded<T>(decode: () => T): T | CodecError {
  try {
    return decode();
  } catch (cause) {
    if (cause instanceof CodecError) return cause;
    throw cause;
  }
}
