/** The block that is being made, as the contract transactions change it. */
import { latin1 } from '../base/bytes.ts';
import type { DataEntry } from '../base/containers.ts';
import { ApiError, apiError } from '../base/errors.ts';
import type { Clock } from '../base/ports.ts';
import type { UnsignedHeader } from '../block/header.ts';
import type { BlockDraft } from '../chain/apply/block-draft.ts';
import type { StoredTx } from '../chain/store/stored-blocks.ts';
import type { ProofVerdicts } from '../tx/proof-verdicts.ts';
import type { Tx } from '../tx/transaction.ts';
import { createChangeLog } from './change-log.ts';
import { executedTx, type Signer } from './executed-tx.ts';
import type { PhaseRoom } from './phase-room.ts';
import type { RunPlace } from './run-contract.ts';

/** The block takes no more of its kind; a later block may. */
export const isBlockFull = (cause: unknown): boolean =>
  cause instanceof ApiError && cause.entry === 'BlockFull';

export interface BlockInWork extends RunPlace {
  readonly room: PhaseRoom;
  /** The transactions executed in this block so far. */
  readonly executed: readonly Tx[];
  /** Adds a transaction as it is. Throws ApiError, and then the block is as before. */
  add(tx: Tx, verdicts: ProofVerdicts): void;
  /**
   * Adds the results of a transaction; false where the block has no room left for them. Throws
   * ApiError where the results or the transaction break a rule, and ResultRefused where the fault
   * is that of the sender of the results.
   */
  addResults(tx: Tx, verdicts: ProofVerdicts, results: readonly DataEntry[]): boolean;
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
  const executed: Tx[] = [];
  const results = new Map<string, StoredTx>();
  const { scheme } = draft.overlay;

  function add(tx: Tx, verdicts: ProofVerdicts): void {
    const mark = draft.overlay.mark();
    draft.add(tx, verdicts);
    changes.add(draft.overlay.since(mark));
    room.take(tx.bytes.length);
  }

  return {
    draft,
    header,
    changes,
    room,
    executed,
    executedHere: (id) => results.get(latin1(id)),
    add,
    addResults(tx, verdicts, entries) {
      const result = executedTx(tx, verdicts, entries, clock.now(), signer, scheme);
      const { length } = result.tx.bytes;
      if (length > blockBytesMax) {
        throw apiError('Invalid', `${length} bytes fit into no block of this network`);
      }
      if (length > room.bytes || room.count < 1) return false;
      const index = draft.txs.length;
      try {
        add(result.tx, result.verdicts);
      } catch (cause) {
        if (isBlockFull(cause)) throw cause;
        draft.check(tx, verdicts);
        throw new ResultRefused(String(cause));
      }
      executed.push(tx);
      results.set(latin1(tx.id), { tx: result.tx, height: draft.context.height, index });
      return true;
    },
  };
}
