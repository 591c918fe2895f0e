/**
 * Lines that wait for containers to start. One of each image asks whether its container is ready, less
 * and less often; when it is, all go on.
 */
import type { Clock } from '../base/ports.ts';
import { roundLimits as limits } from '../base/round-limits.ts';

const PAUSE_MS = limits.coldPause.value;
const PAUSE_MS_MAX = limits.coldPauseMax.value;
/** Images asked for at once, so that many cold ones take no time from what could run. */
export const ASKED_MAX = limits.coldAtOnce.value;

interface Cold<Line> {
  lines: Line[];
  pauseMs: number;
  /** Monotonic time of the next question. */
  next: number;
}

export class ColdLines<Line> {
  private readonly clock: Pick<Clock, 'monotonic'>;
  /** By image; the one asked for last comes last. */
  private readonly images = new Map<string, Cold<Line>>();
  private next = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.clock = clock;
  }

  add(image: string, line: Line): void {
    const known = this.images.get(image);
    if (known !== undefined) known.lines.push(line);
    else {
      const next = this.clock.monotonic() + PAUSE_MS;
      this.images.set(image, { lines: [line], pauseMs: PAUSE_MS, next });
    }
  }

  /** The lines that ask now. */
  due(): readonly Line[] {
    if (this.images.size === 0) return [];
    const now = this.clock.monotonic();
    if (now < this.next) return [];
    this.next = now + PAUSE_MS;
    const lines: Line[] = [];
    for (const [image, cold] of this.images) {
      if (lines.length >= ASKED_MAX) break;
      const line = cold.next <= now ? cold.lines.shift() : undefined;
      if (line === undefined) continue;
      cold.pauseMs = Math.min(2 * cold.pauseMs, PAUSE_MS_MAX);
      cold.next = now + cold.pauseMs;
      this.images.delete(image);
      this.images.set(image, cold);
      lines.push(line);
    }
    return lines;
  }

  /** The container runs: returns all that waited for it. */
  isWarm(image: string | undefined): readonly Line[] {
    const cold = image === undefined ? undefined : this.images.get(image);
    if (image === undefined || cold === undefined) return [];
    this.images.delete(image);
    return cold.lines;
  }
}
