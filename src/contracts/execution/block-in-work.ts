/** The block that is being made, as the contract transactions change it. */
import { latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { DataEntry } from '../../base/ports/containers.ts';
import type { UnsignedHeader } from '../../block/header.ts';
import { type BlockDraft, isBlockFull } from '../../chain/apply/block-draft.ts';
import { idPrefix } from '../../chain/store/block-index.ts';
import type { StoredTx } from '../../chain/store/stored-blocks.ts';
import { asUntyped } from '../../ledger/committed-view.ts';
import { transactionIds } from '../../ledger/tables.ts';
import { fitsNowhere } from '../../mempool/packer.ts';
import { asSent, membersOf, withMembers } from '../../tx/members.ts';
import { type CheckedTx, type ProofVerdicts, sealing } from '../../tx/proof-verdicts.ts';
import { EXECUTED_TX_BYTES_MAX } from '../../tx/size.ts';
import type { Tx } from '../../tx/transaction.ts';
import { type Signer, sealedForBlock } from '../../tx/types/120-atomic.ts';
import { createChangeLog } from '../reads/change-log.ts';
import { executedTx } from './executed-tx.ts';
import type { PhaseRoom } from './phase-room.ts';
import type { RunPlace } from './run-contract.ts';

export interface BlockInWork extends RunPlace {
  readonly room: PhaseRoom;
  /** Adds a transaction as it is. Throws ApiError, and then the block is as before. */
  add(tx: Tx, verdicts: ProofVerdicts): void;
  /**
   * Adds the signed results of a transaction; false where the block has no room left for them. Throws
   * ApiError where the results or the transaction break a rule, and ResultRefused where the fault
   * is that of the sender of the results.
   */
  addResults(tx: Tx, verdicts: ProofVerdicts, result: CheckedTx): boolean;
  /** The same for an atomic transaction whose members `results` has executed; `result` is `sealed`. */
  addGroup(tx: Tx, verdicts: ProofVerdicts, result: CheckedTx): boolean;
  /** An atomic transaction whose members `results` has executed, as the generator signs it. */
  sealed(tx: Tx, verdicts: ProofVerdicts, results: (member: Tx) => Tx): Promise<CheckedTx>;
  /**
   * False where the block has no room left for so many bytes with results. Throws ApiError where no
   * block has.
   */
  hasRoom(bytes: number): boolean;
  /** The results of a transaction, signed. Throws or rejects with ApiError. */
  resultOf(
    tx: Tx,
    verdicts: ProofVerdicts,
    results: readonly DataEntry[],
  ): CheckedTx | Promise<CheckedTx>;
}

/** The block takes no results of this node, whatever transaction they belong to. */
export class ResultRefused extends Error {
  override name = 'ResultRefused';
}

export function createBlockInWork(
  draft: BlockDraft,
  header: UnsignedHeader,
  room: PhaseRoom,
  blockBytesMax: number,
  { clock, signer }: { readonly clock: Pick<Clock, 'now'>; readonly signer: Signer },
): BlockInWork {
  const changes = createChangeLog();
  const results = new Map<string, StoredTx>();
  const { overlay, context } = draft;
  const { scheme } = overlay;

  function add(tx: Tx, verdicts: ProofVerdicts): void {
    const mark = overlay.mark();
    draft.add(tx, verdicts);
    changes.add(overlay.since(mark));
    // The index of the block is made with the block, and contracts ask for its transactions before.
    changes.add(Array.from(withMembers([tx]), indexRowOf));
    room.take(tx.bytes.length);
  }

  function hasRoom(length: number): boolean {
    if (length > Math.min(blockBytesMax, EXECUTED_TX_BYTES_MAX)) throw fitsNowhere(length);
    return length <= room.bytes && room.count >= 1;
  }

  /** False where there is no room for it. `waiting` is what the pool has. */
  function addMade(made: CheckedTx, waiting: CheckedTx): boolean {
    if (!hasRoom(made.tx.bytes.length)) return false;
    try {
      add(made.tx, made.verdicts);
    } catch (cause) {
      if (isBlockFull(cause)) throw cause;
      draft.check(waiting.tx, waiting.verdicts);
      throw new ResultRefused(String(cause));
    }
    return true;
  }

  function noteLast(result: Tx): void {
    const tx = asSent(result);
    results.set(latin1(tx.id), { tx: result, height: context.height, index: draft.txs.length - 1 });
  }

  return {
    draft,
    header,
    changes,
    room,
    executedHere: (id) => results.get(latin1(id)),
    add,
    hasRoom,
    addResults(tx, verdicts, result) {
      if (!addMade(result, { tx, verdicts })) return false;
      noteLast(result.tx);
      return true;
    },
    async sealed(tx, verdicts, resultIn) {
      const sealed = await sealedForBlock(tx, signer, resultIn);
      return { tx: sealed, verdicts: sealing(sealed, tx, verdicts) };
    },
    addGroup(tx, verdicts, made) {
      if (!addMade(made, { tx, verdicts })) return false;
      for (const member of membersOf(made.tx)) if (asSent(member) !== member) noteLast(member);
      return true;
    },
    resultOf: (...of) => executedTx(...of, clock.now(), signer, scheme),
  };
}

const indexRowOf = ({ id }: Tx) => ({
  table: asUntyped(transactionIds),
  key: transactionIds.key.encode(idPrefix(id)),
});
