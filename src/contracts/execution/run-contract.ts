/** One run of a contract: its token, what it may read, and its end. */
import { isOurs } from '../../base/assert.ts';
import { base58 } from '../../base/base58.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Containers, ContractImage, ContractOutcome } from '../../base/ports/containers.ts';
import type { KeyFilters } from '../../base/ports/patterns.ts';
import type { UnsignedHeader } from '../../block/header.ts';
import type { BlockDraft } from '../../chain/apply/block-draft.ts';
import { idPrefix } from '../../chain/store/block-index.ts';
import { findTransaction, type StoredTx } from '../../chain/store/stored-blocks.ts';
import type { KeyedView } from '../../ledger/committed-view.ts';
import { executedBy } from '../../ledger/contracts.ts';
import { transactionIds } from '../../ledger/tables.ts';
import type { Tx } from '../../tx/transaction.ts';
import type { ChangeLog } from '../reads/change-log.ts';
import { createContractReads } from '../reads/contract-reads.ts';
import { READ_LIMITS } from '../reads/read-budget.ts';
import { createReadView } from '../reads/read-view.ts';
import { blockInfo, contractTransaction } from './contract-transaction.ts';
import type { Executions } from './executions.ts';

export interface RunPorts {
  readonly containers: Pick<Containers, 'run'>;
  readonly executions: Executions;
  readonly clock: Clock;
  /** Texts of the addresses in the keystore. */
  readonly addresses: () => readonly string[];
  readonly keyFilter: KeyFilters['open'];
}

/** The block in which a contract runs. */
export interface RunPlace {
  readonly draft: BlockDraft;
  readonly header: UnsignedHeader;
  readonly changes: ChangeLog;
  /** The result of a transaction of the same block. */
  readonly executedHere: (txId: Uint8Array) => StoredTx | undefined;
}

export interface RunRequest {
  readonly tx: Tx;
  readonly contractId: Uint8Array;
  readonly image: ContractImage;
  readonly createVersion: number;
  /** Version of the contract. */
  readonly version: number;
}

export interface Run {
  /** Never rejects. */
  readonly outcome: Promise<ContractOutcome>;
  /** True where something that it has read has changed since. */
  isStale(): boolean;
  /**
   * Ends it without a result: from now on it reads nothing. Its container has `graceMs` to end the
   * call, and is replaced otherwise.
   */
  close(graceMs: number): void;
}

export function runContract(request: RunRequest, place: RunPlace, ports: RunPorts): Run {
  const { tx, contractId, image, createVersion, version } = request;
  const { draft, header, changes } = place;
  const { scheme } = draft.overlay;
  const { height } = draft.context;
  const reading = createReadView(draft.overlay, changes, READ_LIMITS);
  const { view } = reading;
  const reads = createContractReads({
    ...ports,
    view,
    spend: reading.spend,
    keyFilter: (pattern) => ports.keyFilter(pattern, base58.encode(tx.id)),
    txId: tx.id,
    isKnown(id) {
      // The block grows meanwhile, as its state does.
      reading.note(transactionIds, idPrefix(id));
      return draft.has(id) || executedBy(view, id) !== undefined;
    },
  });
  const token = ports.executions.begin({
    txId: tx.id,
    contractId,
    height,
    view,
    executedFor(id) {
      const here = place.executedHere(id);
      if (here === undefined) return storedResult(view, id);
      reading.spendOn(id, here.tx.bytes);
      return here;
    },
    reads,
  });
  const abort = new AbortController();
  const outcome = ports.containers.run({
    image,
    createVersion,
    transaction: contractTransaction(tx, contractId, { ...image, version }, scheme),
    block: blockInfo(header, height, scheme),
    token,
    reads,
    signal: abort.signal,
  });
  let open = true;
  let cancelAbort = (): void => {};
  const end = (): void => {
    open = false;
    ports.executions.end(token);
    reading.close();
  };
  return {
    outcome: outcome.catch(brokenEngine).finally(() => {
      cancelAbort();
      if (open) end();
    }),
    isStale: reading.isStale,
    close: (graceMs) => {
      if (!open) return;
      end();
      if (graceMs <= 0) abort.abort();
      else cancelAbort = ports.clock.after(graceMs, () => abort.abort());
    },
  };
}

/** The engine promises never to reject. If it does, the miner goes on all the same. */
function brokenEngine(cause: unknown): ContractOutcome {
  if (isOurs(cause)) throw cause;
  return {
    kind: 'failure',
    message: 'The container engine failed',
    recoverable: true,
    system: true,
  };
}

function storedResult(view: KeyedView, id: Uint8Array): StoredTx | undefined {
  const by = executedBy(view, id);
  return by && findTransaction(view, by);
}

export const timedOut = (contractId: Uint8Array): string =>
  `Contract '${base58.encode(contractId)}' execution timeout`;
