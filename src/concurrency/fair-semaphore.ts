/**
 * Shares a number of places out among owners. The next place goes to the owner with the fewest; among
 * equals, to the one that was served longest ago. Where there are several owners, or more may come at
 * any time, the last places stay free for those that have none, so that slow work of one owner never
 * shuts out another.
 */
import { roundLimits } from '../base/limits/round-limits.ts';

/** The part of the places that stays free for newcomers. */
const RESERVE_SHARE = roundLimits.reserve.value;

interface Owner<Item> {
  readonly first: Item[];
  readonly yielding: Item[];
  taken: number;
  /** Number of the turn that it had last. */
  served: number;
}

export class FairSemaphore<Item> {
  private readonly count: number;
  private readonly isOpen: boolean;
  private readonly reserve: number;
  private readonly owners = new Map<string, Owner<Item>>();
  private readonly waiting = new Set<Owner<Item>>();
  private inUse = 0;
  private turns = 0;

  /** `isOpen`: owners come at any time, so one that is alone does not have all places either. */
  constructor(count: number, isOpen = false) {
    this.count = count;
    this.isOpen = isOpen;
    this.reserve = count === 1 ? 0 : Math.max(1, Math.floor(count / RESERVE_SHARE));
  }

  get taken(): number {
    return this.inUse;
  }

  /** `yields`: it waits as if its owner had one place more. */
  add(name: string, item: Item, yields: boolean): void {
    const owner = this.ownerOf(name);
    (yields ? owner.yielding : owner.first).push(item);
    this.waiting.add(owner);
  }

  /** The item whose turn it is, if there is a place for it; the caller then may take the place. */
  next(): Item | undefined {
    const free = this.count - this.inUse;
    if (free <= 0) return undefined;
    const isReserved = (this.isOpen || this.owners.size > 1) && free <= this.reserve;
    let best: Owner<Item> | undefined;
    for (const owner of this.waiting) {
      if (isReserved && owner.taken > 0) continue;
      if (best === undefined || isBefore(owner, best)) best = owner;
    }
    if (best === undefined) return undefined;
    const item = best.first.shift() ?? best.yielding.shift();
    if (best.first.length + best.yielding.length === 0) this.waiting.delete(best);
    best.served = ++this.turns;
    return item;
  }

  take(name: string): void {
    this.ownerOf(name).taken++;
    this.inUse++;
  }

  release(name: string): void {
    this.ownerOf(name).taken--;
    this.inUse--;
  }

  private ownerOf(name: string): Owner<Item> {
    let owner = this.owners.get(name);
    if (owner === undefined) {
      owner = { first: [], yielding: [], taken: 0, served: 0 };
      this.owners.set(name, owner);
    }
    return owner;
  }
}

const loadOf = ({ taken, first }: Owner<unknown>): number => taken + (first.length === 0 ? 1 : 0);

function isBefore(a: Owner<unknown>, b: Owner<unknown>): boolean {
  const difference = loadOf(a) - loadOf(b);
  return difference < 0 || (difference === 0 && a.served < b.served);
}
