/**
 * A block has the time of its beginning, and takes the roles of that time (state.md#roles). The pool
 * takes those of now. So a transaction of a sender whose role has begun in between is good, and refused
 * by the block in work alone.
 */
import type { BlockDraft } from '../chain/apply/block-draft.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import { changesAfter } from '../ledger/permissions.ts';
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
  const isBetween = ({ timestamp }: { readonly timestamp: number }): boolean =>
    timestamp > since && timestamp <= now;
  for (const one of withMembers([tx])) {
    // A role that an atomic transaction gives itself is not in the state.
    if (one !== tx && one.type === permit.type && isBetween(one)) return true;
    if (changesAfter(overlay, one.sender, since).some(isBetween)) return true;
  }
  return false;
}
