import { consensusView } from '../chain/apply/consensus-view.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import { hasRole } from '../ledger/permissions.ts';
import { SENDER } from '../ledger/roles.ts';

/** True where blocks of this account with results of contracts are valid at `time`. */
export const mayExecute = (
  view: LedgerView,
  account: Uint8Array,
  time: number,
  { senderRoleEnabled }: { readonly senderRoleEnabled: boolean },
): boolean =>
  consensusView(view).isMiner(account, time) &&
  (!senderRoleEnabled || hasRole(view, account, SENDER, time));
