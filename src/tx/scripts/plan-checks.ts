/**
 * Which checks of proofs the scripts of a transaction will probably ask for, at the present head.
 * The state may change before the transaction is judged, so a plan saves time and decides nothing.
 *
 * Invariant: a planner reads no more scripts than it was made for, however many accounts one
 * transaction has: an atomic one has a hundred, and reading a script takes milliseconds.
 */
import { SIGNATURE_BYTES } from '../../base/sizes.ts';
import type { TimeSlice } from '../../concurrency/time-slice.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { scripts } from '../../ledger/tables.ts';
import type { CheckPlan, PlannedCheck } from '../proof-verdicts.ts';
import type { Proven, Tx } from '../transaction.ts';
import { scriptsOf } from './known-scripts.ts';

const NONE: readonly never[] = [];

export class CheckPlanner {
  private readonly view: LedgerView;
  private readonly slice: TimeSlice;
  private left: number;

  /**
   * `scriptsMax`: so many scripts are read, for all transactions together. The proofs of further
   * accounts are checked as signatures, and a script that asks for more makes its checks itself.
   */
  constructor(view: LedgerView, slice: TimeSlice, scriptsMax: number) {
    this.view = view;
    this.slice = slice;
    this.left = scriptsMax;
  }

  /**
   * Undefined where no account has a script, as in almost all transactions. A promise where the
   * slice was over before the last script.
   */
  plan(tx: Tx): CheckPlan | undefined | Promise<CheckPlan | undefined> {
    if (this.left === 0 || !hasScripts(tx, this.view)) return undefined;
    return this.planAll(asked(tx), []);
  }

  private planAll(
    accounts: Iterator<Asked>,
    plan: (readonly PlannedCheck[] | undefined)[],
  ): CheckPlan | undefined | Promise<CheckPlan | undefined> {
    for (;;) {
      const { value, done } = accounts.next();
      if (done === true) break;
      const before = this.left;
      plan.push(this.planned(value));
      if (this.left < before && this.slice.isOver()) {
        return this.slice.yield().then(() => this.planAll(accounts, plan));
      }
    }
    return plan.every((checks) => checks === undefined) ? undefined : plan;
  }

  private planned({ publicKey, proofs, cosigner }: Asked): readonly PlannedCheck[] | undefined {
    const { view } = this;
    const bytes = view.get(scripts, view.scheme.addressOf(publicKey));
    if (bytes === undefined || this.left === 0) return undefined;
    this.left--;
    const uses = scriptsOf(view.scheme).stored(bytes).signatureUses();
    const own = uses.filter(({ proof }) => proofs[proof]?.length === SIGNATURE_BYTES);
    return [...own, ...cosigned(proofs, cosigner)];
  }
}

/** True where accounts have scripts, so that there is something to plan; decodes no script. */
export function hasScripts(tx: Tx, view: LedgerView): boolean {
  if (tx.layout.frame === 'genesis') return false;
  const isScripted = (address: Uint8Array): boolean => view.get(scripts, address) !== undefined;
  const carried = tx.def.carried?.(tx) ?? NONE;
  return (
    isScripted(tx.sender) ||
    carried.some(({ publicKey }) => isScripted(view.scheme.addressOf(publicKey)))
  );
}

/** An account whose script will be asked. */
interface Asked extends Pick<Proven, 'publicKey' | 'proofs'> {
  readonly cosigner: Uint8Array | undefined;
}

/** The sender, and then those of `TxType.carried`. */
function* asked(tx: Tx): Generator<Asked, undefined> {
  const { senderPublicKey: publicKey, proofs } = tx;
  yield { publicKey, proofs, cosigner: cosignerOf(tx) };
  const members = tx.def.members?.(tx) ?? NONE;
  for (const [i, carried] of (tx.def.carried?.(tx) ?? NONE).entries()) {
    yield { ...carried, cosigner: cosignerOf(members[i]) };
  }
}

const cosignerOf = (tx: Tx | undefined): Uint8Array | undefined => tx?.def.cosigner?.(tx);

/** The key is copied: verdicts live longer than the bytes of the transaction. */
function cosigned(
  proofs: readonly Uint8Array[],
  cosigner: Uint8Array | undefined,
): readonly PlannedCheck[] {
  if (cosigner === undefined || proofs[0]?.length !== SIGNATURE_BYTES) return NONE;
  return [{ proof: 0, publicKey: cosigner.slice() }];
}
