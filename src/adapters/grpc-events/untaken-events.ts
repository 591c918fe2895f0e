/**
 * The events that subscribers have not taken yet. While they are too many bytes, no further event is
 * made, and who has taken nothing for longest is ended.
 */
import { eventLimits as limits } from '../../base/limits/event-limits.ts';
import type { Clock } from '../../base/ports/clock.ts';

const BYTES_MAX = limits.waiting.value;
/** A subscriber has this time while others must wait for it. */
const TAKE_MS_CROWDED = limits.takeCrowded.value;

interface Untaken {
  readonly bytes: number;
  readonly since: number;
  readonly end: () => void;
}

export class UntakenEvents {
  private readonly clock: Pick<Clock, 'after' | 'monotonic'>;
  /** The oldest comes first. */
  private readonly events = new Set<Untaken>();
  private readonly asked = new Set<() => void>();
  private bytes = 0;
  private cancelLook: (() => void) | undefined;

  constructor(clock: Pick<Clock, 'after' | 'monotonic'>) {
    this.clock = clock;
  }

  /** Resolves at once where there is room; rejects when the signal is aborted. */
  async room(signal: AbortSignal): Promise<void> {
    while (!this.makesRoom()) await this.change(signal);
  }

  /** `end`: ends its subscriber. What it returns says that the event was taken. */
  add(bytes: number, end: () => void): () => void {
    const event = { bytes, since: this.clock.monotonic(), end };
    this.events.add(event);
    this.bytes += bytes;
    return () => this.remove(event);
  }

  /** False where the slowest have time left. */
  private makesRoom(): boolean {
    for (const event of this.events) {
      if (this.bytes < BYTES_MAX) break;
      const leftMs = event.since + TAKE_MS_CROWDED - this.clock.monotonic();
      if (leftMs > 0) {
        this.lookLater(leftMs);
        return false;
      }
      this.remove(event);
      event.end();
    }
    return true;
  }

  private remove(event: Untaken): void {
    if (!this.events.delete(event)) return;
    this.bytes -= event.bytes;
    this.wake();
  }

  private lookLater(ms: number): void {
    this.cancelLook ??= this.clock.after(ms, () => {
      this.cancelLook = undefined;
      this.wake();
    });
  }

  private wake(): void {
    for (const ask of [...this.asked]) ask();
    this.asked.clear();
  }

  private async change(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.asked.add(resolve);
    signal.addEventListener('abort', resolve as () => void);
    await promise.finally(() => {
      signal.removeEventListener('abort', resolve as () => void);
      this.asked.delete(resolve);
      if (this.asked.size > 0) return;
      this.cancelLook?.();
      this.cancelLook = undefined;
    });
    signal.throwIfAborted();
  }
}
