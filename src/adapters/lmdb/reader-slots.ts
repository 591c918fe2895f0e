/**
 * Who reads a store, as its lock file says. LMDB tells processes apart by their numbers, and two
 * containers may have the same number: the second process waits for ten seconds, and fails with
 * errors that name no reason.
 *
 * The layout is that of `MDB_txninfo` in mdb.c: the number of slots that have been in use at byte
 * 16, and at the end of the file one slot of 64 bytes for each reader, with the number of its
 * process at byte 8.
 */
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { READERS_MAX } from './environment.ts';

export const LOCK_FILE = 'lock.mdb';
const MAGIC = 0xbeefc0de;
const COUNT_AT = 16;
const SLOT_BYTES = 64;
const PID_AT = 8;

export class SamePidError extends Error {
  override name = 'SamePidError';

  constructor(folder: string, remedy = '') {
    const why = 'so that LMDB cannot tell them apart';
    super(`a reader of the store in ${folder} has the number ${process.pid} too, ${why}${remedy}`);
  }
}

const WITHIN = ': run this inside the container of the node (docker exec)';

/** Of the processes that have a slot, dead ones included; none where the file has another layout. */
export function readersIn(folder: string): readonly number[] {
  let bytes: Buffer;
  try {
    bytes = readFileSync(join(folder, LOCK_FILE));
  } catch {
    return [];
  }
  const slotsAt = bytes.length - READERS_MAX * SLOT_BYTES;
  if (slotsAt < SLOT_BYTES || bytes.readUInt32LE(0) !== MAGIC) return [];
  const count = Math.min(READERS_MAX, bytes.readUInt32LE(COUNT_AT));
  const pids = Array.from({ length: count }, (_, i) =>
    bytes.readInt32LE(slotsAt + i * SLOT_BYTES + PID_AT),
  );
  return pids.filter((pid) => pid !== 0);
}

/** Folders that this process has open, whose slots are its own. */
const ours = new Map<string, number>();

/** Notes that this process has the folder open, until the result is called. */
export function claimSlots(folder: string): () => void {
  const path = realpathSync(folder);
  ours.set(path, (ours.get(path) ?? 0) + 1);
  return () => {
    const left = (ours.get(path) ?? 1) - 1;
    if (left > 0) ours.set(path, left);
    else ours.delete(path);
  };
}

/**
 * Throws SamePidError where a process with the number of this one has a slot, which may be one that
 * was killed. To be called before LMDB opens the folder: whoever reads the lock file and closes it
 * gives up the locks of its process.
 */
export function requireNoTwin(folder: string): void {
  if (ours.has(realpathSync(folder))) return;
  if (readersIn(folder).includes(process.pid)) throw new SamePidError(folder, WITHIN);
}

/**
 * The same for who has opened it to write: LMDB has cleared the slots then, unless somebody else
 * reads. It keeps a slot with this number also where its process was killed: who it was cannot be
 * told.
 */
export function requireNoReadingTwin(folder: string, root: { readerList(): string }): void {
  const pids = [...root.readerList().matchAll(/^\s*(\d+)\s/gm)].map(([, pid]) => Number(pid));
  if (pids.includes(process.pid)) throw new SamePidError(folder);
}
