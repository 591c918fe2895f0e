/**
 * Executes one atomic transaction with contracts for the block that is being made. Its members take
 * effect one after the other, each contract runs on what those before it leave, and then the whole
 * is taken back and added with the results, by the pipeline of all transactions.
 *
 * Invariants: nothing else changes the draft meanwhile; whatever happens, the draft then holds all of
 * it or nothing.
 */
import { assert } from '../base/assert.ts';
import { fromLatin1, latin1 } from '../base/bytes.ts';
import type { ContractFailure, ContractOutcome, DataEntry } from '../base/containers.ts';
import type { GroupInWork } from '../chain/apply/group-in-work.ts';
import type { StoredTx } from '../chain/store/stored-blocks.ts';
import type { PoolEntry } from '../mempool/entries/entry.ts';
import { membersOf } from '../tx/members.ts';
import { verdictsInside } from '../tx/proof-verdicts.ts';
import type { Tx } from '../tx/transaction.ts';
import { createContract } from '../tx/types/103-create-contract.ts';
import { updateContract } from '../tx/types/107-update-contract.ts';
import { type BlockInWork, isBlockFull, ResultRefused } from './block-in-work.ts';
import type { WorkOptions, WorkPorts } from './contract-work.ts';
import { callsOf, type GroupCall } from './group-calls.ts';
import type { GroupOutcomes } from './group-outcomes.ts';
import { imageKey } from './image-loads.ts';
import { type Run, runContract, timedOut } from './run-contract.ts';

export interface GroupOptions extends WorkOptions {
  /** A group that has run for so long counts as one that takes too long. */
  readonly groupMs: number;
}

export interface GroupPlace {
  readonly block: BlockInWork;
  readonly ports: WorkPorts;
  readonly outcomes: GroupOutcomes;
  readonly options: GroupOptions;
  /** Resolves at the end of the part of the round for groups; `true`: everything ends at once. */
  readonly ended: Promise<boolean>;
  readonly leftMs: () => number;
}

/** What a 105 with few results adds to the transaction in it. */
const RESULT_BYTES = 256;

/** Never rejects but for a fault of this node. */
export async function runGroup(entry: PoolEntry, place: GroupPlace): Promise<void> {
  const { block, ports, outcomes, options } = place;
  const tx = ports.pool.decode(entry);
  const calls = callsOf(membersOf(tx), block.draft.overlay, ports.createVersions);
  if (calls !== undefined) {
    if (!block.room.fits(entry.size + calls.length * RESULT_BYTES)) return;
    if (!mayBegin(entry, tx, calls, place)) return;
    if (place.leftMs() < Math.min(expectedMs(calls, place), options.groupMs)) return;
  }
  try {
    block.draft.check(tx, entry.verdicts);
  } catch (cause) {
    if (!isBlockFull(cause)) outcomes.refused(entry, tx, cause);
    return;
  }
  assert(calls !== undefined, 'the rules refuse what concerns no contract');
  const results = await execute(entry, tx, calls, place);
  if (results === undefined) return;
  try {
    const resultIn = (member: Tx): Tx => results.get(member) ?? member;
    if (!block.addGroup(tx, entry.verdicts, resultIn)) return;
  } catch (cause) {
    if (!isBlockFull(cause) && !(cause instanceof ResultRefused))
      outcomes.refused(entry, tx, cause);
    return;
  }
  for (const { tx: made, key } of calls) {
    if (made.type === createContract.type) ports.createVersions.add(key, made.version);
  }
}

/** False where it waits, or has been judged already. */
function mayBegin(
  entry: PoolEntry,
  tx: Tx,
  calls: readonly GroupCall[],
  { ports, outcomes }: GroupPlace,
): boolean {
  for (const call of calls) {
    const breaker = ports.breakers.state(call.key, entry.sender);
    if (breaker === 'spent') outcomes.givenUp(entry, tx, call);
    if (breaker !== 'closed') return false;
  }
  let isReady = true;
  for (const call of calls) {
    if (call.tx.type === updateContract.type) continue;
    const readiness = ports.prepare(call.image, call.createVersion, call.owner);
    if (readiness.kind === 'failure') {
      outcomes.unready(entry, tx, call, readiness);
      return false;
    }
    isReady &&= readiness.kind === 'ready';
  }
  return isReady;
}

