/**
 * The votes of this node (finality.md#votes, #notes).
 *
 * Invariants: a vote leaves this node only after its note is on disk; what was written, or may have been,
 * binds the voter even where the disk has refused it; without a note nothing is signed.
 */

import { unlessOurs } from '../base/assert.ts';
import { latin1 } from '../base/bytes.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { Log } from '../base/ports/log.ts';
import { isUnsigned, type Sign, withSignature } from '../base/signer/signing.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { voteFor } from './carried.ts';
import { encodeNote, type Note, type NoteDisk, type NoteOwner } from './note-file.ts';
import type { Rules } from './rules.ts';
import type { TrackedBlock } from './tracked-block.ts';
import { areContradictory } from './votes/evidence.ts';
import type { Link } from './votes/links.ts';
import { type SignedVote, type Vote, voteBytes } from './votes/vote.ts';
import type { Deciding } from './votes/voter-set.ts';

export interface VoterOptions extends NoteOwner {
  readonly maxRollback: number;
  /** A node listens so long before its first vote. */
  readonly roundMs: number;
}

export interface VoterPorts {
  readonly scheme: ChainScheme;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly log: Log;
  readonly rules: Rules;
  readonly disk: NoteDisk;
  readonly sign: Sign;
  readonly deciding: (block: TrackedBlock) => Deciding;
  /** Height of the highest final block that is dated at or before a time. */
  readonly finalHeightAt: (time: number) => number;
  /** A vote whose note is on disk. */
  readonly send: (vote: SignedVote) => void;
}

export const VOTER_STATES = [
  'listening',
  'voting',
  'without-note',
  'note-not-written',
  'not-signed',
] as const;
export type VoterState = (typeof VOTER_STATES)[number];

/** Own votes that are sent again, besides the last one. */
const REPEATED_MAX = 8;

export class Voter {
  private readonly options: VoterOptions;
  private readonly ports: VoterPorts;
  private note: Note | undefined;
  /** The time since which there is no note. */
  private lostAt: number | undefined;
  private isListening = true;
  /** The disk has the note, or has none where there is none. */
  private isWritten = true;
  private isWriting = false;
  /** The last vote that was wanted was not signed. */
  private isUnsigned = false;
  private wanted: TrackedBlock | undefined;
  private sent: SignedVote[];
  private readonly cancel: () => void;

  constructor(note: Note | undefined, options: VoterOptions, ports: VoterPorts) {
    this.options = options;
    this.ports = ports;
    this.note = note;
    this.sent = note?.vote === undefined ? [] : [note.vote];
    if (note === undefined) this.lostAt = ports.clock.now();
    this.cancel = ports.clock.after(options.roundMs, () => {
      this.isListening = false;
      this.work();
    });
  }

  state(): VoterState {
    if (this.lostAt !== undefined) return 'without-note';
    if (!this.isWritten && !this.isWriting) return 'note-not-written';
    if (this.isUnsigned) return 'not-signed';
    return this.isListening ? 'listening' : 'voting';
  }

  /** The block is the head, and on disk. */
  head(block: TrackedBlock): void {
    this.wanted = block;
    this.work();
  }

  /** A round has passed: what the disk or the signer refused is tried again. */
  round(): void {
    this.work();
  }

  /** Own votes that others may have missed. */
  repeated(final: number): readonly SignedVote[] {
    this.sent = this.sent.filter(({ target }) => target.height > final).slice(-REPEATED_MAX);
    return this.sent;
  }

  /** The final block has moved. */
  final(height: number): void {
    if (this.lostAt === undefined) return;
    const finalAtStart = this.ports.finalHeightAt(this.lostAt);
    const { maxRollback } = this.options;
    const link = this.ports.rules.noteAfterLoss({ finalAtStart, maxRollback }, height);
    if (link === undefined) return;
    this.ports.log.info('finality.voting-again', { ...link });
    this.lostAt = undefined;
    this.become({ link, vote: undefined });
    this.work();
  }

