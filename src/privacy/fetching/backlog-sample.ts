/**
 * A part of the rows that wait on disk. It begins at a random policy, and takes of a long one only a
 * part, from a random row on. So every item has its turn, however many nobody has.
 */
import { compare, concat, equal } from '../../base/bytes.ts';
import type { Random } from '../../base/ports/random.ts';
import { type ItemId, itemBytes } from '../protocol/item-id.ts';
import { type Backlog, FIRST_ROW, type State } from './fetch-backlog.ts';

export interface Sample {
  readonly items: readonly ItemId[];
  /** True where there may be other rows. */
  readonly isPart: boolean;
}

export interface SampleOptions {
  readonly itemsMax: number;
  /** Of one policy that has more; one whose rows begin within a page gets up to twice as many. */
  readonly policyMax: number;
}

const ROW_BYTES = 64;
const HASH_BYTES = 32;
const END_OF_POLICY = new Uint8Array(33).fill(0xff);

export function sampleOf(
  state: State,
  backlog: Pick<Backlog, 'list'>,
  random: Random,
  { itemsMax, policyMax }: SampleOptions,
): Sample {
  const start = random.bytes(ROW_BYTES);
  const items: ItemId[] = [];
  let isPart = false;
  let from: Uint8Array = start;
  let wrapped = false;
  while (items.length < itemsMax) {
    const page = backlog.list(state, from, Math.min(policyMax, itemsMax - items.length));
    const [first] = page;
    const last = page.at(-1);
    if (wrapped && first !== undefined && compare(itemBytes(first), start) >= 0) break;
    const isOne = first !== undefined && last !== undefined && equal(first.policyId, last.policyId);
    const isLong = isOne && page.length === policyMax;
    if (isLong) {
      const there = concat(first.policyId, random.bytes(HASH_BYTES));
      const rows = backlog.list(state, there, policyMax);
      const behind = rows.filter(({ policyId }) => equal(policyId, first.policyId));
      items.push(...behind, ...page.slice(0, policyMax - behind.length));
    } else {
      items.push(...page);
    }
    if (wrapped && last !== undefined && compare(itemBytes(last), start) >= 0) break;
    if (last === undefined || page.length < policyMax) {
      if (wrapped || items.length >= itemsMax) break;
      wrapped = true;
      from = FIRST_ROW;
    } else if (isLong) {
      isPart = true;
      from = concat(last.policyId, END_OF_POLICY);
    } else {
      from = concat(itemBytes(last), Uint8Array.of(0));
    }
  }
  return { items, isPart: isPart || items.length >= itemsMax };
}
