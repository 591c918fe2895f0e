/**
 * Watches the disk of the node. While it is almost full, the node makes no blocks and takes no
 * transactions, because it could not keep them; it goes on following the chain, as far as its disk
 * lets it. It goes on by itself once there is space.
 *
 * Invariant: after that, and after any failure of the chain's store, the miner waits until the
 * blocks that the node has missed are there, since a block on an old head would be a fork of its
 * own.
 */
import { every } from '../concurrency/interval.ts';
import type { NodePorts } from './node-ports.ts';

export interface FreeSpaceOptions {
  /** `storage.free-space-min`; a disk without any space is almost full in any case. */
  readonly bytesMin: number;
}

export interface ChainProgress {
  /** The disk has refused the last write of blocks. */
  readonly isFailing: () => boolean;
  /** A peer has a better chain. */
  readonly isBehind: () => boolean;
}

export interface FreeSpace {
  /** At the last reading; undefined where the disk cannot be read. */
  bytes(): number | undefined;
  isLow(): boolean;
  /** True while the miner has to wait. */
  holdsMiner(chain: ChainProgress): boolean;
  /** Why the node takes no transactions; undefined while it does. */
  problem(): string | undefined;
  stop(): void;
}

const READ_MS = 2_000;
/** Space above the limit with which the node goes on, so that it does not stop again at once. */
const MARGIN_SHARE = 0.05;
/** A peer may announce a better chain and never send it, so the miner does not wait for ever. */
const CATCH_UP_MS_MAX = 60_000;

/** Resolves after the first reading. */
export async function watchFreeSpace(
  { bytesMin }: FreeSpaceOptions,
  { disk, clock, log }: Pick<NodePorts, 'disk' | 'clock' | 'log'>,
): Promise<FreeSpace> {
  const enough = Math.ceil(bytesMin * (1 + MARGIN_SHARE));
  let bytes: number | undefined;
  let isLow = false;
  let isUnreadable = false;
  /** When the disk worked again; undefined where nothing was missed. */
  let returnedAt: number | undefined;

  async function read(): Promise<void> {
    try {
      bytes = await disk?.freeBytes();
      isUnreadable = false;
    } catch (cause) {
      bytes = undefined;
      if (!isUnreadable) log.warn('disk.unreadable', { why: String(cause) });
      isUnreadable = true;
    }
    if (bytes !== undefined) judge(bytes);
  }

  function judge(free: number): void {
    const was = isLow;
    isLow = free === 0 || free < (was ? enough : bytesMin);
    if (isLow && !was) log.error('disk.low', { free, min: bytesMin });
    if (!isLow && was) {
      returnedAt = clock.monotonic();
      log.warn('disk.recovered', { free, min: bytesMin });
    }
  }

  await read();
  return {
    bytes: () => bytes,
    isLow: () => isLow,
    holdsMiner({ isFailing, isBehind }) {
      if (isLow) return true;
      // A node that nobody is ahead of tries again, since no other block shows that its disk works.
      if (isFailing()) {
        returnedAt = clock.monotonic();
        return isBehind();
      }
      if (returnedAt === undefined) return false;
      const isWaiting = clock.monotonic() - returnedAt < CATCH_UP_MS_MAX && isBehind();
      if (!isWaiting) returnedAt = undefined;
      return isWaiting;
    },
    problem: () =>
      isLow
        ? `${bytes ?? 0} bytes are free on the disk, less than storage.free-space-min (${bytesMin})`
        : undefined,
    stop: disk === undefined ? () => {} : every(clock, READ_MS, read),
  };
}
