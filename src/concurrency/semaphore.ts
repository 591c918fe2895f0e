/**
 * Limits how many pieces of work run at a time, or how much they hold together. The others wait:
 * those of one owner in order, and owners take turns, so that one alone never holds up the rest.
 */
import { apiError } from '../base/errors.ts';
import type { Clock } from '../base/ports/clock.ts';

/** Gives the places back; a second call does nothing. */
export type Release = () => void;

/** The most that may wait. */
export interface WaitingBounds {
  readonly inAll: number;
  readonly ofOwner?: number;
}

interface Waiting {
  readonly places: number;
  readonly begin: () => void;
}

export class Semaphore {
  private free: number;
  private readonly bounds: Required<WaitingBounds>;
  /** By owner; the first owner is the next. */
  private readonly lines = new Map<string, Waiting[]>();
  private count = 0;

  constructor(places: number, bounds: WaitingBounds = { inAll: Number.POSITIVE_INFINITY }) {
    this.free = places;
    this.bounds = { ofOwner: bounds.inAll, ...bounds };
  }

  get waiting(): number {
    return this.count;
  }

  /** A place, or several, if they are free. */
  tryAcquire(places = 1): Release | undefined {
    if (this.count > 0 || places > this.free) return undefined;
    this.free -= places;
    return this.release(places);
  }

  /** Rejects with ApiError Overloaded where too many wait. */
  async acquire(owner = NOBODY, places = 1): Promise<Release> {
    const release = this.tryAcquire(places);
    if (release !== undefined) return release;
    await new Promise<void>((begin) => this.join(owner, { places, begin }));
    return this.release(places);
  }

  /** A place for nobody's work; undefined where there is none within so much time. */
  async acquireWithin(clock: Pick<Clock, 'after'>, ms: number): Promise<Release | undefined> {
    const release = this.tryAcquire();
    if (release !== undefined) return release;
    const isMine = await new Promise<boolean>((resolve) => {
      const begin = (): void => {
        cancel();
        resolve(true);
      };
      const waiting = { places: 1, begin };
      this.join(NOBODY, waiting);
      const cancel = clock.after(ms, () => {
        if (this.leave(NOBODY, waiting)) resolve(false);
      });
    });
    return isMine ? this.release(1) : undefined;
  }

  /** Runs the work when there is a place for it. Rejects as `acquire` does. */
  async run<T>(work: () => Promise<T>, owner = NOBODY, places = 1): Promise<T> {
    const release = this.tryAcquire(places) ?? (await this.acquire(owner, places));
    try {
      return await work();
    } finally {
      release();
    }
  }

  private join(owner: string, waiting: Waiting): void {
    const line = this.lines.get(owner) ?? [];
    if (this.count >= this.bounds.inAll || line.length >= this.bounds.ofOwner) {
      throw apiError('Overloaded');
    }
    line.push(waiting);
    this.lines.set(owner, line);
    this.count++;
  }

  /** False where it waits no longer. */
  private leave(owner: string, waiting: Waiting): boolean {
    const line = this.lines.get(owner) ?? [];
    const at = line.indexOf(waiting);
    if (at === -1) return false;
    line.splice(at, 1);
    if (line.length === 0) this.lines.delete(owner);
    this.count--;
    return true;
  }

  private release(places: number): Release {
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.free += places;
      this.pass();
    };
  }

  /** What is free goes to the next owners. */
  private pass(): void {
    // An owner that is served goes to the end of the lines, and comes again.
    for (const [owner, line] of this.lines) {
      const next = line[0]!;
      if (next.places > this.free) return;
      this.free -= next.places;
      this.leave(owner, next);
      if (this.lines.delete(owner)) this.lines.set(owner, line);
      next.begin();
    }
  }
}

/** The owner of work that has none. */
const NOBODY = '';
