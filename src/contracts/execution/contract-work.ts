/**
 * What happens to a contract transaction when its turn has come: a dry run against the block, then
 * the run of its container, or the check of an image.
 */
import { fromLatin1 } from '../../base/bytes.ts';
import { timeLimit } from '../../base/deadline.ts';
import type { ContractImage, ContractOutcome, DataEntry } from '../../base/ports/containers.ts';
import { isBlockFull } from '../../chain/apply/block-draft.ts';
import { refusalFrom } from '../../codec/refusal.ts';
import { type Contract, contractOf } from '../../ledger/contracts.ts';
import { idOf, type PoolEntry } from '../../mempool/entries/entry.ts';
import { isForNextBlock } from '../../mempool/role-times.ts';
import type { Tx } from '../../tx/transaction.ts';
import { createContract } from '../../tx/types/103-create-contract.ts';
import { disableContract } from '../../tx/types/106-disable-contract.ts';
import { updateContract } from '../../tx/types/107-update-contract.ts';
import type { ImageChecks } from '../images/image-checks.ts';
import { type ImageLoad, imageKey } from '../images/image-loads.ts';
import type { ImageUsers } from '../images/image-users.ts';
import type { ContractQueue } from '../waiting/contract-queue.ts';
import type { WarmUp } from '../waiting/warm-up.ts';
import type { BlockInWork } from './block-in-work.ts';
import { type ConcludePorts, Conclusions, type SignedResults, type Then } from './conclude.ts';
import { judgeRefusal } from './judge-outcome.ts';
import { type RunPorts, runContract, timedOut } from './run-contract.ts';
import type { RunTimes } from './run-times.ts';

export interface WorkPorts extends RunPorts, ConcludePorts {
  /** Says whether a run could begin at once. */
  readonly prepare: WarmUp['prepare'];
  readonly users: ImageUsers;
  readonly checks: ImageChecks;
  readonly times: RunTimes;
}

export interface WorkOptions {
  /** The time that a run may take at most in this block. */
  readonly limitMs: number;
  /** Time for a container to end a call whose result came too late. */
  readonly graceMs: number;
  /** The longest wait of a block for the check of an image. */
  readonly checkMs: number;
}

/** A run or a check that has begun. */
export interface Started {
  /** The image whose container runs it. */
  readonly image: string | undefined;
  readonly load: ImageLoad<ContractQueue> | undefined;
  /**
   * Resolves with what to do with the result as long as the block is still being made. `again`: the
   * result belongs to no order of the block.
   */
  readonly ended: Promise<() => Then | 'again'>;
  /** Ends it without a result; `now`: its container gets no time to end the call. */
  abandon(now: boolean): void;
}

export type Step =
  | Then
  /** The container of this image starts. */
  | { readonly cold: string }
  /** The container is busy. */
  | { readonly full: ImageLoad<ContractQueue> }
  | Started;

/** Begins with the next transaction of a queue; `leftMs` is the time until the block is complete. */
export type Begin = (queue: ContractQueue, entry: PoolEntry, leftMs: number) => Step;

/** What a 105 with few results adds to the transaction in it. */
export const RESULT_BYTES = 256;

const GIVEN_UP = judgeRefusal('The contract has failed too often');

export function createWork(
  block: BlockInWork,
  loadOf: (image: ContractImage) => ImageLoad<ContractQueue>,
  options: WorkOptions,
  ports: WorkPorts,
): Begin {
  const { room } = block;
  const { pool, breakers, failed } = ports;
  const conclude = new Conclusions(block, ports);
  const work = { block, loadOf, options, ports, conclude };

  function disable(queue: ContractQueue, entry: PoolEntry): Then {
    if (block.draft.has(idOf(entry))) return 'next';
    if (!room.fits(entry.size)) return 'stop';
    const tx = queue.decode(entry, pool.decode);
    try {
      block.add(tx, entry.verdicts);
    } catch (cause) {
      if (isBlockFull(cause)) return 'stop';
      if (!isForNextBlock(tx, block.draft, ports.clock.now()))
        pool.refuse(entry, refusalFrom(cause));
    }
    return 'next';
  }

  return (queue, entry, leftMs) => {
    const type = entry.def.type;
    if (type === disableContract.type) return disable(queue, entry);
    // The pool has an entry before it announces it, so the phase may have got it twice.
    if (block.executedHere(fromLatin1(entry.key)) !== undefined) return 'next';
    if (failed.has(entry.key)) return 'next';
    if (!room.fits(entry.size + RESULT_BYTES)) return 'stop';
    const breaker = breakers.state(queue.key, entry.sender);
    if (breaker === 'spent') return conclude.judged(queue, entry, GIVEN_UP);
    if (breaker === 'open') return 'next';
    const tx = queue.decode(entry, pool.decode);
    return type === updateContract.type
      ? update(queue, entry, tx, work)
      : execute(queue, entry, tx, leftMs, work);
  };
}

interface Work {
  readonly block: BlockInWork;
  readonly loadOf: (image: ContractImage) => ImageLoad<ContractQueue>;
  readonly options: WorkOptions;
  readonly ports: WorkPorts;
  readonly conclude: Conclusions;
}

