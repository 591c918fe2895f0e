/** Warns the operator when the owner lacks funds or roles, which is legal but seldom intended. */
import type { Clock, Log } from '../base/ports.ts';
import { accountOf, effective } from '../ledger/accounts.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import { rolesAt } from '../ledger/permissions.ts';

export interface OwnerPorts {
  readonly view: LedgerView;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Log, 'warn'>;
}

export function warnOfOwner(
  owner: { readonly address: Uint8Array; readonly text: string },
  { view, clock, log }: OwnerPorts,
): void {
  const account = accountOf(view, owner.address);
  if (account.balance === 0n && effective(account) === 0n) {
    log.warn('owner.no-balance', { owner: owner.text });
  }
  if (rolesAt(view, owner.address, clock.now()).length === 0) {
    log.warn('owner.no-roles', { owner: owner.text });
  }
}
