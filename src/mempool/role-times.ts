/**
 * A block in the making judges by the roles at its own timestamp (state.md#roles), the pool by those of
 * now. So this block alone may refuse a good transaction: one of a sender whose role has begun or whose
 * ban has ended in between, a change of a role that has begun or ended in between, and one with a
 * timestamp so far ahead that the pool takes it only now.
 */
import type { BlockDraft } from '../chain/apply/block-draft.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import { rolesAt } from '../ledger/permissions.ts';
import { withMembers } from '../tx/members.ts';
import { FUTURE_MAX_MS } from '../tx/pipeline.ts';
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
  const changes = (address: Uint8Array): boolean =>
    rolesOf(overlay, address, since) !== rolesOf(overlay, address, now);
  const hasOthers = (one: Tx): boolean => changes(one.sender) || targetsOf(one).some(changes);
  const targetsOf = (one: Tx): readonly Uint8Array[] =>
    one.type === permit.type ? [...(one.def.involved?.(one, overlay) ?? [])] : [];
  const isFarAhead = ({ timestamp }: Tx): boolean =>
    timestamp > since + FUTURE_MAX_MS && timestamp <= now + FUTURE_MAX_MS;
  // A role that an atomic transaction gives itself is not in the state.
  return [...withMembers([tx])].some(
    (one) => isFarAhead(one) || hasOthers(one) || (one !== tx && givesBetween(one)),
  );
}

const rolesOf = (...of: Parameters<typeof rolesAt>): string =>
  rolesAt(...of)
    .map(({ role }) => role)
    .join();
