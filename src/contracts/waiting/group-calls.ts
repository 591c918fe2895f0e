/**
 * What the contract transactions inside an atomic one run, found before anything runs: results change
 * the entries of a contract, and never its image or version. The entry of the pool has all that it
 * takes: a transaction that waits for an image would else be decoded in every round. This file is in
 * `waiting` because the warm-up needs it, too.
 */
import { fromLatin1, latin1 } from '../../base/bytes.ts';
import type { ContractImage } from '../../base/ports/containers.ts';
import { contractOf } from '../../ledger/contracts.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import type { MemberContract, PoolEntry } from '../../mempool/entries/entry.ts';
import { membersOf } from '../../tx/members.ts';
import type { Tx } from '../../tx/transaction.ts';
import { updateContract } from '../../tx/types/107-update-contract.ts';
import type { CreateVersions } from '../images/create-versions.ts';

/** A call that is known before its transaction is decoded. */
export interface PlannedCall {
  /** Its index among the members. */
  readonly index: number;
  /** No code runs for a 107. */
  readonly isUpdate: boolean;
  /** Contract id as Latin-1 text. */
  readonly key: string;
  /** The creator of the contract, as Latin-1 text. */
  readonly owner: string;
  /** For a 107, the image that is checked. */
  readonly image: ContractImage;
  readonly version: number;
  readonly createVersion: number;
}

export interface GroupCall extends PlannedCall {
  readonly tx: Tx;
}

type Known = Pick<PlannedCall, 'owner' | 'image' | 'version' | 'createVersion'>;

/** Undefined where one of them concerns no contract; the rules then say what is wrong. */
export function plannedCalls(
  { memberContracts = [] }: Pick<PoolEntry, 'memberContracts'>,
  view: LedgerView,
  createVersions: CreateVersions,
): readonly PlannedCall[] | undefined {
  const known = new Map<string, Known>();
  const calls: PlannedCall[] = [];
  for (const member of memberContracts) {
    const { index, type, key } = member;
    const now = after(member, known.get(key) ?? contractIn(view, key, createVersions));
    if (now === undefined) return undefined;
    known.set(key, now);
    calls.push({ index, isUpdate: type === updateContract.type, key, ...now });
  }
  return calls;
}

/** `tx`: the atomic transaction of the plan. */
export function callsOf(tx: Tx, planned: readonly PlannedCall[]): readonly GroupCall[] {
  const members = membersOf(tx);
  return planned.map((call) => ({ ...call, tx: members[call.index]! }));
}

function after({ image, made }: MemberContract, before: Known | undefined): Known | undefined {
  if (image === undefined) return before;
  if (made === undefined) return before && { ...before, image, version: before.version + 1 };
  return { owner: made.creator, image, version: 1, createVersion: made.createVersion };
}

function contractIn(
  view: LedgerView,
  key: string,
  createVersions: CreateVersions,
): Known | undefined {
  const contract = contractOf(view, fromLatin1(key));
  if (contract === undefined) return undefined;
  const { image, imageHash, version, creator } = contract;
  return {
    owner: latin1(view.scheme.addressOf(creator)),
    image: { image, imageHash },
    version,
    createVersion: createVersions.of(key, view) ?? 1,
  };
}
