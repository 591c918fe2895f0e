/** The note of the voter of this node, in a small file (finality.md#notes). */
import { equal } from '../../base/bytes.ts';
import type { Files } from '../../base/ports/files.ts';
import { DIGEST_BYTES } from '../../base/sizes.ts';
import { headerHash } from '../../block/header.ts';
import { headerRowAt } from '../../chain/store/stored-blocks.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import {
  encodeNote,
  FIRST_NOTE,
  type Note,
  type NoteDisk,
  type NoteOwner,
  readNote,
} from '../../finality/note-file.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import type { Config } from '../config/settings.ts';

const NOTHING = new Uint8Array(0);
/** In the place of the genesis block, which may not be signed yet. */
const NO_GENESIS = new Uint8Array(DIGEST_BYTES);

/** Outside of the data directory: no copy of that has it. */
export const notePath = ({ directory }: Pick<Config, 'directory'>): string =>
  `${directory}/finality-note`;

export interface VoterNote {
  readonly disk: NoteDisk;
  /** What the file has; undefined where it is lost. */
  readonly note: Note | undefined;
}

/** Of a key that has just been made: it has voted in no network. Its node makes of it the first note in its own. */
export const noteOfNewKey = (publicKey: Uint8Array, scheme: ChainScheme): Uint8Array =>
  encodeNote(FIRST_NOTE, { genesis: NO_GENESIS, voter: publicKey }, scheme);

/** Throws StartError where the note is damaged, or of another network or key. */
export function readVoterNote(
  files: Files,
  path: string,
  owner: NoteOwner,
  scheme: ChainScheme,
): Note | undefined {
  const disk = noteDisk(files, path);
  if (isOfNewKey(disk.read(), owner, scheme)) return FIRST_NOTE;
  return readNote(disk, path, owner, scheme);
}

const isOfNewKey = (bytes: Uint8Array | undefined, { voter }: NoteOwner, scheme: ChainScheme) =>
  bytes !== undefined && equal(bytes, noteOfNewKey(voter, scheme));

/**
 * `isFirst`: the key cannot have voted before, so the first note is made where there is no file. Throws StartError where
 * the file is damaged.
 */
export function openNote(
  files: Files,
  path: string,
  owner: NoteOwner,
  scheme: ChainScheme,
  isFirst: boolean,
): VoterNote {
  const disk = noteDisk(files, path);
  // An empty file says that there was one.
  if (isFirst && files.read(path) === undefined) {
    files.replace(path, encodeNote(FIRST_NOTE, owner, scheme), { secret: true });
  }
  return { disk, note: readVoterNote(files, path, owner, scheme) };
}

/** Throws StartError where the file is damaged, or of another network or key. */
export function requireNote(files: Files, path: string, voter: Uint8Array, view: LedgerView): void {
  const first = headerRowAt(view, 1);
  if (first === undefined) return;
  const genesis = headerHash(first.header, view.scheme);
  readVoterNote(files, path, { genesis, voter }, view.scheme);
}

/** An empty file says that there is no note. */
export function noteDisk(files: Files, path: string): NoteDisk {
  return {
    read() {
      const bytes = files.read(path);
      return bytes === undefined || bytes.length === 0 ? undefined : bytes;
    },
    replace: async (bytes) => files.replace(path, bytes, { secret: true }),
    remove: async () => files.replace(path, NOTHING, { secret: true }),
  };
}
