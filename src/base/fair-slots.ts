/**
 * Shares a number of places out among owners. The next place goes to the owner with the fewest; among
 * equals, to the one that was served longest ago. Where there are several owners, or more may come at
 * any time, the last places stay free for those that have none, so that slow work of one owner never
 * shuts out another.
 */
import { roundLimits } from './round-limits.ts';

export interface FairSlots<Item> {
  /** `yields`: it waits as if its owner had one place more. */
  add(owner: string, item: Item, yields: boolean): void;
  /** The item whose turn it is, if there is a place for it; the caller then may take the place. */
  next(): Item | undefined;
  take(owner: string): void;
  release(owner: string): void;
  readonly taken: number;
}

/** The part of the places that stays free for newcomers. */
const RESERVE_SHARE = roundLimits.reserve.value;

interface Owner<Item> {
  readonly first: Item[];
  readonly yielding: Item[];
  taken: number;
  /** Number of the turn that it had last. */
  served: number;
}

/** `isOpen`: owners come at any time, so one that is alone does not have all places either. */
export function createFairSlots<Item>(count: number, isOpen = false): FairSlots<Item> {
  const owners = new Map<string, Owner<Item>>();
  const waiting = new Set<Owner<Item>>();
  const reserve = count === 1 ? 0 : Math.max(1, Math.floor(count / RESERVE_SHARE));
  let taken = 0;
  let turns = 0;

  function ownerOf(name: string): Owner<Item> {
    let owner = owners.get(name);
    if (owner === undefined) {
      owner = { first: [], yielding: [], taken: 0, served: 0 };
      owners.set(name, owner);
    }
    return owner;
  }

  return {
    get taken() {
      return taken;
    },
    add(name, item, yields) {
      const owner = ownerOf(name);
      (yields ? owner.yielding : owner.first).push(item);
      waiting.add(owner);
    },
    next() {
      const free = count - taken;
      if (free <= 0) return undefined;
      const isReserved = (isOpen || owners.size > 1) && free <= reserve;
      let best: Owner<Item> | undefined;
      for (const owner of waiting) {
        if (isReserved && owner.taken > 0) continue;
        if (best === undefined || isBefore(owner, best)) best = owner;
      }
      if (best === undefined) return undefined;
      const item = best.first.shift() ?? best.yielding.shift();
      if (best.first.length + best.yielding.length === 0) waiting.delete(best);
      best.served = ++turns;
      return item;
    },
    take(name) {
      ownerOf(name).taken++;
      taken++;
    },
    release(name) {
      ownerOf(name).taken--;
      taken--;
    },
  };
}

const loadOf = ({ taken, first }: Owner<unknown>): number => taken + (first.length === 0 ? 1 : 0);

function isBefore(a: Owner<unknown>, b: Owner<unknown>): boolean {
  const difference = loadOf(a) - loadOf(b);
  return difference < 0 || (difference === 0 && a.served < b.served);
}
