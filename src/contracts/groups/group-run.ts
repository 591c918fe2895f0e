/**
 * Executes one atomic transaction with contracts for the block that is being made. Its members take
 * effect one after the other, each contract runs on what those before it leave, and then the whole
 * is taken back and added with the results, by the pipeline of all transactions.
 *
 * Invariants: nothing else changes the draft meanwhile; whatever happens, the draft then holds all of
 * it or nothing.
 */
import { assert } from '../../base/assert.ts';
import { fromLatin1, latin1 } from '../../base/bytes.ts';
import type { ApiError } from '../../base/errors.ts';
import type {
  ContractFailure,
  ContractImage,
  ContractOutcome,
  DataEntry,
} from '../../base/ports/containers.ts';
import { isUnsigned } from '../../base/signer/signing.ts';
import { isBlockFull } from '../../chain/apply/block-draft.ts';
import type { GroupInWork } from '../../chain/apply/group-in-work.ts';
import type { StoredTx } from '../../chain/store/stored-blocks.ts';
import { refusalFrom } from '../../codec/refusal.ts';
import type { PoolEntry } from '../../mempool/entries/entry.ts';
import { isForNextBlock } from '../../mempool/role-times.ts';
import { membersOf } from '../../tx/members.ts';
import { verdictsInside } from '../../tx/proof-verdicts.ts';
import type { Tx } from '../../tx/transaction.ts';
import { createContract } from '../../tx/types/103-create-contract.ts';
import { type BlockInWork, ResultRefused } from '../execution/block-in-work.ts';
import { RESULT_BYTES, type WorkOptions, type WorkPorts } from '../execution/contract-work.ts';
import { runContract, timedOut } from '../execution/run-contract.ts';
import { type ImageLoad, imageKey } from '../images/image-loads.ts';
import { callsOf, type GroupCall, type PlannedCall, plannedCalls } from '../waiting/group-calls.ts';
import { type Attempt, areGood } from './group-images.ts';
import type { GroupOutcomes } from './group-outcomes.ts';
import { type GroupTurns, GroupWaste } from './group-turns.ts';

export interface GroupOptions extends WorkOptions {
  /** A group that has run for so long counts as one that takes too long. */
  readonly groupMs: number;
}

export interface GroupPorts extends WorkPorts {
  readonly turns: GroupTurns;
  /** The runs that containers have, those of single calls included. */
  readonly loadOf: (image: ContractImage) => ImageLoad<unknown>;
  /** False where the miner may add no results any more: a transaction of the block may change that. */
  readonly maySign: () => boolean;
  /** True where single transactions of its contracts come first (waiting/doubt-order.ts). */
  readonly waits: (entry: PoolEntry) => boolean;
  /** Another atomic transaction that comes before this one. */
  readonly before: (entry: PoolEntry) => PoolEntry | undefined;
}

export interface GroupPlace {
  readonly block: BlockInWork;
  readonly ports: GroupPorts;
  readonly outcomes: GroupOutcomes;
  readonly options: GroupOptions;
  /** Resolves at the end of the part of the round for groups; `true`: everything ends at once. */
  readonly ended: Promise<boolean>;
  readonly leftMs: () => number;
}

/** None begins without so much of `groupMs` for the checks of its images. */
const CHECKS_SHARE = 8;

const NO_ROOM = 'The block has no room left for it';

/** Never rejects but for a fault of this node. */
export async function runGroup(entry: PoolEntry, place: GroupPlace): Promise<void> {
  const { clock, turns } = place.ports;
  const began = clock.monotonic();
  const waste = new GroupWaste();
  await runWhole(entry, waste, place);
  if (waste.isOwed) turns.wasted(entry.sender, clock.monotonic() - began, waste.byCreator);
}

async function runWhole(entry: PoolEntry, waste: GroupWaste, place: GroupPlace): Promise<void> {
  const { block, ports, outcomes, options } = place;
  const planned = plannedCalls(entry, block.draft.overlay, ports.createVersions);
  // Nothing is decoded for one that waits, however many rounds that takes.
  const ready = readinessOf(entry, planned, place);
  if (ready === 'waits') return;
  const tx = ports.pool.decode(entry);
  const calls = planned && callsOf(tx, planned);
  if (ready !== 'begins') {
    const call = calls!.find(({ index }) => index === ready.index)!;
    if (ready.why === 'spent') outcomes.givenUp(entry, tx, call);
    else outcomes.unready(entry, tx, call, ready.why);
    return;
  }
  waste.isOwed = true;
  try {
    block.draft.check(tx, entry.verdicts);
  } catch (cause) {
    const waits = isBlockFull(cause) || isForNextBlock(tx, block.draft, ports.clock.now());
    if (!waits) outcomes.unfit(entry, tx, cause);
    return;
  }
  assert(calls !== undefined, 'the rules refuse what concerns no contract');
  const attempt = { entry, tx, calls, waste };
  const checksMs = Math.min(options.checkMs, place.leftMs() - runMs(calls, place));
  if (!(await areGood(attempt, checksMs, place))) return;
  ports.turns.began(entry.sender);
  const results = await execute(attempt, place);
  if (results !== undefined) await addWhole(attempt, results, place);
}

