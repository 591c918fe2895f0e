/**
 * Signs what a node asks for, and guards its key against signing twice (docs/protocol/signer.md).
 *
 * Invariants: what a key has signed of blocks and votes is on disk before the signature leaves; one at a time is
 * judged and noted; the same bytes get the same signature; what is refused changes nothing.
 */
import { equal } from '../base/bytes.ts';
import { ApiError } from '../base/errors.ts';
import { encodeHex } from '../base/hex.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { Log } from '../base/ports/log.ts';
import type { SignedKind } from '../base/signer/signing.ts';
import type { Header } from '../block/header.ts';
import { type ChainScheme, CodecError } from '../codec/codec.ts';
import { Mutex } from '../concurrency/mutex.ts';
import type { Consensus } from '../consensus/consensus.ts';
import { encodeNote, type Note, type NoteDisk } from '../finality/note-file.ts';
import { mayVote } from '../finality/votes/links.ts';
import { type SignedVote, type Vote, voteBytes } from '../finality/votes/vote.ts';
import { type BlockNote, blockNoteAfter, encodeBlockNote, judgeBlock } from './block-note.ts';
import { type ReadStatus, readSigned, type SignedContent } from './signed-bytes.ts';
import { type Answer, type Greeting, SIGNER_VERSION, type ToSign } from './signer-messages.ts';

export interface SignerOptions {
  /** Header hash of the genesis block. */
  readonly genesis: Uint8Array;
  /** The account that makes blocks, votes, and has the notes. */
  readonly owner: { readonly address: Uint8Array; readonly publicKey: Uint8Array };
  /** Types of transactions that are signed. */
  readonly types: ReadonlySet<number>;
  /** As in the greeting. */
  readonly consensus: Uint8Array;
}

/** What a key has signed so far, and where that is kept. Absent notes: nothing of the kind is signed. */
export interface SignerNotes {
  readonly blocks: BlockNote | undefined;
  readonly votes: Note | undefined;
  readonly blockDisk: Pick<NoteDisk, 'replace'>;
  readonly voteDisk: Pick<NoteDisk, 'replace'>;
}

export interface SignerPorts {
  readonly scheme: ChainScheme;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly consensus: Pick<Consensus, 'turnOf'>;
  readonly readStatus: ReadStatus;
  readonly keys: {
    publicKeys(): readonly Uint8Array[];
    publicKey(address: Uint8Array): Uint8Array | undefined;
    /** Throws or rejects with ApiError where the key is missing or the password wrong. */
    sign(
      address: Uint8Array,
      password: string | undefined,
      message: Uint8Array,
    ): Uint8Array | Promise<Uint8Array>;
  };
}

/** A block farther ahead would use up the turns until then: a node is not trusted with that. */
const AHEAD_MS_MAX = 60_000;

class Refused extends Error {}

/** Facts of a signature for the log. */
type Facts = Readonly<Record<string, unknown>>;

export class Signer {
  private readonly options: SignerOptions;
  private readonly ports: SignerPorts;
  private readonly notes: SignerNotes;
  private readonly mutex = new Mutex();
  private blocks: BlockNote | undefined;
  private votes: Note | undefined;
  /** Why a note is not on disk: what it has may not leave. */
  private failure: { readonly cause: unknown } | undefined;

  constructor(options: SignerOptions, notes: SignerNotes, ports: SignerPorts) {
    this.options = options;
    this.ports = ports;
    this.notes = notes;
    this.blocks = notes.blocks;
    this.votes = notes.votes;
  }

  greet({ version, chainId, genesis, consensus }: Greeting): Answer {
    const { scheme, keys } = this.ports;
    if (version !== SIGNER_VERSION) {
      return { refused: `version ${version}, and this signer speaks ${SIGNER_VERSION}` };
    }
    if (chainId !== scheme.chainId || !equal(genesis, this.options.genesis)) {
      return { refused: 'the node is of another network than this signer' };
    }
    if (consensus !== undefined && !equal(consensus, this.options.consensus)) {
      const fix =
        'copy blockchain.consensus and blockchain.custom from the configuration of the node';
      return { refused: `the node and this signer compute turns by other settings: ${fix}` };
    }
    return { keys: keys.publicKeys() };
  }

  /** Rejects where the disk of the signer fails: then nothing is signed any more. */
  async sign(question: ToSign): Promise<Answer> {
    const { log, scheme } = this.ports;
    const { kind, address } = question;
    const about = { kind, address: scheme.addressToText(address) };
    try {
      const { signature, facts } = await this.mutex.run(() => this.signed(question));
      log.info('signer.signed', { ...about, ...facts });
      return { signature };
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      const isRefusal = cause instanceof Refused || cause instanceof CodecError;
      if (!isRefusal && !(cause instanceof ApiError)) throw cause;
      log.warn('signer.refused', { ...about, why });
      return isRefusal ? { refused: why } : { noKey: true };
    }
  }

