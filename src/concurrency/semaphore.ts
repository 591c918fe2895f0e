/**
 * Limits how many pieces of work run at a time. The others wait: those of one owner in order, and
 * owners take turns, so that one alone never holds up the rest.
 */
import { apiError } from '../base/errors.ts';
import type { Clock } from '../base/ports.ts';

/** Gives a place back; again, it does nothing. */
export type Release = () => void;

/** The most that may wait. */
export interface WaitingBounds {
  readonly inAll: number;
  readonly ofOwner?: number;
}

export class Semaphore {
  private free: number;
  private readonly bounds: Required<WaitingBounds>;
  /** By owner; the first owner is the next. */
  private readonly lines = new Map<string, (() => void)[]>();
  private count = 0;

  constructor(places: number, bounds: WaitingBounds = { inAll: Number.POSITIVE_INFINITY }) {
    this.free = places;
    this.bounds = { ofOwner: bounds.inAll, ...bounds };
  }

  get waiting(): number {
    return this.count;
  }

  /** A place, if one is free. */
  tryAcquire(): Release | undefined {
    if (this.free === 0) return undefined;
    this.free--;
    return this.place();
  }

  /** Rejects with ApiError Overloaded where too many wait. */
  async acquire(owner = NOBODY): Promise<Release> {
    const release = this.tryAcquire();
    if (release !== undefined) return release;
    await new Promise<void>((begin) => this.join(owner, begin));
    return this.place();
  }

  /** The same for nobody's work; undefined where there is no place within so much time. */
  async acquireWithin(clock: Pick<Clock, 'after'>, ms: number): Promise<Release | undefined> {
    const release = this.tryAcquire();
    if (release !== undefined) return release;
    const isMine = await new Promise<boolean>((resolve) => {
      const begin = (): void => {
        cancel();
        resolve(true);
      };
      this.join(NOBODY, begin);
      const cancel = clock.after(ms, () => {
        if (this.leave(NOBODY, begin)) resolve(false);
      });
    });
    return isMine ? this.place() : undefined;
  }

  /** Runs the work when there is a place for it. Rejects as `acquire` does. */
  async run<T>(work: () => Promise<T>, owner = NOBODY): Promise<T> {
    const release = this.tryAcquire() ?? (await this.acquire(owner));
    try {
      return await work();
    } finally {
      release();
    }
  }

  private join(owner: string, begin: () => void): void {
    const line = this.lines.get(owner) ?? [];
    if (this.count >= this.bounds.inAll || line.length >= this.bounds.ofOwner) {
      throw apiError('Overloaded');
    }
    line.push(begin);
    this.lines.set(owner, line);
    this.count++;
  }

  /** False where it waits no longer. */
  private leave(owner: string, begin: () => void): boolean {
    const line = this.lines.get(owner) ?? [];
    const at = line.indexOf(begin);
    if (at === -1) return false;
    line.splice(at, 1);
    if (line.length === 0) this.lines.delete(owner);
    this.count--;
    return true;
  }

  private place(): Release {
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.pass();
    };
  }

  /** The place goes to the next owner. */
  private pass(): void {
    const [next] = this.lines;
    if (next === undefined) {
      this.free++;
      return;
    }
    const [owner, line] = next;
    const begin = line.shift();
    this.lines.delete(owner);
    if (line.length > 0) this.lines.set(owner, line);
    this.count--;
    begin?.();
  }
}

/** The owner of work that has none. */
const NOBODY = '';
