/**
 * Contracts are executed by optimistic concurrency: beside the block and at the same time, each run
 * notes what it reads (its read set), a result is validated against what came in meanwhile, and a
 * stale one is not serializable, so the call is executed again (reads/change-log.ts, contract-phase.ts).
 *
 * This file, where the folder is entered, fills the draft of a block of this node in two parts: first
 * with the transactions that need no container, then with the contract transactions
 * (contracts.md#the-round-of-a-miner). A node without an engine leaves those in the pool, for another
 * miner.
 */
import { fromLatin1, latin1 } from '../base/bytes.ts';
import { roundLimits } from '../base/limits/round-limits.ts';
import type { Containers } from '../base/ports/containers.ts';
import type { UnsignedHeader } from '../block/header.ts';
import type { BlockDraft } from '../chain/apply/block-draft.ts';
import type { PackLimits } from '../chain/apply/produce-block.ts';
import type { OwnDraft } from '../chain/chain-writer.ts';
import { contractOf } from '../ledger/contracts.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import { idOf, type PoolEntry } from '../mempool/entries/entry.ts';
import { pack, type Room, type Selection } from '../mempool/packer.ts';
import type { Pool } from '../mempool/pool.ts';
import { withMembers } from '../tx/members.ts';
import { maySend } from '../tx/rules/sender-permissions.ts';
import { EXECUTED_TX_BYTES_MAX } from '../tx/size.ts';
import type { Tx } from '../tx/transaction.ts';
import { createContract } from '../tx/types/103-create-contract.ts';
import { disableContract } from '../tx/types/106-disable-contract.ts';
import { updateContract } from '../tx/types/107-update-contract.ts';
import type { Signer } from '../tx/types/120-atomic.ts';
import { ContractPhase } from './contract-phase.ts';
import { type BlockInWork, createBlockInWork } from './execution/block-in-work.ts';
import { createCircuitBreakers } from './execution/circuit-breakers.ts';
import {
  type Begin,
  createWork,
  type WorkOptions,
  type WorkPorts,
} from './execution/contract-work.ts';
import { SUCCESS } from './execution/judge-outcome.ts';
import { createPhaseRoom } from './execution/phase-room.ts';
import { createRepetitions } from './execution/repetitions.ts';
import { createRunTimes } from './execution/run-times.ts';
import { beginGroups } from './groups/group-part.ts';
import type { GroupPhase } from './groups/group-phase.ts';
import { createGroupTurns, type GroupTurns } from './groups/group-turns.ts';
import { createCreateVersions } from './images/create-versions.ts';
import { createImageChecks } from './images/image-checks.ts';
import { createImageLoads } from './images/image-loads.ts';
import { createImageUsers } from './images/image-users.ts';
import {
  type ContractQueue,
  concernsContract,
  contractKeyOf,
  endsAmongOthers,
  isExecutableGroup,
} from './waiting/contract-queue.ts';
import { createDoubtOrder, type DoubtOrder, takenWithoutEngine } from './waiting/doubt-order.ts';
import { createWarmUp, type WarmUp } from './waiting/warm-up.ts';

export interface ContractPackerOptions {
  /** `docker-engine.contracts-parallelism`. */
  readonly parallelism: number;
  /** `docker-engine.max-concurrent-per-container`. */
  readonly perContainer: number;
  /** `docker-engine.execution-limits.timeout`. */
  readonly timeoutMs: number;
  /** The time for contracts in a round from its beginning to its end. */
  readonly phaseMs: number;
  /** Time for containers to end calls after that, before the next round begins. */
  readonly graceMs: number;
}

type Given = 'clock' | 'executions' | 'addresses' | 'keyFilter' | 'report' | 'observe';

export interface ContractPackerPorts extends Pick<WorkPorts, Given> {
  readonly containers: Containers;
  readonly pool: Pool;
  /** The head. */
  readonly view: LedgerView;
  /** The owner of the node, who makes the blocks. */
  readonly signer: Signer;
  /** False where the owner may make no blocks with results at present. */
  readonly mayExecute: () => boolean;
}

