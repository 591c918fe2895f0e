/**
 * The invariants of the state after every block (scenarios.md, the end): value is neither made nor
 * lost, no balance is negative, and index tables agree with the state. All rows are read, so this
 * is for tests and for diagnosis. chain/store/audit.ts has the check of one block.
 */
import { END_OF_TABLE, keyText, START_OF_TABLE } from './key-codecs.ts';
import type { LedgerView } from './ledger.ts';
import type { Table } from './table.ts';
import {
  accountHistory,
  accounts,
  activeLeases,
  aliases,
  aliasesByAddress,
  assetBalances,
  assetHistory,
  assetHolders,
  assets,
  feeCarry,
  leases,
  nextOrder,
  PARTICIPANTS,
  participants,
  roleHistory,
  roles,
  rollSizes,
  vitalHolders,
} from './tables.ts';

const EVERYTHING = Number.MAX_SAFE_INTEGER;

export function* rowsOf<K, V>(view: LedgerView, table: Table<K, V>): Generator<readonly [K, V]> {
  yield* view.range(table, START_OF_TABLE, END_OF_TABLE, EVERYTHING);
}

/** Every broken invariant in a sentence; empty where all hold. */
export function brokenInvariants(view: LedgerView, initialBalance: bigint): readonly string[] {
  return [
    ...nativeBalances(view, initialBalance),
    ...assetSums(view),
    ...leaseSums(view),
    ...aliasIndex(view),
    ...latestRoles(view),
    ...rolls(view),
  ];
}

function* nativeBalances(view: LedgerView, initialBalance: bigint): Generator<string> {
  let sum = 0n;
  for (const [address, account] of rowsOf(view, accounts)) {
    sum += account.balance;
    const { balance, leasedIn, leasedOut } = account;
    if (balance < 0n || leasedIn < 0n || leasedOut < 0n || balance < leasedOut) {
      yield `account ${name(view, address)} is negative: ${balance}, ${leasedIn}, ${leasedOut}`;
    }
    const [last] = view.range(
      accountHistory,
      accountHistory.key.encode([address, 0]),
      accountHistory.key.encode([address, 0xffff_ffff]),
      1,
      true,
    );
    const past = last?.[1];
    const isSame =
      past?.balance === balance && past.leasedIn === leasedIn && past.leasedOut === leasedOut;
    if (!isSame) {
      yield `the history of ${name(view, address)} does not end with its present state`;
    }
  }
  for (const [, carry] of rowsOf(view, feeCarry)) sum += carry;
  if (sum !== initialBalance) yield `native balances sum up to ${sum}, not ${initialBalance}`;
}

function* assetSums(view: LedgerView): Generator<string> {
  const sums = new Map<string, bigint>();
  let balances = 0;
  for (const [[address, id], balance] of rowsOf(view, assetBalances)) {
    balances++;
    if (balance <= 0n) yield `asset balance ${balance} of ${name(view, address)}`;
    if (view.get(assetHolders, [id, address]) !== balance) yield 'assetHolders differ';
    if (lastAssetBalance(view, id, address) !== balance) yield 'assetHistory differs';
    sums.set(keyText(id), (sums.get(keyText(id)) ?? 0n) + balance);
  }
  for (const _ of rowsOf(view, assetHolders)) balances--;
  if (balances !== 0) yield 'assetHolders has other rows than assetBalances';
  for (const [id, asset] of rowsOf(view, assets)) {
    const sum = sums.get(keyText(id)) ?? 0n;
    if (sum !== asset.quantity) yield `balances ${sum} of an asset of quantity ${asset.quantity}`;
    sums.delete(keyText(id));
  }
  if (sums.size > 0) yield 'balances of an unknown asset';
}

function lastAssetBalance(view: LedgerView, id: Uint8Array, address: Uint8Array): bigint {
  const { key } = assetHistory;
  const [from, to] = [key.encode([id, address, 0]), key.encode([id, address, 0xffff_ffff])];
  const [last] = view.range(assetHistory, from, to, 1, true);
  return last?.[1] ?? 0n;
}

function* leaseSums(view: LedgerView): Generator<string> {
  let active = 0n;
  let listed = 0;
  for (const [id, lease] of rowsOf(view, leases)) {
    if (!lease.active) continue;
    active += lease.amount;
    for (const address of [lease.sender, lease.recipient]) {
      listed++;
      if (view.get(activeLeases, [address, lease.height, id]) === undefined) {
        yield 'an active lease is not listed';
      }
    }
  }
  for (const _ of rowsOf(view, activeLeases)) listed--;
  if (listed !== 0) yield 'a lease is listed that is not active';
  let leasedIn = 0n;
  let leasedOut = 0n;
  for (const [, account] of rowsOf(view, accounts)) {
    leasedIn += account.leasedIn;
    leasedOut += account.leasedOut;
  }
  if (leasedIn !== active || leasedOut !== active) {
    yield `leases ${active}, leased in ${leasedIn}, leased out ${leasedOut}`;
  }
}

function* aliasIndex(view: LedgerView): Generator<string> {
  let count = 0;
  for (const [alias, address] of rowsOf(view, aliases)) {
    count++;
    if (view.get(aliasesByAddress, [address, alias]) === undefined) yield `${alias} is not listed`;
  }
  for (const _ of rowsOf(view, aliasesByAddress)) count--;
  if (count !== 0) yield 'aliases by address differ from aliases';
}

function* latestRoles(view: LedgerView): Generator<string> {
  const latest = new Map<string, number>();
  for (const [[address, role, timestamp]] of rowsOf(view, roleHistory)) {
    latest.set(`${name(view, address)} ${role}`, timestamp);
  }
  for (const [address, ops] of rowsOf(view, roles)) {
    for (const { role, timestamp } of ops) {
      const key = `${name(view, address)} ${role}`;
      if (latest.get(key) !== timestamp) yield `latest operation of ${key} is wrong`;
      latest.delete(key);
    }
  }
  if (latest.size > 0) yield 'a role without its latest operation';
}

/** The rolls of feature 1002 agree with what they count. */
function* rolls(view: LedgerView): Generator<string> {
  const found = new Map<number, number>();
  for (const [[role]] of rowsOf(view, vitalHolders)) found.set(role, (found.get(role) ?? 0) + 1);
  let next = 0;
  for (const [, { order }] of rowsOf(view, participants)) {
    found.set(PARTICIPANTS, (found.get(PARTICIPANTS) ?? 0) + 1);
    next = Math.max(next, order + 1);
  }
  for (const [of, size] of rowsOf(view, rollSizes)) {
    const rows = found.get(of) ?? 0;
    if (rows !== size) yield `roll ${of} has ${rows} rows, not ${size}`;
  }
  const given = view.get(nextOrder, 0);
  if (given !== undefined && given < next) yield `order ${given} is given twice`;
}

const name = (view: LedgerView, address: Uint8Array): string => view.scheme.addressToText(address);
