/**
 * Starts the container of a contract when the pool gets a transaction for it, so that it is ready
 * when this node has the turn.
 */
import { fromLatin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type {
  Containers,
  ContractFailure,
  ContractImage,
  Readiness,
} from '../../base/ports/containers.ts';
import { base58 } from '../../codec/text.ts';
import { BoundedCache } from '../../concurrency/bounded-cache.ts';
import { contractOf } from '../../ledger/contracts.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import type { PoolEntry } from '../../mempool/entries/entry.ts';
import type { Pool } from '../../mempool/pool.ts';
import { createContract } from '../../tx/types/103-create-contract.ts';
import { callContract } from '../../tx/types/104-call-contract.ts';
import type { CreateVersions } from '../images/create-versions.ts';
import { imageKey } from '../images/image-loads.ts';
import { contractKeyOf } from './contract-queue.ts';
import { plannedCalls } from './group-calls.ts';

export interface WarmUp {
  /** A transaction has arrived. */
  arrived(entry: PoolEntry): void;
  /** An atomic transaction with contracts has arrived. */
  groupArrived(entry: PoolEntry): void;
  /**
   * As that of the engine, which tells a failure once; one that `arrived` was told comes first.
   * `creator`: as Latin-1 text.
   */
  prepare(image: ContractImage, createVersion: number, creator: string): Readiness;
}

export interface WarmUpPorts {
  readonly containers: Pick<Containers, 'prepare'>;
  /** The head. */
  readonly view: LedgerView;
  readonly pool: Pick<Pool, 'decode'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly createVersions: CreateVersions;
  /** False where this node executes none, so that none of its containers has to be ready. */
  readonly mayExecute: () => boolean;
  /** The creator of a contract, as Latin-1 text; what is not known yet belongs to the sender. */
  ownerOf(contract: string, entry: PoolEntry): string;
}

/** A contract with thousands of calls is looked at once in this time. */
const PAUSE_MS = 2_000;
/** Nobody may have asked for what went wrong, and what is wrong is put right: the engine is asked anew later. */
const FAILURE_MS = 60_000;
const KNOWN_MAX = 1_000;

interface EarlyFailure {
  readonly failure: ContractFailure;
  /** Monotonic time. */
  readonly until: number;
}

export function createWarmUp({
  containers,
  view,
  pool,
  clock,
  createVersions,
  mayExecute,
  ownerOf,
}: WarmUpPorts): WarmUp {
  const seen = new BoundedCache<string, number>(KNOWN_MAX);
  const failures = new BoundedCache<string, EarlyFailure>(KNOWN_MAX);

  function warm(image: ContractImage, createVersion: number, creator: string): void {
    const readiness = containers.prepare(image, createVersion, addressOf(creator));
    if (readiness.kind !== 'failure') return;
    const until = clock.monotonic() + FAILURE_MS;
    failures.set(containerKey(image, createVersion), { failure: readiness, until });
  }

  function warmCalled(contract: string, creator: string): void {
    const called = contractOf(view, fromLatin1(contract));
    const version = called?.active === true ? createVersions.of(contract, view) : undefined;
    if (called !== undefined && version !== undefined) warm(imageOf(called), version, creator);
  }

  /** False where it was looked at a short time ago. */
  function isNews(contract: string): boolean {
    const now = clock.monotonic();
    if (now - (seen.get(contract) ?? Number.NEGATIVE_INFINITY) < PAUSE_MS) return false;
    seen.set(contract, now);
    return true;
  }

  return {
    groupArrived(entry) {
      if (!mayExecute()) return;
      const calls = plannedCalls(entry, view, createVersions) ?? [];
      for (const { isUpdate, key, image, createVersion, owner } of calls) {
        if (!isUpdate && isNews(key)) warm(image, createVersion, owner);
      }
    },
    arrived(entry) {
      const type = entry.def.type;
      if (type !== createContract.type && type !== callContract.type) return;
      const contract = contractKeyOf(entry, view.scheme.publicKeySize);
      if (!isNews(contract)) return;
      if (!mayExecute()) return;
      const creator = ownerOf(contract, entry);
      if (type === callContract.type) warmCalled(contract, creator);
      else {
        const tx = pool.decode(entry);
        warm(imageOf(tx.fields as unknown as ContractImage), tx.version, creator);
      }
    },
    prepare(image, createVersion, creator) {
      const key = containerKey(image, createVersion);
      const early = failures.get(key);
      failures.delete(key);
      if (early !== undefined && clock.monotonic() < early.until) return early.failure;
      return containers.prepare(image, createVersion, addressOf(creator));
    },
  };
}

/** The version of the creation may choose the interface, and with it what can go wrong. */
const containerKey = (image: ContractImage, createVersion: number): string =>
  `${createVersion} ${imageKey(image)}`;

const imageOf = ({ image, imageHash }: ContractImage): ContractImage => ({ image, imageHash });

const addressOf = (creator: string): string => base58.encode(fromLatin1(creator));
