/**
 * What a signer remembers of the blocks of a key, as bytes (docs/protocol/signer.md):
 *
 *   u1  1                    version of the format
 *   b32 genesis              header hash of the genesis block
 *       key
 *   i8  time                 nothing dated at or before it is signed, but the last block again
 *   b32 hash, b64 signature  of the last block, over the bytes that were signed; zeros: none
 *   u2  count, count × text8 turns of blocks that were signed, the newest last
 *   b32 checksum             fast hash of everything before it
 *
 * A damaged note is no lost note: the signer does not start.
 */
import { equal } from '../base/bytes.ts';
import { StartError } from '../base/faults/start-error.ts';
import { DIGEST_BYTES, SIGNATURE_BYTES } from '../base/sizes.ts';
import { type ChainScheme, CodecError } from '../codec/codec.ts';
import { text16 } from '../codec/primitives.ts';
import { scratch } from '../codec/scratch.ts';
import {
  type NoteDisk,
  type NoteOwner,
  readerOfNote,
  withChecksum,
} from '../finality/note-file.ts';

export interface BlockNote {
  readonly time: number;
  readonly hash: Uint8Array;
  readonly signature: Uint8Array;
  readonly turns: readonly string[];
}

/** A block that somebody wants to be signed. */
export interface BlockToSign {
  /** `Consensus.turnOf` */
  readonly turn: string;
  readonly timestamp: number;
  /** Fast hash of the bytes to be signed. */
  readonly hash: Uint8Array;
}

const VERSION = 1;
/** Under proof of stake a turn has no time; so many blocks of a key leave no chain at once. */
const TURNS_MAX = 1000;
const turn = text16(120);

/** Of a key that signs no block dated at or before a time. */
export const blockNoteFrom = (time: number): BlockNote => ({
  time,
  hash: new Uint8Array(DIGEST_BYTES),
  signature: new Uint8Array(SIGNATURE_BYTES),
  turns: [],
});

/** Why the block must not be signed; `again`: it is the last one, and its signature is there. */
export function judgeBlock(note: BlockNote, block: BlockToSign): 'again' | string | undefined {
  if (note.turns.at(-1) === block.turn && equal(note.hash, block.hash)) return 'again';
  if (note.turns.includes(block.turn)) return `another block has its turn: ${block.turn}`;
  if (block.timestamp > note.time) return undefined;
  return `a block dated ${block.timestamp} is not after ${note.time}`;
}

export const blockNoteAfter = (
  note: BlockNote,
  { turn: used, timestamp: time, hash }: BlockToSign,
  signature: Uint8Array,
): BlockNote => ({ time, hash, signature, turns: [...note.turns, used].slice(-TURNS_MAX) });

export function encodeBlockNote(
  { time, hash, signature, turns }: BlockNote,
  { genesis, voter: key }: NoteOwner,
  scheme: ChainScheme,
): Uint8Array {
  const out = scratch(scheme);
  out.u8(VERSION);
  out.bytes(genesis);
  out.bytes(key);
  out.u53(time);
  out.bytes(hash);
  out.bytes(signature);
  out.u16(turns.length);
  for (const one of turns) turn.write(out, one);
  return withChecksum(out.take(), scheme);
}

/** Throws CodecError. */
function decodeBlockNote(bytes: Uint8Array, owner: NoteOwner, scheme: ChainScheme): BlockNote {
  const src = readerOfNote(bytes, VERSION, scheme);
  if (!equal(src.bytes(DIGEST_BYTES), owner.genesis)) {
    throw new CodecError('note', 'it is of another network');
  }
  if (!equal(src.bytes(scheme.publicKeySize), owner.voter)) {
    throw new CodecError('note', 'it is of another key');
  }
  const time = src.u53();
  const hash = src.bytes(DIGEST_BYTES).slice();
  const signature = src.bytes(SIGNATURE_BYTES).slice();
  const turns = Array.from({ length: src.u16() }, () => turn.read(src));
  src.finish();
  return { time, hash, signature, turns };
}

/** Undefined where there is none. Throws StartError. */
export function readBlockNote(
  disk: Pick<NoteDisk, 'read'>,
  path: string,
  owner: NoteOwner,
  scheme: ChainScheme,
): BlockNote | undefined {
  try {
    const bytes = disk.read();
    return bytes && decodeBlockNote(bytes, owner, scheme);
  } catch (cause) {
    const remedy =
      'move it away, and make it anew: platform-node signer init, after the end of the round';
    throw StartError.ofFile(`note of the signer ${path}`, 'directory', cause, remedy);
  }
}