async function addWhole(
  { entry, tx, calls, waste }: Attempt,
  results: ReadonlyMap<Tx, Tx>,
  { block, ports, outcomes }: GroupPlace,
): Promise<void> {
  try {
    const made = await block.sealed(tx, entry.verdicts, (one) => results.get(one) ?? one);
    if (!block.addGroup(tx, entry.verdicts, made)) {
      outcomes.heldUp(entry, tx, NO_ROOM);
      return;
    }
  } catch (cause) {
    notAdded(entry, tx, cause, outcomes);
    return;
  }
  waste.isOwed = false;
  ports.turns.added(entry.sender);
  outcomes.added(entry, calls);
  for (const { tx: made, key } of calls) {
    if (made.type === createContract.type) ports.createVersions.add(key, made.version);
  }
}

/** It has run, so the next round must not simply do the same again. */
function notAdded(entry: PoolEntry, tx: Tx, cause: unknown, outcomes: GroupOutcomes): void {
  if (isBlockFull(cause)) outcomes.heldUp(entry, tx, NO_ROOM);
  else if (isUnsigned(cause)) outcomes.heldUp(entry, tx, 'The key of this miner does not sign it');
  else if (cause instanceof ResultRefused) {
    outcomes.heldUp(entry, tx, 'The block takes no results of this miner behind it');
  } else outcomes.refused(entry, tx, cause);
}

/** What keeps a group from running for good, by the index of the member. */
interface Obstacle {
  readonly index: number;
  readonly why: ContractFailure | 'spent';
}

/** What can be told of it before it is decoded. */
function readinessOf(
  entry: PoolEntry,
  planned: readonly PlannedCall[] | undefined,
  place: GroupPlace,
): 'begins' | 'waits' | Obstacle {
  const { memberContracts = [], sender, size } = entry;
  const { block, ports } = place;
  if (!block.room.fits(size + memberContracts.length * RESULT_BYTES)) return 'waits';
  // The rules say what is wrong.
  if (planned === undefined) return 'begins';
  for (const { index, key } of planned) {
    const breaker = ports.breakers.state(key, sender);
    if (breaker === 'spent') return { index, why: breaker };
    if (breaker !== 'closed') return 'waits';
  }
  let isReady = true;
  for (const { index, isUpdate, image, createVersion, owner } of planned) {
    if (isUpdate) continue;
    const readiness = ports.prepare(image, createVersion, owner);
    if (readiness.kind === 'failure') return { index, why: readiness };
    isReady &&= readiness.kind === 'ready';
  }
  return isReady && place.leftMs() >= neededMs(planned, place) ? 'begins' : 'waits';
}

/** The time to allow for all its runs. */
function runMs(calls: readonly PlannedCall[], { ports, options }: GroupPlace): number {
  const { limitMs, groupMs } = options;
  let sum = 0;
  for (const call of calls) {
    if (call.isUpdate) continue;
    sum += Math.min(ports.times.expected(call.key, imageKey(call.image)) ?? limitMs, limitMs);
  }
  return Math.min(sum, groupMs);
}

function neededMs(calls: readonly PlannedCall[], place: GroupPlace): number {
  const checksMs = calls.some(({ isUpdate }) => isUpdate)
    ? place.options.groupMs / CHECKS_SHARE
    : 0;
  return runMs(calls, place) + checksMs;
}

/** The results by member; undefined where there is one that has none. */
async function execute(
  { entry, tx, calls, waste }: Attempt,
  place: GroupPlace,
): Promise<ReadonlyMap<Tx, Tx> | undefined> {
  const { block, ports, outcomes } = place;
  const began = ports.clock.monotonic();
  const callAt = new Map(calls.map((call) => [call.index, call]));
  const results = new Map<Tx, Tx>();
  const executing = { entry, tx, results, place, bytes: entry.size };
  const group = block.draft.group();
  try {
    for (const [index, member] of membersOf(tx).entries()) {
      const call = callAt.get(index);
      if (call === undefined) {
        group.add(member);
        continue;
      }
      const callBegan = ports.clock.monotonic();
      const outcome = call.isUpdate ? UPDATED : await called(entry, call, results, began, place);
      waste.took(call, ports.clock.monotonic() - callBegan);
      if (outcome === 'stopped') {
        waste.isOwed = false;
        return undefined;
      }
      if (outcome === 'cut') {
        outcomes.cut(entry, tx, call);
        return undefined;
      }
      if (outcome.kind !== 'success') {
        outcomes.failed(entry, tx, call, outcome);
        return undefined;
      }
      const result = await resultOf(call, outcome.results, executing);
      if ('refusal' in result) {
        outcomes.badResults(entry, tx, call, result.refusal);
        return undefined;
      }
      if (!addResult(group, call, result.tx, executing)) {
        outcomes.heldUp(entry, tx, NO_ROOM);
        return undefined;
      }
    }
  } catch (cause) {
    notAdded(entry, tx, cause, outcomes);
    return undefined;
  } finally {
    group.end();
  }
  return results;
}