/** The time to allow for all its calls. */
function expectedMs(calls: readonly GroupCall[], { ports, options }: GroupPlace): number {
  let sum = 0;
  for (const { key, image } of calls) {
    sum += Math.min(ports.times.expected(key, imageKey(image)) ?? options.limitMs, options.limitMs);
  }
  return sum;
}

/** The results by member; undefined where there is one that has none. */
async function execute(
  entry: PoolEntry,
  tx: Tx,
  calls: readonly GroupCall[],
  place: GroupPlace,
): Promise<ReadonlyMap<Tx, Tx> | undefined> {
  const { block, ports, outcomes } = place;
  const began = ports.clock.monotonic();
  const callAt = new Map(calls.map((call) => [call.index, call]));
  const results = new Map<Tx, Tx>();
  const group = block.draft.group();
  try {
    for (const [index, member] of membersOf(tx).entries()) {
      const call = callAt.get(index);
      if (call === undefined) {
        group.add(member);
        continue;
      }
      const outcome = await outcomeOf(entry, call, results, began, place);
      if (outcome === 'waits') return undefined;
      if (outcome.kind !== 'success') {
        outcomes.failed(entry, tx, call, outcome);
        return undefined;
      }
      addResult(group, index, call, outcome.results, { entry, tx, results, place });
    }
  } catch (cause) {
    outcomes.refused(entry, tx, cause);
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
}

function addResult(
  group: GroupInWork,
  index: number,
  { tx: member, key }: GroupCall,
  entries: readonly DataEntry[],
  { entry, tx, results, place: { block, ports } }: Executing,
): void {
  const result = block.resultOf(member, verdictsInside(tx, entry.verdicts, index), entries);
  group.add(result);
  results.set(member, result);
  if (member.type !== updateContract.type) ports.breakers.succeeded(key, entry.sender);
}

/** `waits`: nothing is known of it, and a later round tries again. */
type Outcome = ContractOutcome | 'waits';

function outcomeOf(
  entry: PoolEntry,
  call: GroupCall,
  results: ReadonlyMap<Tx, Tx>,
  began: number,
  place: GroupPlace,
): Promise<Outcome> {
  return call.tx.type === updateContract.type
    ? checked(call, place)
    : called(entry, call, results, began, place);
}

/** No code runs for a 107: its image is checked, and the results are empty. */
async function checked({ image, owner }: GroupCall, place: GroupPlace): Promise<Outcome> {
  const { ports, options, ended } = place;
  const check = ports.checks.check(image, owner);
  if (check === 'busy') return 'waits';
  let cancel = (): void => {};
  const late = new Promise<'late'>((resolve) => {
    cancel = ports.clock.after(options.checkMs, () => resolve('late'));
  });
  const problem = await Promise.race([check, late, ended.then(() => 'late' as const)]);
  cancel();
  if (problem === 'late') return 'waits';
  return problem ?? { kind: 'success', results: [] };
}

async function called(
  entry: PoolEntry,
  call: GroupCall,
  results: ReadonlyMap<Tx, Tx>,
  groupBegan: number,
  place: GroupPlace,
): Promise<Outcome> {
  const { ports, ended, options } = place;
  const { clock } = ports;
  ports.users.ran(call.key, call.image);
  const began = clock.monotonic();
  const contractId = fromLatin1(call.key);
  const run = runContract({ ...call, contractId }, placeOf(results, place), ports);
  const first = await Promise.race([run.outcome, ended.then((now) => ({ now }))]);
  const ms = clock.monotonic() - began;
  ports.times.add(call.key, imageKey(call.image), ms);
  if (!('now' in first)) {
    ports.observe(first.kind, ms);
    return first;
  }
  return givenUp(entry, call, run, first.now, {
    ...place,
    isTooLong: clock.monotonic() - groupBegan >= options.groupMs,
  });
}

/** The time is over. A container that does not end the call in time has to be replaced. */
function givenUp(
  entry: PoolEntry,
  call: GroupCall,
  run: Run,
  now: boolean,
  { ports, options, outcomes, isTooLong }: GroupPlace & { readonly isTooLong: boolean },
): Outcome {
  const message = timedOut(fromLatin1(call.key));
  const failure: ContractFailure = { kind: 'failure', message, recoverable: true, system: false };
  run.close(now ? 0 : options.graceMs);
  if (now) return 'waits';
  if (isTooLong) return failure;
  const cancel = ports.clock.after(options.graceMs, () => {
    if (!entry.removed) outcomes.failed(entry, ports.pool.decode(entry), call, failure);
  });
  void run.outcome.then(cancel);
  return 'waits';
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