/** The times of day at which a round ends. */
export interface Deadlines {
  /** Of transactions that need no container. */
  readonly deadline?: number;
  /** After this, no contract may run any more. */
  readonly contractDeadline: number;
}

type BlockRoom = PackLimits & Deadlines;

/** What the contracts of a block leave, and what has to wait for them. */
type Left = Room & Pick<DoubtOrder, 'held'>;

type Filled = Pick<OwnDraft, 'draft' | 'header' | 'limits'>;

type Shared = Omit<WorkPorts, 'failed'> & { readonly turns: GroupTurns };

export class ContractPacker {
  readonly #options: ContractPackerOptions;
  readonly #ports: ContractPackerPorts;
  readonly #owner: Uint8Array;
  readonly #ownerOf: (contract: string, entry: PoolEntry) => string;
  readonly #warmUp: WarmUp;
  readonly #shared: Shared;
  readonly #failedIn = createRoundMemory();
  #groups: GroupPhase | undefined;
  #phase: ContractPhase | undefined;
  #stopped = false;
  #forget = (): void => {};

  constructor(options: ContractPackerOptions, ports: ContractPackerPorts) {
    const { containers, clock, view } = ports;
    const createVersions = createCreateVersions();
    this.#options = options;
    this.#ports = ports;
    this.#owner = view.scheme.addressOf(ports.signer.publicKey);
    this.#ownerOf = creatorsIn(view);
    this.#warmUp = createWarmUp({ ...ports, createVersions, ownerOf: this.#ownerOf });
    this.#shared = {
      ...ports,
      prepare: this.#warmUp.prepare,
      checks: createImageChecks(containers),
      breakers: createCircuitBreakers(clock),
      repetitions: createRepetitions(clock),
      createVersions,
      users: createImageUsers(),
      times: createRunTimes(),
      turns: createGroupTurns(),
    };
  }

  /** What arrives in the pool from now on warms up its container, or joins the block in work. */
  start(): void {
    this.#forget = this.#ports.pool.listen({ added: (entry) => this.#arrived(entry) });
  }

  /** Ends the runs of the block that is being made, and begins no more. */
  stop(): void {
    this.#stopped = true;
    this.#forget();
    this.#groups?.end();
    this.#phase?.end(true);
  }

  /** Fills the draft, until the deadlines. */
  async fill({ draft, header, limits: room }: Filled, until: Deadlines): Promise<void> {
    const { containers, pool } = this.#ports;
    const limits = { ...room, ...until };
    if (this.#stopped || containers.problem() !== undefined || !this.#maySign(draft)) {
      const { publicKeySize } = this.#ports.view.scheme;
      const takes = takenWithoutEngine(pool.inDoubt, publicKeySize);
      await this.#pack(draft, limits, { takes });
      return;
    }
    const reserved = shareOfContracts(pool, limits.bytesMax);
    const first = await this.#pack(draft, limits, { takes: isPlain, reserved });
    const before = { ...first, bytes: first.bytes + reserved };
    // The first part may have taken the right away.
    const mayRun = !this.#stopped && this.#maySign(draft);
    const left = mayRun
      ? await this.#execute(draft, limits, header, before)
      : { ...before, held: this.#orderWith(() => false).held };
    const held = left.held();
    if (!first.isFull && !pool.inOrder().some(endsAmongOthers)) return;
    await this.#pack(draft, forTheRest(limits, left), {
      takes: (entry) =>
        !concernsContract(entry) &&
        !isExecutableGroup(entry) &&
        !held.has(entry) &&
        !draft.has(idOf(entry)),
      reserved: limits.bytesMax - left.bytes,
    });
  }

  /** A block of this node with these transactions has been committed: reports what it executed. */
  committed(txs: readonly Tx[]): void {
    for (const mined of withMembers(txs)) {
      const tx = mined.def.inner?.(mined);
      if (tx === undefined) continue;
      this.#ports.report({ txId: tx.id, contractId: contractIdOf(tx), ...SUCCESS });
    }
  }

  /** A block of any miner has been committed: containers that it has made useless go. */
  mined(txs: readonly Tx[]): void {
    for (const contract of endedContracts(txs)) {
      const image = this.#shared.users.left(contract);
      if (image !== undefined) this.#ports.containers.release(image);
    }
  }

  #arrived(entry: PoolEntry): void {
    if (isExecutableGroup(entry)) this.#warmUp.groupArrived(entry);
    if (!concernsContract(entry)) return;
    if (this.#phase === undefined) this.#warmUp.arrived(entry);
    else this.#phase.arrived(entry);
  }

  #pack(draft: BlockDraft, limits: PackLimits, selection: Selection): Promise<Room> {
    const { pool, clock, signer } = this.#ports;
    return pack(pool, limits, draft, clock, { ...selection, signer });
  }

  /** True where the block may hold results that this node signs. */
  #maySign({ overlay, context }: BlockDraft): boolean {
    return maySend({ sender: this.#owner, timestamp: this.#ports.clock.now() }, overlay, context);
  }

  /** Executes contract transactions in the room that is left; returns what they leave. */
  async #execute(
    draft: BlockDraft,
    limits: BlockRoom,
    header: UnsignedHeader,
    left: Room,
  ): Promise<Left> {
    const { pool } = this.#ports;
    const room = createPhaseRoom(left.bytes, left.count);
    const block = createBlockInWork(draft, header, room, limits.bytesMax, this.#ports);
    const work = workOptions(this.#options);
    const loadOf = createImageLoads<ContractQueue>(this.#options.perContainer);
    const workPorts = { ...this.#shared, failed: this.#failedIn(header, limits) };
    const order = this.#orderOf(block, workPorts.failed);
    const maySign = (): boolean => this.#maySign(draft);
    const { waits, before } = order;
    const groupPorts = { ...workPorts, loadOf, maySign, waits, before };
    this.#groups = beginGroups(pool.inOrder(), block, limits.contractDeadline, work, groupPorts);
    await this.#groups.run();
    const phase = this.#openPhase(createWork(block, loadOf, work, workPorts), order, limits);
    this.#phase = phase;
    phase.addAll(pool.inOrder().filter(concernsContract));
    try {
      // A group may have taken the right away.
      if (!this.#stopped && this.#maySign(draft)) await phase.run();
    } finally {
      this.#phase = undefined;
    }
    return { bytes: room.bytes, count: room.count, isFull: left.isFull, held: order.held };
  }

  /** What is in doubt, until it is in the block, has failed, or rests. */
  #orderOf({ executedHere }: BlockInWork, failed: ReadonlySet<string>): DoubtOrder {
    const { publicKeySize } = this.#ports.view.scheme;
    const isOver = (entry: PoolEntry): boolean => {
      const { key, removed, members = [key], memberContracts = [] } = entry;
      if (removed || failed.has(key)) return true;
      const executed = members[memberContracts[0]?.index ?? 0]!;
      if (executedHere(fromLatin1(executed)) !== undefined) return true;
      const contracts = memberContracts.map((member) => member.key);
      if (contracts.length === 0) contracts.push(contractKeyOf(entry, publicKeySize));
      return !this.#isDue(entry, contracts);
    };
    return this.#orderWith(isOver);
  }

  #orderWith(isOver: (entry: PoolEntry) => boolean): DoubtOrder {
    const { pool, view } = this.#ports;
    return createDoubtOrder(pool, view.scheme.publicKeySize, isOver);
  }

  /** False for what has failed and has to wait before its next attempt. */
  #isDue({ key, sender }: PoolEntry, contracts: readonly string[]): boolean {
    const { breakers, repetitions } = this.#shared;
    if (!repetitions.isDue(key)) return false;
    return contracts.every((contract) => breakers.state(contract, sender) !== 'open');
  }

  #openPhase(
    begin: Begin,
    order: DoubtOrder,
    { contractDeadline: deadline }: BlockRoom,
  ): ContractPhase {
    const { clock, view } = this.#ports;
    const { breakers, repetitions } = this.#shared;
    const { publicKeySize } = view.scheme;
    const { parallelism } = this.#options;
    return new ContractPhase(
      { parallelism, deadline },
      {
        clock,
        begin,
        contractKey: (entry) => contractKeyOf(entry, publicKeySize),
        ownerOf: this.#ownerOf,
        // A contract ends in any case. What has rested too often is dropped.
        isDue: (contract, entry) =>
          (!entry.def.executable || this.#isDue(entry, [contract])) && !order.waits(entry),
        yields: (contract, entry) =>
          repetitions.has(entry.key) || breakers.isFailing(contract, entry.sender),
        placeOf: order.placeOf,
      },
    );
  }
}

/** Address of who shares pulls and the places of the phase with others. */
const creatorsIn =
  (view: LedgerView) =>
  (contract: string, entry: PoolEntry): string => {
    const known = contractOf(view, fromLatin1(contract));
    return known === undefined ? entry.sender : latin1(view.scheme.addressOf(known.creator));
  };

/** No run begins that might need more of a round, unless its contract has been faster so far. */
const LIMIT_SHARE = 0.8;
const CHECK_MS_MAX = roundLimits.checkTime.value;
/** The time to fill what the contracts have left, beyond the end of their part. */
const FILL_MS_MAX = 100;

const workOptions = ({ timeoutMs, phaseMs, graceMs }: ContractPackerOptions): WorkOptions => ({
  limitMs: Math.min(timeoutMs, phaseMs * LIMIT_SHARE),
  graceMs,
  checkMs: Math.min(CHECK_MS_MAX, phaseMs / 2),
});

const forTheRest = (limits: BlockRoom, { count }: Room): PackLimits => ({
  ...limits,
  countMax: count,
  deadline: limits.contractDeadline + FILL_MS_MAX,
});

const isPlain = (entry: PoolEntry): boolean =>
  !concernsContract(entry) && !endsAmongOthers(entry) && !isExecutableGroup(entry);

const contractIdOf = ({ type, id, fields }: Tx): Uint8Array =>
  type === createContract.type ? id : (fields['contractId'] as Uint8Array);

/** The ids of the contracts that a block ends, or gives another image, as Latin-1 text. */
function* endedContracts(txs: readonly Tx[]): Generator<string> {
  for (const mined of withMembers(txs)) {
    const tx = mined.def.inner?.(mined) ?? mined;
    if (tx.type !== disableContract.type && tx.type !== updateContract.type) continue;
    yield latin1(tx.fields['contractId'] as Uint8Array);
  }
}

/** What to keep free for contract transactions: what they may need, at most half of the block. */
function shareOfContracts(pool: Pool, bytesMax: number): number {
  let waiting = 0;
  for (const entry of pool.inOrder()) {
    if (!isPlain(entry)) waiting += entry.size;
  }
  if (waiting === 0) return 0;
  return Math.min(Math.floor(bytesMax / 2), Math.max(EXECUTED_TX_BYTES_MAX, 2 * waiting));
}

/**
 * The keys of the entries that have failed in a round. They are not executed again in it, also where
 * its first block could not be made.
 */
function createRoundMemory(): (header: UnsignedHeader, room: BlockRoom) => Set<string> {
  let round = '';
  let failed = new Set<string>();
  return (header, { deadline, contractDeadline }) => {
    const name = `${latin1(header.reference)} ${deadline ?? contractDeadline}`;
    if (name !== round) failed = new Set();
    round = name;
    return failed;
  };
}