interface Executing {
  readonly entry: PoolEntry;
  readonly tx: Tx;
  readonly results: Map<Tx, Tx>;
  readonly place: GroupPlace;
  /** Those of the whole with the results so far. */
  bytes: number;
}

/** Rejects with a fault of this node or its signer, which says nothing of the results. */
async function resultOf(
  { index, tx: member }: GroupCall,
  entries: readonly DataEntry[],
  { entry, tx, place }: Executing,
): Promise<{ readonly tx: Tx } | { readonly refusal: ApiError }> {
  try {
    return await place.block.resultOf(member, verdictsInside(tx, entry.verdicts, index), entries);
  } catch (cause) {
    return { refusal: refusalFrom(cause) };
  }
}

/**
 * False where the block has no room left for the results. Throws ResultRefused where the fault is that
 * of their sender, and ApiError where it is that of the group.
 */
function addResult(
  group: GroupInWork,
  { tx: member }: GroupCall,
  result: Tx,
  executing: Executing,
): boolean {
  const { results, place } = executing;
  const { block } = place;
  executing.bytes += result.bytes.length - member.bytes.length;
  if (!block.hasRoom(executing.bytes)) return false;
  try {
    group.add(result);
  } catch (cause) {
    if (isBlockFull(cause)) throw cause;
    group.check(member);
    throw new ResultRefused(String(cause));
  }
  results.set(member, result);
  return true;
}

/** No code runs for a 107: its image has been checked, and the results are empty. */
const UPDATED: ContractOutcome = { kind: 'success', results: [] };

/** `cut`: the part is over, and nothing is known of it. `stopped`: the node stops. */
async function called(
  entry: PoolEntry,
  call: GroupCall,
  results: ReadonlyMap<Tx, Tx>,
  groupBegan: number,
  place: GroupPlace,
): Promise<ContractOutcome | 'cut' | 'stopped'> {
  const { ports, ended, options } = place;
  const { clock } = ports;
  ports.users.ran(call.key, call.image);
  const began = clock.monotonic();
  const contractId = fromLatin1(call.key);
  const run = runContract({ ...call, contractId }, placeOf(results, place), ports);
  const noted = (outcome: ContractOutcome): ContractOutcome => {
    const ms = clock.monotonic() - began;
    ports.times.add(call.key, imageKey(call.image), ms);
    ports.observe(outcome.kind, ms);
    return outcome;
  };
  const first = await Promise.race([run.outcome, ended.then((now) => ({ now }))]);
  if (!('now' in first)) return noted(first);
  const { graceMs } = options;
  const isTooLong = clock.monotonic() - groupBegan >= options.groupMs;
  run.close(first.now ? 0 : graceMs);
  if (first.now) return 'stopped';
  const message = timedOut(contractId);
  const failure: ContractFailure = { kind: 'failure', message, recoverable: true, system: false };
  if (isTooLong) return noted(failure);
  // A container that does not end the call in time has to be replaced.
  const cancel = clock.after(graceMs, () => {
    if (entry.removed) return;
    place.outcomes.failed(entry, ports.pool.decode(entry), call, failure);
    noted(failure);
  });
  // Meanwhile it is busy, and a single call would wait for it in vain.
  const load = ports.loadOf(call.image);
  load.begin();
  void run.outcome.then(() => {
    cancel();
    load.end();
  });
  return 'cut';
}

/** The block as the member sees it: the results of those before it are there. */
function placeOf(results: ReadonlyMap<Tx, Tx>, { block }: GroupPlace): BlockInWork {
  const { draft } = block;
  const here = new Map<string, StoredTx>();
  for (const [member, tx] of results) {
    here.set(latin1(member.id), { tx, height: draft.context.height, index: draft.txs.length });
  }
  const ids = new Set([...results.values()].map(({ id }) => latin1(id)));
  return {
    ...block,
    draft: { ...draft, has: (id) => ids.has(latin1(id)) || draft.has(id) },
    executedHere: (id) => here.get(latin1(id)) ?? block.executedHere(id),
  };
}
