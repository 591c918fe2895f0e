/**
 * Fills the draft of a block from the pool, oldest first (mempool.md). Only scripts are shared out, since a few
 * transactions can take all that a block has for them.
 */
import { type ApiError, apiError } from '../base/errors.ts';
import type { Clock } from '../base/ports/clock.ts';
import { isUnsigned } from '../base/signer/signing.ts';
import { type BlockDraft, isBlockFull } from '../chain/apply/block-draft.ts';
import type { PackLimits } from '../chain/apply/produce-block.ts';
import { refusalFrom } from '../codec/refusal.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import { runsContract } from '../tx/members.ts';
import { type CheckedTx, type ProofVerdicts, sealing } from '../tx/proof-verdicts.ts';
import type { Tx } from '../tx/transaction.ts';
import { type Signer, sealedForBlock } from '../tx/types/120-atomic.ts';
import type { PoolEntry } from './entries/entry.ts';
import type { Pool } from './pool.ts';
import { type BlockInTime, isForNextBlock } from './role-times.ts';
import { ScriptShares } from './script-shares.ts';

export type Draft = Pick<BlockDraft, 'add'> & Partial<BlockInTime>;

/**
 * Adds a transaction to the draft; returns the bytes that it takes there. Undefined where there is no
 * room for it in this block, but may be in a later one. Throws what the draft throws.
 */
export function add(
  draft: Draft,
  { tx, verdicts }: CheckedTx,
  room: number,
  bytesMax = Number.POSITIVE_INFINITY,
): number | undefined {
  const bytes = tx.bytes.length;
  if (bytes > bytesMax) throw fitsNowhere(bytes);
  if (bytes > room) return undefined;
  try {
    draft.add(tx, verdicts);
  } catch (cause) {
    if (isBlockFull(cause)) return undefined;
    throw cause;
  }
  return bytes;
}

export const fitsNowhere = (bytes: number): ApiError =>
  apiError('Invalid', `${bytes} bytes fit into no block of this network`);

/** The room that a packing leaves. */
export interface Room {
  readonly bytes: number;
  readonly count: number;
  /** True where an entry stayed because it did not fit. */
  readonly isFull: boolean;
}

export interface Selection {
  /** Bytes of the block that this packing leaves free. */
  readonly reserved?: number;
  /** Only these entries are offered; asked before they are decoded. */
  readonly takes?: (entry: PoolEntry) => boolean;
  /** The generator of the block; absent: nothing needs its signature. */
  readonly signer?: Signer;
}

/**
 * Adds the entries of the pool to the draft in order, and drops those that it refuses. The pool
 * keeps a refused entry only where a reorganisation has put it in doubt. A sender whose scripts
 * have taken their share of the block waits until all others were offered. Ends when nothing more
 * fits, or at the deadline.
 */
export async function pack(
  pool: Pool,
  limits: PackLimits,
  draft: Draft,
  clock: Clock,
  { reserved = 0, takes = everything, signer }: Selection = {},
): Promise<Room> {
  const { bytesMax, countMax, deadline = Number.POSITIVE_INFINITY } = limits;
  const notPut = dropFrom(pool, draft, clock);
  const shares = new ScriptShares(limits.scriptsTried);
  const slice = new TimeSlice(clock);
  let room = bytesMax - reserved;
  let count = 0;
  let isFull = false;
  // A transaction must not be judged before those on which it builds have returned.
  await pool.readmitted();
  const waiting: PoolEntry[] = [];
  // The order of the pool changes with every arrival, so the loop runs over a copy.
  await offerAll([...pool.inOrder()], true);
  await offerAll(waiting, false);
  return { bytes: room, count: countMax - count, isFull };

  async function offerAll(entries: readonly PoolEntry[], isShared: boolean): Promise<void> {
    for (const entry of entries) {
      if (clock.now() >= deadline) return;
      if (count >= countMax || room < SMALLEST_BYTES) {
        isFull = true;
        return;
      }
      if (entry.removed || !takes(entry)) continue;
      const { size, sender } = entry;
      if (size > room) {
        if (size > bytesMax) pool.drop(entry, fitsNowhere(size));
        else isFull = true;
        continue;
      }
      if (isShared && shares.isUsedUp(sender)) {
        waiting.push(entry);
        continue;
      }
      const signing = offer(entry);
      if (signing !== undefined) await signing;
      shares.note(sender);
      if (slice.isOver()) await slice.yield();
    }
  }

  /** A promise where a signer has to sign it first. Throws where the error is a fault of this node. */
  function offer(entry: PoolEntry): Promise<void> | undefined {
    let tx: Tx | undefined;
    try {
      tx = pool.decode(entry);
      // It waits for a miner that executes contracts.
      if (runsContract(tx)) return undefined;
      const sealed = sealedBy(signer, tx, entry.verdicts);
      if (!(sealed instanceof Promise)) return put(sealed);
      const whenSigned = (signed: CheckedTx) => (entry.removed ? undefined : put(signed));
      return sealed.then(whenSigned).catch((cause: unknown) => notPut(entry, tx, cause));
    } catch (cause) {
      return notPut(entry, tx, cause);
    }
  }

  function put(sealed: CheckedTx): undefined {
    const bytes = add(draft, sealed, room, bytesMax);
    if (bytes === undefined) return;
    room -= bytes;
    count++;
  }
}

/** What goes into the block of a generator: some types carry its signature there. */
function sealedBy(
  signer: Signer | undefined,
  tx: Tx,
  verdicts: ProofVerdicts,
): CheckedTx | Promise<CheckedTx> {
  if (signer === undefined || tx.def.waiting === undefined) return { tx, verdicts };
  const made = sealedForBlock(tx, signer);
  const checked = (sealed: Tx) => ({ tx: sealed, verdicts: sealing(sealed, tx, verdicts) });
  return made instanceof Promise ? made.then(checked) : checked(made);
}

/** Drops an entry that the draft refuses, unless a later block may take it. */
function dropFrom(pool: Pool, { context, overlay }: Draft, clock: Pick<Clock, 'now'>) {
  const block = context && overlay && { context, overlay };
  return (entry: PoolEntry, tx: Tx | undefined, cause: unknown): undefined => {
    // Another miner may sign it.
    if (isUnsigned(cause)) return;
    const refusal = refusalFrom(cause);
    if (entry.removed || (tx && block && isForNextBlock(tx, block, clock.now()))) return;
    pool.drop(entry, refusal);
  };
}

const everything = (): boolean => true;

/** No transaction of any type is shorter. */
const SMALLEST_BYTES = 100;
