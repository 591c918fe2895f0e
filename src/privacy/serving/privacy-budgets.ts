/** The budgets of messages about private data (docs/limits.md). */
import { MIB, type PeerBudget, peerBudget } from '../../base/limits/budget.ts';
import {
  DATA,
  ITEMS,
  ITEMS_BYTES_MAX,
  ITEMS_MAX,
  MESSAGE_BYTES_MAX,
} from '../protocol/privacy-messages.ts';

/** Requests of one peer at a time; other peers get the rest of the places. */
export const dataBudget = (parallelism: number): PeerBudget =>
  peerBudget({
    bytesIn: MESSAGE_BYTES_MAX,
    elements: 1,
    rows: 4,
    // An item is sent in many messages, and yields to all other work after each.
    bytesOut: MESSAGE_BYTES_MAX,
    streamed: true,
    concurrent: Math.ceil(parallelism / 2),
    pace: { messages: 100, bytes: 16 * MIB },
  });

/** A node announces one item at a time, when it arrives. */
export const itemsBudget: PeerBudget = peerBudget({
  bytesIn: ITEMS_BYTES_MAX,
  elements: ITEMS_MAX,
  rows: 4 * ITEMS_MAX,
  bytesOut: 0,
  concurrent: 0,
  pace: { messages: 500, bytes: MIB / 8 },
});

/** The budgets by protocol. */
export const privacyBudgets = (parallelism: number): ReadonlyMap<string, PeerBudget> =>
  new Map([
    [DATA, dataBudget(parallelism)],
    [ITEMS, itemsBudget],
  ]);
