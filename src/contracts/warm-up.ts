/**
 * Starts the container of a contract when the pool gets a transaction for it, so that it is ready
 * when this node has the turn.
 */
import { fromLatin1 } from '../base/bytes.ts';
import type { Containers, ContractFailure, ContractImage, Readiness } from '../base/containers.ts';
import type { Clock } from '../base/ports.ts';
import { Recent } from '../base/recent.ts';
import { contractOf } from '../ledger/contracts.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import type { PoolEntry } from '../mempool/entry.ts';
import type { Pool } from '../mempool/pool.ts';
import { createContract } from '../tx/types/103-create-contract.ts';
import { callContract } from '../tx/types/104-call-contract.ts';
import { contractKeyOf } from './contract-line.ts';
import type { CreateVersions } from './create-versions.ts';
import { imageKey } from './image-loads.ts';

export interface WarmUp {
  /** A transaction has arrived. */
  arrived(entry: PoolEntry): void;
  /** As that of the engine, which tells a failure once; one that `arrived` was told comes first. */
  prepare(image: ContractImage, createVersion: number): Readiness;
}

export interface WarmUpPorts {
  readonly containers: Pick<Containers, 'prepare'>;
  /** The head. */
  readonly view: LedgerView;
  readonly pool: Pick<Pool, 'decode'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly createVersions: CreateVersions;
}

/** A contract with thousands of calls is looked at once in this time. */
const PAUSE_MS = 2_000;
const KNOWN_MAX = 1_000;

export function createWarmUp({
  containers,
  view,
  pool,
  clock,
  createVersions,
}: WarmUpPorts): WarmUp {
  const seen = new Recent<string, number>(KNOWN_MAX);
  const failures = new Recent<string, ContractFailure>(KNOWN_MAX);

  function warm(image: ContractImage, createVersion: number): void {
    const readiness = containers.prepare(image, createVersion);
    if (readiness.kind === 'failure') failures.set(imageKey(image), readiness);
  }

  function warmCalled(contract: string): void {
    const called = contractOf(view, fromLatin1(contract));
    const version = called?.active === true ? createVersions.of(contract, view) : undefined;
    if (called !== undefined && version !== undefined) warm(imageOf(called), version);
  }

  return {
    arrived(entry) {
      const type = entry.def.type;
      if (type !== createContract.type && type !== callContract.type) return;
      const contract = contractKeyOf(entry, view.scheme.publicKeySize);
      const now = clock.monotonic();
      if (now - (seen.get(contract) ?? Number.NEGATIVE_INFINITY) < PAUSE_MS) return;
      seen.set(contract, now);
      if (type === callContract.type) warmCalled(contract);
      else {
        const tx = pool.decode(entry);
        warm(imageOf(tx.fields as unknown as ContractImage), tx.version);
      }
    },
    prepare(image, createVersion) {
      const key = imageKey(image);
      const failure = failures.get(key);
      failures.delete(key);
      return failure ?? containers.prepare(image, createVersion);
    },
  };
}

const imageOf = ({ image, imageHash }: ContractImage): ContractImage => ({ image, imageHash });
