/**
 * Says again what this miner has refused for good, since a record may get lost on its way, and a node
 * that executes nothing would keep the call until it expires (contracts.md#status-records).
 *
 * Invariant: a refusal is repeated a few times, further apart each time, and only while the call is
 * on no block and not back in the pool, where it will be judged anew.
 */
import { unlessOurs } from '../../base/assert.ts';
import { fromLatin1 } from '../../base/bytes.ts';
import { statusLimits as limits } from '../../base/limits/status-limits.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { every } from '../../concurrency/interval.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import type { StatusIndex, StatusMark } from './status-index.ts';

export interface RepeatedRefusalsPorts {
  readonly index: Pick<StatusIndex, 'refusedTransactions' | 'of'>;
  readonly clock: Clock;
  /** Public key of this node's miner, as Latin-1 text. */
  readonly ownKey: string;
  /** True where the call may wait in pools of other nodes, and this node still refuses it. */
  readonly isOpen: (txId: Uint8Array) => boolean;
  /** Signs and spreads the same refusal with the time of now. */
  readonly repeat: (mark: StatusMark) => void;
}

const EVERY_MS = 30_000;
const PAUSE_MS = limits.repeatPause.value;
const REPEATS_MAX = limits.repeats.value;
const AT_ONCE_MAX = limits.repeatsAtOnce.value;

/** Returns a function that stops it. */
export function repeatRefusals(ports: RepeatedRefusalsPorts): () => void {
  const { index, clock, ownKey, isOpen, repeat } = ports;
  async function sweep(isOver: () => boolean): Promise<void> {
    const slice = new TimeSlice(clock);
    let left = AT_ONCE_MAX;
    for (const txId of [...index.refusedTransactions()]) {
      if (isOver() || left === 0) break;
      const last = index.of(txId).findLast((mark) => mark.sender === ownKey);
      if (last !== undefined && isDue(last, clock.now()) && isOpen(fromLatin1(txId))) {
        repeat(last);
        left--;
      }
      if (slice.isOver()) await slice.yield();
    }
  }
  // A record that cannot be read ends one sweep alone.
  return every(clock, EVERY_MS, (isOver) => sweep(isOver).catch(unlessOurs(() => {})));
}

/** True where the refusal may have been lost for so long that it is said again. */
function isDue({ isRefusal, repeats, takenAt }: StatusMark, now: number): boolean {
  if (!isRefusal || repeats >= REPEATS_MAX) return false;
  return now - takenAt * 1000 >= PAUSE_MS * 2 ** repeats;
}
