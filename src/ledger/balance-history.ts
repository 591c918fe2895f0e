/**
 * Accounts and asset balances at past heights. Generating balances, balances "with confirmations"
 * and past distributions are calculated from them (consensus.md#proof-of-stake).
 *
 * Invariants: there is one row for each block that changed an account or an asset balance, with its
 * state after that block; before its first row the balance was 0. A question about n blocks of an
 * account reads at most n + 1 rows, and one about n holders reads 2n, however long the chain is.
 */
import { concat } from '../base/bytes.ts';
import { inOneGo } from '../concurrency/steps.ts';
import { endlessSlice, type TimeSlice } from '../concurrency/time-slice.ts';
import { type Account, EMPTY_ACCOUNT, effective } from './accounts.ts';
import { prefixEnd } from './key-codecs.ts';
import type { LedgerView, Overlay } from './ledger.ts';
import { accountHistory, accounts, assetBalances, assetHistory } from './tables.ts';

/** The number of blocks over which a generator must have held its effective balance. */
export const GENERATING_DEPTH = 1000;

/** Writes the rows of a block; called once, after everything else that changes accounts. */
export async function recordHistory(
  ledger: Overlay,
  height: number,
  slice: TimeSlice = endlessSlice,
): Promise<void> {
  const changed: (readonly [Uint8Array, Account])[] = [];
  const moved: (readonly [Uint8Array, bigint])[] = [];
  for (const { table, key, after } of ledger.changes()) {
    // The rows of this table hold accounts, and accounts are never removed.
    if (table.id === accounts.id) changed.push([key, after as Account]);
    else if (table.id === assetBalances.id) moved.push([key, (after as bigint | undefined) ?? 0n]);
  }
  for (const [address, account] of changed) {
    ledger.set(accountHistory, [address, height], account);
    if (slice.isOver()) await slice.yield();
  }
  for (const [key, balance] of moved) {
    const [address, id] = assetBalances.key.decode(key);
    ledger.set(assetHistory, [id, address, height], balance);
    if (slice.isOver()) await slice.yield();
  }
}

/** Rows read before other work in the event loop may run. */
const STEP_ROWS = 256;

/**
 * The minimum of `of` over the last `blocks` blocks up to `height`; over fewer on a shorter chain.
 */
export function minimumOver(
  view: LedgerView,
  address: Uint8Array,
  height: number,
  blocks: number,
  of: (account: Account) => bigint,
): bigint {
  return inOneGo(minimumInSteps(view, address, height, blocks, of));
}

/** The same with pauses, for many blocks. */
export function* minimumInSteps(
  view: LedgerView,
  address: Uint8Array,
  height: number,
  blocks: number,
  of: (account: Account) => bigint,
): Generator<undefined, bigint> {
  const first = Math.max(1, height - blocks + 1);
  let minimum: bigint | undefined;
  let rows = 0;
  for (const [[, at], account] of newestFirst(view, address, height, height - first + 2)) {
    const value = of(account);
    if (minimum === undefined || value < minimum) minimum = value;
    if (at <= first) return minimum;
    if (++rows % STEP_ROWS === 0) yield undefined;
  }
  // There is no row at or below the lower bound, so the account was empty then.
  return of(EMPTY_ACCOUNT);
}

/** Minimum of the effective balance over the last 1000 blocks. */
export const generatingBalance = (view: LedgerView, address: Uint8Array, height: number): bigint =>
  minimumOver(view, address, height, GENERATING_DEPTH, effective);

/**
 * An account that has ever held an asset, with its balance at the requested height, which may be 0.
 */
export type Holder = readonly [address: Uint8Array, balance: bigint];

/**
 * The accounts that have ever held an asset, in the order of addresses, starting after one of them.
 */
export function* everHolders(
  view: LedgerView,
  id: Uint8Array,
  height: number,
  after?: Uint8Array,
): Generator<Holder> {
  const { key } = assetHistory;
  const end = prefixEnd(id);
  let from = after === undefined ? id : prefixEnd(concat(id, after));
  for (;;) {
    const [next] = view.range(assetHistory, from, end, 1);
    if (next === undefined) return;
    const [[, address]] = next;
    const to = key.encode([id, address, height + 1]);
    const [last] = view.range(assetHistory, key.encode([id, address, 0]), to, 1, true);
    yield [address, last?.[1] ?? 0n];
    from = prefixEnd(concat(id, address));
  }
}

function newestFirst(
  view: LedgerView,
  address: Uint8Array,
  height: number,
  limit: number,
): Iterable<readonly [readonly [Uint8Array, number], Account]> {
  const { key } = accountHistory;
  const from = key.encode([address, 0]);
  const to = key.encode([address, height + 1]);
  return view.range(accountHistory, from, to, limit, true);
}
