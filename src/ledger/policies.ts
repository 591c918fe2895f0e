/**
 * Access groups: their owners, the recipients of their data, and their data hashes
 * (privacy.md#state-of-a-policy).
 *
 * Invariant: `policyHashOrder` lists the hashes of `policyHashes` in the order of arrival, numbered
 * from 0 without gaps.
 */
import { concat } from '../base/bytes.ts';
import { listInSteps, sortInSteps } from '../concurrency/steps.ts';
import {
  END_OF_TABLE,
  fixed,
  keyText,
  prefix,
  prefixEnd,
  START_OF_TABLE,
  u8Key,
  u32Key,
} from './key-codecs.ts';
import type { Ledger, LedgerView } from './ledger.ts';
import {
  type OWNER,
  policies,
  policyHashes,
  policyHashOrder,
  policyMembers,
  type RECIPIENT,
} from './tables.ts';

export { OWNER, RECIPIENT } from './tables.ts';
export type MemberKind = typeof OWNER | typeof RECIPIENT;

export interface Policy {
  readonly name: string;
  readonly description: string;
  /** The number of members that ever joined, which is the position of the next one. */
  readonly joined: number;
}

const MEMBERS_MAX = 1_000_000;
const id32 = fixed(32);

export const policyOf = (view: LedgerView, id: Uint8Array): Policy | undefined =>
  view.get(policies, id);

/** In the order of their ids, starting after `after`. */
export const allPolicies = (
  view: LedgerView,
  limit: number,
  after?: Uint8Array,
): Iterable<readonly [id: Uint8Array, Policy]> => {
  const from = after === undefined ? START_OF_TABLE : concat(after, Uint8Array.of(0));
  return view.range(policies, from, END_OF_TABLE, limit);
};

export function createPolicy(
  ledger: Ledger,
  id: Uint8Array,
  policy: Pick<Policy, 'name' | 'description'>,
): void {
  ledger.set(policies, id, { ...policy, joined: 0 });
}

export const isMember = (
  view: LedgerView,
  id: Uint8Array,
  kind: MemberKind,
  address: Uint8Array,
): boolean => view.get(policyMembers, [id, kind, address]) !== undefined;

/** The members in the order of joining, as work in steps. */
export function* membersOf(
  view: LedgerView,
  id: Uint8Array,
  kind: MemberKind,
): Generator<undefined, readonly Uint8Array[]> {
  const rows = yield* listInSteps(memberRows(view, id, kind, MEMBERS_MAX));
  const inOrder = yield* sortInSteps(rows, ([, a], [, b]) => a - b);
  return inOrder.map(([[, , address]]) => address);
}

/** True if the group would have no member without these. */
export function areAllMembers(
  view: LedgerView,
  id: Uint8Array,
  kind: MemberKind,
  addresses: readonly Uint8Array[],
): boolean {
  const named = new Set(addresses.map(keyText));
  for (const [[, , address]] of memberRows(view, id, kind, named.size + 1)) {
    if (!named.has(keyText(address))) return false;
  }
  return true;
}

/** An existing member keeps its position. */
export function addMembers(
  ledger: Ledger,
  id: Uint8Array,
  kind: MemberKind,
  addresses: readonly Uint8Array[],
): void {
  const policy = policyOf(ledger, id);
  if (policy === undefined) return;
  let { joined } = policy;
  for (const address of addresses) {
    if (!isMember(ledger, id, kind, address)) {
      ledger.set(policyMembers, [id, kind, address], joined++);
    }
  }
  ledger.set(policies, id, { ...policy, joined });
}

export function removeMembers(
  ledger: Ledger,
  id: Uint8Array,
  kind: MemberKind,
  addresses: readonly Uint8Array[],
): void {
  for (const address of addresses) ledger.remove(policyMembers, [id, kind, address]);
}

export interface BoundHash {
  /** The transaction that bound the hash, and its sender. */
  readonly transaction: Uint8Array;
  readonly sender: Uint8Array;
}

export const boundHash = (
  view: LedgerView,
  id: Uint8Array,
  hash: Uint8Array,
): BoundHash | undefined => view.get(policyHashes, [id, hash]);

export function bindHash(ledger: Ledger, id: Uint8Array, hash: Uint8Array, by: BoundHash): void {
  let order = 0;
  for (const [[, last]] of ledger.range(policyHashOrder, id, prefixEnd(id), 1, true)) {
    order = last + 1;
  }
  ledger.set(policyHashes, [id, hash], by);
  ledger.set(policyHashOrder, [id, order], hash);
}

/** The hashes of a group in the order of arrival, without the first `skip`. */
export function* hashesOf(
  view: LedgerView,
  id: Uint8Array,
  limit: number,
  skip = 0,
): Generator<Uint8Array> {
  const from = prefix([id32, u32Key], id, skip);
  for (const [, hash] of view.range(policyHashOrder, from, prefixEnd(id), limit)) yield hash;
}

function memberRows(view: LedgerView, id: Uint8Array, kind: MemberKind, limit: number) {
  const from = prefix([id32, u8Key], id, kind);
  return view.range(policyMembers, from, prefixEnd(from), limit);
}
