/**
 * Contract queues that wait for containers to start. One of each image asks whether its container is
 * ready, less and less often; when it is, all go on.
 */
import { roundLimits as limits } from '../../base/limits/round-limits.ts';
import type { Clock } from '../../base/ports/clock.ts';

const PAUSE_MS = limits.coldPause.value;
const PAUSE_MS_MAX = limits.coldPauseMax.value;
/** Images asked for at once, so that many cold ones take no time from what could run. */
export const ASKED_MAX = limits.coldAtOnce.value;

interface Cold<Queue> {
  queues: Queue[];
  pauseMs: number;
  /** Monotonic time of the next question. */
  next: number;
}

export class ColdQueues<Queue> {
  private readonly clock: Pick<Clock, 'monotonic'>;
  /** By image; the one asked for last comes last. */
  private readonly images = new Map<string, Cold<Queue>>();
  private next = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.clock = clock;
  }

  add(image: string, queue: Queue): void {
    const known = this.images.get(image);
    if (known !== undefined) known.queues.push(queue);
    else {
      const next = this.clock.monotonic() + PAUSE_MS;
      this.images.set(image, { queues: [queue], pauseMs: PAUSE_MS, next });
    }
  }

  /** The queues that ask now. */
  due(): readonly Queue[] {
    if (this.images.size === 0) return [];
    const now = this.clock.monotonic();
    if (now < this.next) return [];
    this.next = now + PAUSE_MS;
    const queues: Queue[] = [];
    for (const [image, cold] of this.images) {
      if (queues.length >= ASKED_MAX) break;
      const queue = cold.next <= now ? cold.queues.shift() : undefined;
      if (queue === undefined) continue;
      cold.pauseMs = Math.min(2 * cold.pauseMs, PAUSE_MS_MAX);
      cold.next = now + cold.pauseMs;
      this.images.delete(image);
      this.images.set(image, cold);
      queues.push(queue);
    }
    return queues;
  }

  /** The container runs: returns all that waited for it. */
  isWarm(image: string | undefined): readonly Queue[] {
    const cold = image === undefined ? undefined : this.images.get(image);
    if (image === undefined || cold === undefined) return [];
    this.images.delete(image);
    return cold.queues;
  }
}
