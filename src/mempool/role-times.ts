/**
 * A block has the time of its beginning, and takes the roles of that time (state.md#roles). The pool
 * takes those of now. So a transaction of a sender whose role has begun in between, or whose ban has
 * ended, is good, and refused by the block in work alone.
 */
import type { BlockDraft } from '../chain/apply/block-draft.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import { rolesAt } from '../ledger/permissions.ts';
import { withMembers } from '../tx/members.ts';
import type { Tx } from '../tx/transaction.ts';
import { permit } from '../tx/types/102-permit.ts';

export interface BlockInTime {
  readonly context: Pick<BlockDraft['context'], 'timestamp'>;
  readonly overlay: LedgerView;
}

/** True where the next block may take what this one refuses; never longer than until then. */
export function isForNextBlock(tx: Tx, { context, overlay }: BlockInTime, now: number): boolean {
  const since = context.timestamp;
  const givesBetween = ({ type, timestamp }: Tx): boolean =>
    type === permit.type && timestamp > since && timestamp <= now;
  const hasOthers = ({ sender }: Tx): boolean =>
    rolesOf(overlay, sender, since) !== rolesOf(overlay, sender, now);
  // A role that an atomic transaction gives itself is not in the state.
  return [...withMembers([tx])].some((one) => hasOthers(one) || (one !== tx && givesBetween(one)));
}

const rolesOf = (...of: Parameters<typeof rolesAt>): string =>
  rolesAt(...of)
    .map(({ role }) => role)
    .join();
