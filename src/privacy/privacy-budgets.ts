/** What messages about private data may cost (docs/limits.md). */
import { MIB, type PeerBudget, peerBudget } from '../base/budget.ts';
import { DATA, ITEMS, ITEMS_BYTES_MAX, ITEMS_MAX, MESSAGE_BYTES_MAX } from './privacy-messages.ts';

/** Requests of one peer at a time; the rest of the places are for the others. */
export const dataBudget = (parallelism: number): PeerBudget =>
  peerBudget({
    bytesIn: MESSAGE_BYTES_MAX,
    elements: 1,
    rows: 4,
    // An item goes out in many messages, each of which gives way to everything else.
    bytesOut: MESSAGE_BYTES_MAX,
    inTurns: true,
    concurrent: Math.ceil(parallelism / 2),
    pace: { messages: 100, bytes: 16 * MIB },
  });

/** A node tells of one item at a time, as it comes in. */
export const itemsBudget: PeerBudget = peerBudget({
  bytesIn: ITEMS_BYTES_MAX,
  elements: ITEMS_MAX,
  rows: 2 * ITEMS_MAX,
  bytesOut: 0,
  concurrent: 0,
  pace: { messages: 500, bytes: MIB / 8 },
});

/** By protocol. */
export const privacyBudgets = (parallelism: number): ReadonlyMap<string, PeerBudget> =>
  new Map([
    [DATA, dataBudget(parallelism)],
    [ITEMS, itemsBudget],
  ]);
