/** The state as a script sees it while it judges a transaction or an order. */
import { equal } from '../../base/bytes.ts';
import { ADDRESS_BYTES, ID_BYTES } from '../../base/sizes.ts';
import { generalHashes } from '../../crypto/general-hashes.ts';
import { accountOf } from '../../ledger/accounts.ts';
import { aliasOwner } from '../../ledger/aliases.ts';
import { assetBalance } from '../../ledger/assets.ts';
import { dataEntry } from '../../ledger/data.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import type { Environment } from '../../script/environment.ts';
import type { Context } from '../../script/tree.ts';
import type { CaseObject } from '../../script/values.ts';
import type { PlannedVerdict } from '../proof-verdicts.ts';
import type { Proven, Tx } from '../transaction.ts';
import { recordOf } from './records.ts';

/** Where transactions of this chain are found, those of the block in the making included. */
export type FindTransaction = (
  id: Uint8Array,
) => { readonly tx: Tx; readonly height: number } | undefined;

export interface Situation {
  readonly view: LedgerView;
  /** Height of the block in the making. */
  readonly height: number;
  readonly find: FindTransaction;
}

export function environmentOf(
  { view, height, find }: Situation,
  context: Context,
  tx: () => CaseObject,
  verify: Environment['verify'],
): Environment {
  const { scheme } = view;
  return {
    chainId: scheme.chainId,
    hashes: { ...generalHashes, secureHash: scheme.secureHash },
    height: () => BigInt(height - 1),
    tx,
    verify,
    addressOfAlias: (alias) => aliasOwner(view, alias),
    data: (address, key) => dataEntry(view, address, key)?.value,
    balance: (address, assetId) =>
      assetId === undefined
        ? accountOf(view, address).balance
        : assetId.length === ID_BYTES
          ? assetBalance(view, address, assetId)
          : 0n,
    isAddress: (bytes) =>
      bytes.length === ADDRESS_BYTES && scheme.addressProblem(bytes) === undefined,
    transactionById(id) {
      const found = find(id);
      return found === undefined ? undefined : recordOf(found.tx, scheme, context);
    },
    transactionHeight: (id) => find(id)?.height,
  };
}

/** Signature checks of a script; those that were made in advance are not made again. */
export function verifying(
  { message, proofs, publicKey }: Proven,
  planned: readonly PlannedVerdict[],
  { scheme }: LedgerView,
): Environment['verify'] {
  return (text, signature, key) => {
    for (const { proof, publicKey: wanted = publicKey, isGood } of planned) {
      if (equal(key, wanted) && equal(signature, proofs[proof]!) && equal(text, message)) {
        return isGood;
      }
    }
    return scheme.verify(key, text, signature);
  };
}
