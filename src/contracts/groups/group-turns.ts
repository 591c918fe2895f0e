/**
 * Who has had the part of a round for atomic transactions with contracts, and who has used it for
 * nothing. A sender can make a new transaction for each round, so it is the sender that owes the time,
 * and not the transaction. Accounts cost nothing either, but the creator of a contract needs a role: so
 * creators owe the time that their slow calls took (contracts.md#inside-atomic-transactions).
 */
import { BoundedCache } from '../../concurrency/bounded-cache.ts';
import type { PoolEntry } from '../../mempool/entries/entry.ts';
import type { GroupCall } from '../waiting/group-calls.ts';

export interface GroupTurns {
  /** A round has begun: debts shrink with them. */
  roundBegan(): void;
  /** Something runs for the sender. */
  began(sender: string): void;
  /** The higher, the later the sender had its last turn; without one, the later this was first asked. */
  lastOf(entry: Pick<PoolEntry, 'sender'>): number;
  /** A transaction of the sender is in the block. */
  added(sender: string): void;
  /** True where the last run of the sender has put a transaction into a block. */
  isProven(sender: string): boolean;
  /** Nothing of what has run is in the block. `byCreator`: what calls of their contracts took. */
  wasted(sender: string, ms: number, byCreator: ReadonlyMap<string, number>): void;
  /** Milliseconds that the sender has wasted. */
  debtOf(sender: string): number;
  /** Milliseconds that calls of its contracts have wasted. */
  debtOfCreator(creator: string): number;
  /** What all have wasted in this round and the one before. */
  wastedMs(): number;
}

const KNOWN_MAX = 10_000;
/** Rounds after which half of a debt is left. */
export const HALF_LIFE = 10;
/** Less is forgotten. */
const DEBT_MIN_MS = 1;

export function createGroupTurns(): GroupTurns {
  const last = new BoundedCache<string, number>(KNOWN_MAX);
  const senders = new Debts();
  const creators = new Debts();
  const seen = new WeakMap<object, number>();
  const proven = new BoundedCache<string, true>(KNOWN_MAX);
  let turns = 0;
  let round = 0;
  let wastedNow = 0;
  let wastedBefore = 0;

  /** Behind all that wait: a new account for each transaction comes before nobody. */
  function firstSeen(entry: object): number {
    const known = seen.get(entry) ?? turns;
    seen.set(entry, known);
    return known;
  }

  return {
    roundBegan() {
      round++;
      wastedBefore = wastedNow;
      wastedNow = 0;
    },
    began: (sender) => last.set(sender, ++turns),
    lastOf: (entry) => last.get(entry.sender) ?? firstSeen(entry),
    added: (sender) => proven.set(sender, true),
    isProven: (sender) => proven.has(sender),
    wasted(sender, ms, byCreator) {
      wastedNow += ms;
      proven.delete(sender);
      senders.add(sender, ms, round);
      for (const [creator, theirs] of byCreator) creators.add(creator, theirs, round);
    },
    debtOf: (sender) => senders.of(sender, round),
    debtOfCreator: (creator) => creators.of(creator, round),
    wastedMs: () => wastedBefore + wastedNow,
  };
}

interface Debt {
  readonly ms: number;
  /** The round in which it was so much. */
  readonly round: number;
}

class Debts {
  private readonly debts = new BoundedCache<string, Debt>(KNOWN_MAX);

  of(account: string, round: number): number {
    const debt = this.debts.get(account);
    if (debt === undefined) return 0;
    const ms = debt.ms * 0.5 ** ((round - debt.round) / HALF_LIFE);
    return ms < DEBT_MIN_MS ? 0 : ms;
  }

  add(account: string, more: number, round: number): void {
    const ms = this.of(account, round) + more;
    if (ms >= DEBT_MIN_MS) this.debts.set(account, { ms, round });
  }
}

/**
 * Of each call its creator owes only the time beyond: anybody can send calls that a good contract
 * refuses, or put them beside calls that fail.
 */
export const QUICK_MS = 100;

/** What the run of one atomic transaction has cost, if nothing of it gets into the block. */
export class GroupWaste {
  /** False where it only waits, is in the block, or the node stops. */
  isOwed = false;
  /** Milliseconds that creators owe, by creator. */
  readonly byCreator = new Map<string, number>();

  /** Whatever its outcome: a slow call that succeeds has cost as much where another one fails. */
  took({ owner }: Pick<GroupCall, 'owner'>, ms: number): void {
    if (ms <= QUICK_MS) return;
    this.byCreator.set(owner, (this.byCreator.get(owner) ?? 0) + ms - QUICK_MS);
  }
}
