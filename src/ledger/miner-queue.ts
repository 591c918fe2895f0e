/**
 * The queue of miners (consensus.md#the-miner-queue), ordered by the time of the operation that gave
 * the role, then by address (H-7). A role given again puts the miner at the end of the queue.
 */
import { compare } from '../base/bytes.ts';
import { listInSteps, sortInSteps } from '../concurrency/steps.ts';
import type { LedgerView } from './ledger.ts';
import { activeRole, inForce, latestOp, roleOpAt } from './permissions.ts';
import { everHolders, presentHolders } from './role-holders.ts';
import { MINER } from './roles.ts';
import { roleHistory } from './tables.ts';

export interface MinerQueue {
  /** Addresses. */
  readonly members: readonly Uint8Array[];
  /** The queue is the same until this time, exclusive; Infinity where no change is recorded. */
  readonly until: number;
}

interface Queued {
  readonly address: Uint8Array;
  /** Time of the operation that gave the role. */
  readonly since: number;
}

const bySince = (a: Queued, b: Queued): number =>
  a.since - b.since || compare(a.address, b.address);

/** The queue at a time that is not before the head. */
export function minerQueue(view: LedgerView, time: number): MinerQueue {
  const queue: Queued[] = [];
  let until = Infinity;
  for (const address of presentHolders(view, MINER)) {
    const op = roleOpAt(view, address, MINER, time);
    if (inForce(op, time)) {
      queue.push({ address, since: op.timestamp });
      until = Math.min(until, op.due ?? Infinity);
    }
    until = Math.min(until, nextChange(view, address, time));
  }
  return { members: queue.sort(bySince).map(({ address }) => address), until };
}

/** The time of the first operation after `time`. */
function nextChange(view: LedgerView, address: Uint8Array, time: number): number {
  const latest = latestOp(view, address, MINER);
  if (latest === undefined || latest.timestamp <= time) return Infinity;
  const { key } = roleHistory;
  const from = key.encode([address, MINER, time + 1]);
  const to = key.encode([address, MINER, latest.timestamp + 1]);
  for (const [[, , timestamp]] of view.range(roleHistory, from, to, 1)) return timestamp;
  return Infinity;
}

/** The queue at any time, also one long past, as work in steps. */
export function* minersInSteps(
  view: LedgerView,
  time: number,
): Generator<undefined, readonly Uint8Array[]> {
  const queue = yield* listInSteps(queuedMiners(view, time));
  return (yield* sortInSteps(queue, bySince)).map(({ address }) => address);
}

/** Undefined for each former miner. */
function* queuedMiners(view: LedgerView, time: number): Generator<Queued | undefined> {
  for (const address of everHolders(view, MINER)) {
    const op = activeRole(view, address, MINER, time);
    yield op && { address, since: op.timestamp };
  }
}
