/**
 * What the contract transactions inside an atomic one run, found before anything runs: results change
 * the entries of a contract, and never its image or version.
 */
import { fromLatin1, latin1 } from '../base/bytes.ts';
import type { ContractImage } from '../base/containers.ts';
import { contractOf } from '../ledger/contracts.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import type { Tx } from '../tx/transaction.ts';
import { createContract } from '../tx/types/103-create-contract.ts';
import { updateContract } from '../tx/types/107-update-contract.ts';
import type { CreateVersions } from './create-versions.ts';

export interface GroupCall {
  /** Its index among the members. */
  readonly index: number;
  readonly tx: Tx;
  /** Contract id as Latin-1 text. */
  readonly key: string;
  /** The creator of the contract, as Latin-1 text. */
  readonly owner: string;
  /** For a 107, the image that is checked. */
  readonly image: ContractImage;
  readonly version: number;
  readonly createVersion: number;
}

type Known = Pick<GroupCall, 'owner' | 'image' | 'version' | 'createVersion'>;

/** Undefined where one of them concerns no contract; the rules then say what is wrong. */
export function callsOf(
  members: readonly Tx[],
  view: LedgerView,
  createVersions: CreateVersions,
): readonly GroupCall[] | undefined {
  const known = new Map<string, Known>();
  const calls: GroupCall[] = [];
  for (const [index, tx] of members.entries()) {
    const contractId = tx.def.executable === true ? tx.def.contract?.(tx) : undefined;
    if (contractId === undefined) continue;
    const key = latin1(contractId);
    const before = known.get(key) ?? contractIn(view, key, createVersions);
    const now = after(tx, before);
    if (now === undefined) return undefined;
    known.set(key, now);
    calls.push({ index, tx, key, ...now });
  }
  return calls;
}

function after(tx: Tx, before: Known | undefined): Known | undefined {
  const { image, imageHash } = tx.fields as unknown as ContractImage;
  if (tx.type === createContract.type) {
    const owner = latin1(tx.sender);
    return { owner, image: { image, imageHash }, version: 1, createVersion: tx.version };
  }
  if (before === undefined || tx.type !== updateContract.type) return before;
  return { ...before, image: { image, imageHash }, version: before.version + 1 };
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
