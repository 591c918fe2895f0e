/**
 * The note of a voter as bytes, and its file (finality.md#notes):
 *
 *   u1  1                         version of the format
 *   b32 genesis                   hash of the header of the genesis block
 *       key                       of the voter
 *   u4  source, u4 target         heights of the last vote; 0 and 0 where there is none
 *   u1  1 if the vote follows, else 0
 *       vote                      as it is sent: with key and signature
 *   b32 checksum                  fast hash of everything before it
 *
 * A damaged note is no lost note. A voter that took it for one might have votes about that are younger
 * than the final block from which it would go on, so the node does not start until somebody decides.
 */
import { concat, equal } from '../base/bytes.ts';
import { StartError } from '../base/faults/start-error.ts';
import { DIGEST_BYTES } from '../base/sizes.ts';
import { type ChainScheme, CodecError, Reader } from '../codec/codec.ts';
import { scratch } from '../codec/scratch.ts';
import type { Link } from './votes/links.ts';
import { decodeVote, encodeVote, type SignedVote, signedVoteBytes } from './votes/vote.ts';

export interface Note {
  readonly link: Link;
  /** The last vote itself, so that it can be sent again after a restart. */
  readonly vote: SignedVote | undefined;
}

/** The note of a key that has never voted. */
export const FIRST_NOTE: Note = { link: { source: 0, target: 0 }, vote: undefined };

/** Whose note it is. */
export interface NoteOwner {
  readonly genesis: Uint8Array;
  /** Public key. */
  readonly voter: Uint8Array;
}

/** One small file. A promise resolves once the disk has it. */
export interface NoteDisk {
  read(): Uint8Array | undefined;
  /** All of it or nothing. */
  replace(bytes: Uint8Array): Promise<void>;
  remove(): Promise<void>;
}

const VERSION = 1;

export function encodeNote(
  { link, vote }: Note,
  { genesis, voter }: NoteOwner,
  scheme: ChainScheme,
): Uint8Array {
  const signed = vote && encodeVote(vote, scheme);
  const out = scratch(scheme);
  out.u8(VERSION);
  out.bytes(genesis);
  out.bytes(voter);
  out.u32(link.source);
  out.u32(link.target);
  out.u8(signed === undefined ? 0 : 1);
  if (signed !== undefined) out.bytes(signed);
  return withChecksum(out.take(), scheme);
}

export const withChecksum = (body: Uint8Array, scheme: ChainScheme): Uint8Array =>
  concat(body, scheme.fastHash(body));

/** What stands before the checksum, behind the version. Throws CodecError. */
export function readerOfNote(bytes: Uint8Array, expected: number, scheme: ChainScheme): Reader {
  const end = bytes.length - DIGEST_BYTES;
  if (end < 0 || !equal(scheme.fastHash(bytes.subarray(0, end)), bytes.subarray(end))) {
    throw new CodecError('note', 'its checksum is wrong');
  }
  const src = new Reader(bytes, scheme, 0, end);
  const version = src.u8();
  if (version !== expected) throw new CodecError('note', `version ${version} is unknown`);
  return src;
}

/** The note is whole, and of another voter or network. */
class ForeignNote extends CodecError {}

/** Reads all of the bytes. Throws CodecError. */
export function decodeNote(bytes: Uint8Array, owner: NoteOwner, scheme: ChainScheme): Note {
  const src = readerOfNote(bytes, VERSION, scheme);
  const genesis = src.bytes(DIGEST_BYTES);
  // That of a new key names no network yet.
  if (!equal(src.bytes(scheme.publicKeySize), owner.voter)) {
    throw new ForeignNote('note', 'it is of another key');
  }
  if (!equal(genesis, owner.genesis)) throw new ForeignNote('note', 'it is of another network');
  const link = { source: src.u32(), target: src.u32() };
  const flag = src.u8();
  if (flag > 1) throw new CodecError('note', `flag ${flag}, expected 0 or 1`);
  const vote = flag === 0 ? undefined : readVoteOf(src, link, owner);
  src.finish();
  return { link, vote };
}

function readVoteOf(src: Reader, link: Link, owner: NoteOwner): SignedVote {
  const { scheme } = src;
  const vote = decodeVote(src.bytes(signedVoteBytes(scheme)).slice(), scheme);
  const isOwn = equal(vote.voter, owner.voter) && equal(vote.genesis, owner.genesis);
  if (!isOwn || vote.source.height !== link.source || vote.target.height !== link.target) {
    throw new CodecError('note', 'its vote is another one');
  }
  return vote;
}

const REMEDY_DAMAGED =
  'replace it by an empty file: the node then votes again once a block is final that is far enough above those ' +
  'of today';
/** In a network that is made anew nobody votes, and so nothing is final, where all notes count as lost. */
const REMEDY_FOREIGN =
  'move it away, and put the one of this key and network in its place; where this key has never voted in this network, run ' +
  "'platform-node finality init' instead";

/** The note on disk; undefined where there is none. `path` is for the message. Throws StartError. */
export function readNote(
  disk: Pick<NoteDisk, 'read'>,
  path: string,
  owner: NoteOwner,
  scheme: ChainScheme,
): Note | undefined {
  try {
    const bytes = disk.read();
    return bytes && decodeNote(bytes, owner, scheme);
  } catch (cause) {
    const remedy = cause instanceof ForeignNote ? REMEDY_FOREIGN : REMEDY_DAMAGED;
    throw StartError.ofFile(`note of the voter ${path}`, 'data-directory', cause, remedy);
  }
}