/** The dry run: undefined where the transaction may be executed. */
function tried(queue: ContractQueue, entry: PoolEntry, tx: Tx, work: Work): Then | undefined {
  try {
    work.block.draft.check(tx, entry.verdicts);
    return undefined;
  } catch (cause) {
    if (isBlockFull(cause)) return 'stop';
    const { block, ports, conclude } = work;
    const waits = isForNextBlock(tx, block.draft, ports.clock.now());
    return waits ? 'next' : conclude.unfit(queue, entry, cause);
  }
}

/** No code runs for a 107: its image is checked, and the results are empty. */
function update(queue: ContractQueue, entry: PoolEntry, tx: Tx, work: Work): Step {
  const { block, options, ports, conclude } = work;
  const refused = tried(queue, entry, tx, work);
  if (refused !== undefined) return refused;
  const { image, imageHash } = tx.fields as unknown as ContractImage;
  const check = ports.checks.check({ image, imageHash }, queue.owner);
  if (check === 'busy') return 'stop';
  const bytes = entry.size + RESULT_BYTES;
  const { late, cancel } = timeLimit(ports.clock, options.checkMs);
  block.room.reserve(bytes);
  return {
    image: undefined,
    load: undefined,
    ended: Promise.race([check, late]).then(async (problem) => {
      const signed = problem === undefined ? await signedResults(entry, tx, [], block) : undefined;
      return () => {
        cancel();
        block.room.release(bytes);
        if (problem === 'late') return 'stop';
        if (signed === undefined) return conclude.failure(queue, entry, problem!);
        return conclude.results(queue, entry, tx, signed);
      };
    }),
    abandon() {
      cancel();
      block.room.release(bytes);
    },
  };
}

function execute(queue: ContractQueue, entry: PoolEntry, tx: Tx, leftMs: number, work: Work): Step {
  const { block, loadOf, options, ports, conclude } = work;
  const { times, users, clock } = ports;
  const contract = contractFor(queue, tx, block, ports);
  // The dry run says what is wrong.
  if (contract === undefined) return tried(queue, entry, tx, work) ?? 'next';
  const { image } = contract;
  const load = loadOf(image);
  if (load.isFull) return { full: load };
  const readiness = ports.prepare(image, contract.createVersion, queue.owner);
  if (readiness.kind === 'starting') return { cold: imageKey(image) };
  if (readiness.kind === 'failure') return conclude.unready(queue, entry, image, readiness);
  const expected = times.expected(queue.key, imageKey(image)) ?? options.limitMs;
  if (leftMs < Math.min(expected, options.limitMs)) return 'stop';
  const refused = tried(queue, entry, tx, work);
  if (refused !== undefined) return refused;
  users.ran(queue.key, image);
  const began = clock.monotonic();
  const run = runContract({ ...contract, tx, contractId: fromLatin1(queue.key) }, block, ports);
  const bytes = entry.size + RESULT_BYTES;
  const ended = (outcome: ContractOutcome): void => {
    const ms = clock.monotonic() - began;
    times.add(queue.key, imageKey(image), ms);
    ports.observe(outcome.kind, ms);
  };
  block.room.reserve(bytes);
  load.begin();
  return {
    image: imageKey(image),
    load,
    ended: run.outcome.then(async (outcome) => {
      const isFresh = outcome.kind === 'success' && !run.isStale();
      const signed = isFresh ? await signedResults(entry, tx, outcome.results, block) : undefined;
      return () => {
        block.room.release(bytes);
        ended(outcome);
        if (outcome.kind === 'success' && run.isStale()) return 'again';
        return conclude.outcome(queue, entry, tx, image, outcome, signed);
      };
    }),
    abandon(now) {
      block.room.release(bytes);
      const tooLong = (): void => {
        if (entry.removed) return;
        const message = timedOut(fromLatin1(queue.key));
        const failure = { kind: 'failure', message, recoverable: true, system: false } as const;
        ended(failure);
        conclude.outcome(queue, entry, tx, image, failure);
      };
      if (clock.monotonic() - began >= options.limitMs) tooLong();
      else if (!now) {
        // Its container has to be replaced, however late the call began.
        void run.outcome.then(clock.after(options.graceMs, tooLong));
      }
      run.close(now ? 0 : options.graceMs);
    },
  };
}

/**
 * Before the turn of the results comes, since a signer takes its time. In the turn, nothing waits between the look
 * at what has changed and the change of the block.
 */
async function signedResults(
  { verdicts }: PoolEntry,
  tx: Tx,
  results: readonly DataEntry[],
  block: BlockInWork,
): Promise<SignedResults> {
  try {
    const signed = await block.resultOf(tx, verdicts, results);
    return () => signed;
  } catch (cause) {
    return () => {
      throw cause;
    };
  }
}

/** What a 103 or 104 runs; undefined where there is no such contract. */
function contractFor(
  { key }: ContractQueue,
  tx: Tx,
  { draft: { overlay } }: BlockInWork,
  { createVersions }: WorkPorts,
) {
  const isCreation = tx.type === createContract.type;
  const made = isCreation ? undefined : contractOf(overlay, fromLatin1(key));
  if (!isCreation && made === undefined) return undefined;
  const { image, imageHash } = made ?? (tx.fields as unknown as ContractImage & Contract);
  return {
    image: { image, imageHash },
    version: made?.version ?? 1,
    createVersion: isCreation ? tx.version : (createVersions.of(key, overlay) ?? 1),
  };
}
