/**
 * Which checks of proofs the scripts of a transaction will probably ask for, at the present head.
 * The state may change before the transaction is judged, so a plan saves time and decides nothing.
 */
import { SIGNATURE_BYTES } from '../../base/sizes.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { scripts } from '../../ledger/tables.ts';
import type { CheckPlan, PlannedCheck } from '../proof-verdicts.ts';
import type { Tx } from '../transaction.ts';
import { scriptsOf } from './known-scripts.ts';

const NONE: readonly never[] = [];

/** Undefined where no account has a script, as in almost all transactions. */
export function planChecks(tx: Tx, view: LedgerView): CheckPlan | undefined {
  if (tx.layout.frame === 'genesis') return undefined;
  const own = plannedBy(tx.sender, tx.proofs, view);
  const carried = tx.def.carried?.(tx) ?? NONE;
  const plan = [
    own === undefined ? undefined : [...own, ...cosigned(tx)],
    ...carried.map(({ publicKey, proofs }) =>
      plannedBy(view.scheme.addressOf(publicKey), proofs, view),
    ),
  ];
  return plan.every((checks) => checks === undefined) ? undefined : plan;
}

/** True where `planChecks` has a plan; decodes no script. */
export function hasScripts(tx: Tx, view: LedgerView): boolean {
  if (tx.layout.frame === 'genesis') return false;
  const isScripted = (address: Uint8Array): boolean => view.get(scripts, address) !== undefined;
  const carried = tx.def.carried?.(tx) ?? NONE;
  return (
    isScripted(tx.sender) ||
    carried.some(({ publicKey }) => isScripted(view.scheme.addressOf(publicKey)))
  );
}

function plannedBy(
  address: Uint8Array,
  proofs: readonly Uint8Array[],
  view: LedgerView,
): readonly PlannedCheck[] | undefined {
  const bytes = view.get(scripts, address);
  if (bytes === undefined) return undefined;
  const uses = scriptsOf(view.scheme).stored(bytes).signatureUses();
  return uses.filter(({ proof }) => proofs[proof]?.length === SIGNATURE_BYTES);
}

/** The key is copied: verdicts live longer than the bytes of the transaction. */
function cosigned(tx: Tx): readonly PlannedCheck[] {
  const publicKey = tx.def.cosigner?.(tx);
  if (publicKey === undefined || tx.proofs[0]?.length !== SIGNATURE_BYTES) return NONE;
  return [{ proof: 0, publicKey: publicKey.slice() }];
}
