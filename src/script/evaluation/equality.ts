/**
 * When two values are the same (docs/protocol/scripts.md#values): of one kind, with the same parts.
 *
 * Records can share parts, so that a few of them stand for a tree of any size. A run with a budget
 * pays for each pair of the tree, whether its parts are shared or not. One without a budget visits
 * each pair of objects once, so that it ends after as many steps as there are objects.
 */

import { equal } from '../../base/bytes.ts';
import { type Charge, unitsOf } from '../../base/charge.ts';
import { type CaseObject, isBytes, isList, isObject, type Value } from '../language/values.ts';
import type { Meter } from './meter.ts';

/** A pair of values. */
export const PAIR_UNITS = 3;
/** Two texts or byte strings of one length, by this length. */
export const COMPARISON_CHARGE: Charge = { fixed: 0, per: 1, each: 512 };

/**
 * Compares depth-first, the last field of `a` and the last element first, up to the first difference.
 * Throws OutOfUnits.
 */
export function same(a: Value, b: Value, meter: Meter): boolean {
  const merged = meter.isLimited ? undefined : new Merged();
  const left: Value[] = [a];
  const right: Value[] = [b];
  // Not by recursion: records can be as deep as a script has calls.
  while (left.length > 0) {
    const x = left.pop()!;
    const y = right.pop()!;
    meter.charge(PAIR_UNITS);
    if (typeof x !== 'object' || typeof y !== 'object') {
      if (typeof x === 'string' && typeof y === 'string') chargeComparison(x, y, meter);
      if (x !== y) return false;
    } else if (merged === undefined || merged.join(x, y)) {
      if (isBytes(x) && isBytes(y)) chargeComparison(x, y, meter);
      if (!haveSameParts(x, y, left, right)) return false;
    }
  }
  return true;
}

type Sequence = string | Uint8Array;

function chargeComparison(x: Sequence, y: Sequence, meter: Meter): void {
  if (x.length === y.length) meter.charge(unitsOf(COMPARISON_CHARGE, x.length));
}

/** False where the two differ by themselves; the parts to compare are added to the lists. */
function haveSameParts(x: Value, y: Value, left: Value[], right: Value[]): boolean {
  if (isBytes(x)) return isBytes(y) && equal(x, y);
  if (isList(x)) {
    if (!isList(y) || x.length !== y.length) return false;
    left.push(...x);
    right.push(...y);
    return true;
  }
  return isObject(x) && isObject(y) && haveSameFields(x, y, left, right);
}

function haveSameFields(x: CaseObject, y: CaseObject, left: Value[], right: Value[]): boolean {
  if (x.type !== y.type || x.fields.size !== y.fields.size) return false;
  for (const [name, value] of x.fields) {
    const other = y.fields.get(name);
    if (other === undefined) return false;
    left.push(value);
    right.push(other);
  }
  return true;
}

/**
 * Objects that are the same if the whole comparison says so. A pair that follows from earlier pairs
 * need not be compared: at the end either all pairs hold, or the answer is no anyway.
 */
class Merged {
  private readonly next = new Map<object, object>();

  /** False where it follows already that the two are the same. */
  join(a: object, b: object): boolean {
    const x = this.root(a);
    const y = this.root(b);
    if (x === y) return false;
    this.next.set(x, y);
    return true;
  }

  private root(of: object): object {
    let at = of;
    for (let next = this.next.get(at); next !== undefined; next = this.next.get(at)) {
      const after = this.next.get(next);
      if (after !== undefined) this.next.set(at, after);
      at = next;
    }
    return at;
  }
}