  /** A vote with this key came from outside, and its signature is good; it may contradict any other. */
  seen(vote: SignedVote, isContradiction = false): void {
    const { note } = this;
    if (note === undefined || !(isContradiction || this.isForeign(vote, note))) return;
    const { source, target } = vote;
    this.ports.log.error('finality.own-vote-unknown', {
      source: source.height,
      target: target.height,
    });
    this.lostAt = this.ports.clock.now();
    this.sent = [];
    this.become(undefined);
    this.work();
  }

  private isForeign(vote: SignedVote, { link, vote: last }: Note): boolean {
    if (vote.target.height > link.target) return true;
    return last !== undefined && areContradictory(vote, last);
  }

  stop(): void {
    this.cancel();
    this.wanted = undefined;
  }

  private become(note: Note | undefined): void {
    this.note = note;
    this.isWritten = false;
  }

  private work(): void {
    if (this.isWriting) return;
    const { log } = this.ports;
    this.write().catch(
      unlessOurs((cause) => log.error('finality.note-failed', { why: String(cause) })),
    );
  }

  /** Until the note is on disk and there is nothing to vote for. Rejects where the disk fails. */
  private async write(): Promise<void> {
    this.isWriting = true;
    try {
      while (!this.isWritten || (await this.takesVote())) await this.writeNote();
    } finally {
      this.isWriting = false;
    }
  }

  private async writeNote(): Promise<void> {
    const { note } = this;
    const { disk, scheme } = this.ports;
    if (note === undefined) await disk.remove();
    else await disk.replace(encodeNote(note, this.options, scheme));
    // It may have become another one meanwhile, which is not on disk.
    if (this.note !== note) return;
    this.isWritten = true;
    if (note?.vote === undefined) return;
    this.sent.push(note.vote);
    this.ports.send(note.vote);
  }

  /** Whether there is a vote to be written and sent: from now on it binds. */
  private async takesVote(): Promise<boolean> {
    const { wanted, note } = this;
    const unsigned = wanted && this.voteFor(wanted);
    if (wanted === undefined || unsigned === undefined) return false;
    const signing = this.signed(unsigned);
    const vote = signing instanceof Promise ? await signing : signing;
    if (vote === undefined) return false;
    if (this.wanted === wanted) this.wanted = undefined;
    // A vote that nobody gets binds nobody, so one that its note has overtaken is forgotten.
    if (this.note !== note) return !this.isWritten;
    this.become({ link: linkOf(wanted), vote });
    return true;
  }

  /** Undefined where nobody signs; then it is tried again. A key of this process answers at once. */
  private signed(vote: Vote): SignedVote | undefined | Promise<SignedVote | undefined> {
    const { scheme, sign } = this.ports;
    const { voter } = this.options;
    const complete = (signature: Uint8Array): SignedVote => {
      this.isUnsigned = false;
      return { ...vote, voter, signature };
    };
    const signed = withSignature(sign(voteBytes(vote, scheme)), complete);
    return signed instanceof Promise ? signed.catch((cause) => this.unsigned(cause)) : signed;
  }

  private unsigned(cause: unknown): undefined {
    if (!isUnsigned(cause)) throw cause;
    if (!this.isUnsigned) this.ports.log.warn('finality.not-signed', { why: String(cause) });
    this.isUnsigned = true;
  }

  private voteFor(block: TrackedBlock): Vote | undefined {
    const { note, isListening, lostAt } = this;
    if (note === undefined || isListening || lostAt !== undefined) return undefined;
    const { voter, genesis } = this.options;
    const { rules, deciding } = this.ports;
    const link = linkOf(block);
    const by = deciding(block);
    if (!by.members.names.has(latin1(voter)) || link.source >= link.target) return undefined;
    if (!rules.mayVote(note.link, link)) return undefined;
    return voteFor(block, by, genesis);
  }
}

const linkOf = ({ source, checkpoint }: TrackedBlock): Link => ({
  source: source.height,
  target: checkpoint.height,
});
