/**
 * Fills a block from the pool, oldest first (mempool.md). Only scripts are shared out, since a few
 * transactions can take all that a block has for them.
 */
import { ApiError, apiError } from '../base/errors.ts';
import type { Clock } from '../base/ports.ts';
import type { PackLimits } from '../chain/apply/produce-block.ts';
import { refusalFrom } from '../codec/refusal.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import { runsContract } from '../tx/members.ts';
import { type ProofVerdicts, sealing } from '../tx/proof-verdicts.ts';
import type { Tx } from '../tx/transaction.ts';
import { type Signer, sealedForBlock } from '../tx/types/120-atomic.ts';
import { ScriptShares } from './admission/script-shares.ts';
import type { PoolEntry } from './entries/entry.ts';
import type { Pool } from './pool.ts';

/** The outcome for a transaction that the packer has taken from the pool. */
export type Outcome =
  /** The block contains it; `bytes` is its size in the block, its results included. */
  | { readonly kind: 'in'; readonly bytes: number }
  /** It leaves the pool for this reason. */
  | { readonly kind: 'out'; readonly error: ApiError }
  /** It stays in the pool for a later block. */
  | { readonly kind: 'stays' };

/**
 * The step between pool and draft, with the verdicts of the pool. `room` is the number of bytes
 * that are left in the block, of `bytesMax`: a block may hold a longer form than the pool. The step may take long, like an execution on another thread; the
 * chain waits meanwhile.
 */
export type PackStep = (
  tx: Tx,
  room: number,
  verdicts: ProofVerdicts,
  bytesMax?: number,
) => Outcome | Promise<Outcome>;

/** What goes into the block for a transaction of the pool. */
export type Sealing = (tx: Tx, verdicts: ProofVerdicts) => SealedTx;

export interface SealedTx {
  readonly tx: Tx;
  readonly verdicts: ProofVerdicts;
}

const UNCHANGED: Sealing = (tx, verdicts) => ({ tx, verdicts });

/** With the signature of the block's generator where the type has one. */
export const sealingBy =
  (signer: Signer): Sealing =>
  (tx, verdicts) => {
    if (tx.def.waiting === undefined) return { tx, verdicts };
    const sealed = sealedForBlock(tx, signer);
    return { tx: sealed, verdicts: sealing(sealed, tx, verdicts) };
  };

/** The step for transactions that need no container; an error of `add` is a refusal. */
export const applying =
  (add: (tx: Tx, verdicts: ProofVerdicts) => void, sealed: Sealing = UNCHANGED): PackStep =>
  (waiting, room, known, bytesMax = Number.POSITIVE_INFINITY) => {
    // It waits for a miner that executes contracts.
    if (runsContract(waiting)) return { kind: 'stays' };
    const { tx, verdicts } = sealed(waiting, known);
    const bytes = tx.bytes.length;
    if (bytes > bytesMax) return { kind: 'out', error: fitsNowhere(bytes) };
    if (bytes > room) return { kind: 'stays' };
    try {
      add(tx, verdicts);
    } catch (cause) {
      if (cause instanceof ApiError && cause.entry === 'BlockFull') return { kind: 'stays' };
      throw cause;
    }
    return { kind: 'in', bytes };
  };

const fitsNowhere = (bytes: number): ApiError =>
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
}

/**
 * Offers the entries of the pool to `step` in order, and drops those that the step refuses. The
 * pool keeps a refused entry only where a reorganisation has put it in doubt. A sender whose scripts
 * have taken their share of the block waits until all others were offered. Ends when nothing more
 * fits, or at the deadline.
 */
export async function pack(
  pool: Pool,
  limits: PackLimits,
  step: PackStep,
  clock: Clock,
  { reserved = 0, takes = everything }: Selection = {},
): Promise<Room> {
  const { bytesMax, countMax, deadline = Number.POSITIVE_INFINITY } = limits;
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
      if (size > bytesMax) {
        pool.drop(entry, fitsNowhere(size));
      }
      if (size > room) {
        isFull = true;
        continue;
      }
      if (isShared && shares.isUsedUp(sender)) {
        waiting.push(entry);
        continue;
      }
      const found = outcomeOf(pool, entry, step, room, bytesMax);
      const outcome = found instanceof Promise ? await found : found;
      if (outcome.kind === 'in') {
        room -= outcome.bytes;
        count++;
      } else if (outcome.kind === 'out' && !entry.removed) pool.drop(entry, outcome.error);
      shares.note(sender);
      if (slice.isOver()) await slice.yield();
    }
  }
}

const everything = (): boolean => true;

/** Waits only for steps that are asynchronous: most are not, and a block has thousands of them. */
function outcomeOf(
  pool: Pool,
  entry: PoolEntry,
  step: PackStep,
  room: number,
  bytesMax: number,
): Outcome | Promise<Outcome> {
  try {
    const outcome = step(pool.decode(entry), room, entry.verdicts, bytesMax);
    return outcome instanceof Promise ? outcome.catch(outOf) : outcome;
  } catch (cause) {
    return outOf(cause);
  }
}

/** Throws where the error is a fault of this node. */
const outOf = (cause: unknown): Outcome => ({ kind: 'out', error: refusalFrom(cause) });

/** No transaction of any type is shorter. */
const SMALLEST_BYTES = 100;