  private async signed(question: ToSign): Promise<{ signature: Uint8Array; facts: Facts }> {
    if (this.failure !== undefined) throw this.failure.cause;
    const { scheme, readStatus, keys } = this.ports;
    const { address, message, password } = question;
    const key = keys.publicKey(address);
    const content = readSigned(question.kind, message, scheme, readStatus);
    if (key !== undefined) this.requireOwn(content, key);
    const given = password === '' ? undefined : password;
    const make = async () => keys.sign(address, given, message);
    const hash = scheme.fastHash(message);
    const facts = { ...factsOf(content), hash: encodeHex(hash) };
    if (content.kind === 'block') {
      return { signature: await this.signedBlock(content.header, hash, make), facts };
    }
    if (content.kind === 'vote') {
      return { signature: await this.signedVote(content.vote, make), facts };
    }
    return { signature: await make(), facts };
  }

  /** Throws Refused. */
  private requireOwn(content: SignedContent, key: Uint8Array): void {
    const { owner, types } = this.options;
    const isOfOwner: readonly SignedKind[] = ['block', 'turn', 'vote', 'status'];
    if (isOfOwner.includes(content.kind) && !equal(key, owner.publicKey)) {
      throw new Refused('owner-address alone signs blocks, votes and what belongs to them');
    }
    const named = namedKey(content);
    if (named !== undefined && !equal(named, key)) throw new Refused('it names another key');
    if (content.kind === 'transaction' && !types.has(content.type)) {
      throw new Refused(`signer.types does not have type ${content.type}`);
    }
  }

  private async signedBlock(
    header: Header,
    hash: Uint8Array,
    make: () => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const { consensus, clock, scheme } = this.ports;
    const { blocks: note } = this;
    if (note === undefined) throw new Refused('this key has no note: platform-node signer init');
    const { timestamp } = header;
    const block = { turn: consensus.turnOf(header), timestamp, hash };
    const why = judgeBlock(note, block);
    if (why === 'again') return note.signature;
    if (timestamp > clock.now() + AHEAD_MS_MAX) {
      throw new Refused(`a block dated ${timestamp} is ahead of the clock of the signer`);
    }
    if (why !== undefined) throw new Refused(why);
    const signature = await make();
    const next = blockNoteAfter(note, block, signature);
    // From now on it binds, also where the disk refuses it.
    this.blocks = next;
    await this.keep(this.notes.blockDisk, encodeBlockNote(next, this.noteOwner(), scheme));
    return signature;
  }

  private async signedVote(vote: Vote, make: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const { scheme } = this.ports;
    const { votes: note } = this;
    const { genesis, owner } = this.options;
    if (!equal(vote.genesis, genesis)) throw new Refused('the vote is of another network');
    if (note === undefined) throw new Refused('this key has no note: platform-node signer init');
    const last = note.vote;
    if (last !== undefined && equal(voteBytes(last, scheme), voteBytes(vote, scheme))) {
      return last.signature;
    }
    const link = { source: vote.source.height, target: vote.target.height };
    if (!mayVote(note.link, link)) {
      const { source, target } = note.link;
      throw new Refused(`a vote ${link.source} → ${link.target} after one ${source} → ${target}`);
    }
    const signature = await make();
    const signed: SignedVote = { ...copyOf(vote), voter: owner.publicKey, signature };
    this.votes = { link, vote: signed };
    await this.keep(this.notes.voteDisk, encodeNote(this.votes, this.noteOwner(), scheme));
    return signature;
  }

  /** What waits behind a note that the disk has refused must not get its signature as that of the last one. */
  private async keep(disk: SignerNotes['blockDisk'], note: Uint8Array): Promise<void> {
    try {
      await disk.replace(note);
    } catch (cause) {
      this.failure = { cause };
      throw cause;
    }
  }

  private noteOwner() {
    const { genesis, owner } = this.options;
    return { genesis, voter: owner.publicKey };
  }
}

/** The key that the bytes themselves name. */
function namedKey(content: SignedContent): Uint8Array | undefined {
  if (content.kind === 'block') return content.header.generator;
  if (content.kind === 'turn') return content.turn.generator;
  if (content.kind === 'transaction' || content.kind === 'status') return content.sender;
  return undefined;
}

function factsOf(content: SignedContent): Facts {
  if (content.kind === 'block') return { timestamp: content.header.timestamp };
  if (content.kind === 'turn') return { timestamp: content.turn.timestamp };
  if (content.kind === 'transaction') return { type: content.type };
  if (content.kind !== 'vote') return {};
  return { source: content.vote.source.height, target: content.vote.target.height };
}

/** Its bytes are views of the question. */
const copyOf = ({ genesis, ruleHash, source, target }: Vote): Vote => ({
  genesis: genesis.slice(),
  ruleHash: ruleHash.slice(),
  source: { ...source, id: source.id.slice() },
  target: { ...target, id: target.id.slice() },
});
