/** What becomes of an item after an attempt to fetch it (privacy.md#fetching). */
import type { Kind } from './transfer-lines.ts';

/** `missing`: no peer delivered it; `no-room`: this node cannot keep it now. */
export type Outcome = 'settled' | 'missing' | 'no-room';

/** No peer delivered it, and some were not asked, since they have enough to answer. */
export interface Held {
  /** The addresses of their owners, as `latin1`. */
  readonly heldBy: ReadonlySet<string>;
}

export interface RetryOptions {
  readonly attemptsMax: number;
  readonly firstDelayMs: number;
}

export interface Attempted {
  readonly kind: Kind;
  /** Attempts before this one. */
  readonly failures: number;
}

export type Step =
  | { readonly kind: 'settled' }
  /** `isFirst`: it was not lost before. */
  | { readonly kind: 'lost'; readonly isFirst: boolean }
  | { readonly kind: 'again'; readonly delayMs: number };

/** Each delay is a third longer than the one before. */
const GROWTH = 4 / 3;

export function afterAttempt(outcome: Outcome, item: Attempted, options: RetryOptions): Step {
  if (outcome === 'settled') return { kind: 'settled' };
  // It waits among the lost items, where it does not delay other items.
  if (outcome === 'no-room') return { kind: 'lost', isFirst: false };
  const { kind, failures } = item;
  if (failures + 1 >= options.attemptsMax) return { kind: 'lost', isFirst: kind !== 'lost' };
  return { kind: 'again', delayMs: options.firstDelayMs * GROWTH ** failures };
}
