/**
 * Packs a block of this node in two parts: first the transactions that need no container, then the
 * contract transactions, executed by the container engine (contracts.md#the-round-of-a-miner).
 *
 * A node without an engine leaves contract transactions in the pool, for another miner.
 */
import { fromLatin1, latin1 } from '../base/bytes.ts';
import type { Containers } from '../base/containers.ts';
import { roundLimits } from '../base/round-limits.ts';
import type { UnsignedHeader } from '../block/header.ts';
import type { BlockDraft } from '../chain/apply/block-draft.ts';
import type { PackLimits } from '../chain/apply/produce-block.ts';
import { contractOf } from '../ledger/contracts.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import { idOf, type PoolEntry } from '../mempool/entries/entry.ts';
import { applying, pack, type Room, type Selection, sealingBy } from '../mempool/packer.ts';
import type { Pool } from '../mempool/pool.ts';
import { maySend } from '../tx/rules/sender-permissions.ts';
import { EXECUTED_TX_BYTES_MAX } from '../tx/size.ts';
import type { Tx } from '../tx/transaction.ts';
import { createContract } from '../tx/types/103-create-contract.ts';
import { createBlockInWork } from './block-in-work.ts';
import { createCircuitBreakers } from './circuit-breakers.ts';
import { ContractPhase } from './contract-phase.ts';
import {
  type ContractQueue,
  concernsContract,
  contractKeyOf,
  endsAmongOthers,
  isExecutableGroup,
  needsEngine,
} from './contract-queue.ts';
import { createWork, type WorkOptions, type WorkPorts } from './contract-work.ts';
import { createCreateVersions } from './create-versions.ts';
import { endedContracts } from './ended-contracts.ts';
import type { Signer } from './executed-tx.ts';
import { beginGroups } from './group-part.ts';
import type { GroupPhase } from './group-phase.ts';
import { createGroupTurns } from './group-turns.ts';
import { createImageChecks } from './image-checks.ts';
import { createImageLoads } from './image-loads.ts';
import { createImageUsers } from './image-users.ts';
import { SUCCESS } from './judge-outcome.ts';
import { createPhaseRoom } from './phase-room.ts';
import { createRepetitions } from './repetitions.ts';
import { createRunTimes } from './run-times.ts';
import { createWarmUp } from './warm-up.ts';

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

export interface BlockRoom extends PackLimits {
  /** The time of day at which no contract may run any more. */
  readonly contractDeadline: number;
}

export interface ContractPacker {
  /** Fills the draft; see `Packer` in chain/apply/produce-block.ts. */
  pack(draft: BlockDraft, limits: BlockRoom, header: UnsignedHeader): Promise<void>;
  /** The block that was packed last has been committed: reports its contract transactions. */
  committed(): void;
  /** A block of any miner has been committed: containers that it has made useless go. */
  mined(txs: readonly Tx[]): void;
  /** Ends the runs of the block that is being made, and begins no more. */
  stop(): void;
}

export function createContractPacker(
  options: ContractPackerOptions,
  ports: ContractPackerPorts,
): ContractPacker {
  const { containers, pool, clock, view, report } = ports;
  const createVersions = createCreateVersions();

  const creatorOf = creatorsIn(view);
  const warmUp = createWarmUp({ ...ports, createVersions, ownerOf: creatorOf });
  const users = createImageUsers();
  const shared = {
    ...ports,
    prepare: warmUp.prepare,
    checks: createImageChecks(containers),
    breakers: createCircuitBreakers(clock),
    repetitions: createRepetitions(clock),
    createVersions,
    users,
    times: createRunTimes(),
    turns: createGroupTurns(),
  };
  const { breakers, repetitions } = shared;
  const failedIn = createRoundMemory();
  const { publicKeySize, addressOf } = view.scheme;
  const owner = addressOf(ports.signer.publicKey);
  const sealed = sealingBy(ports.signer);
  let groups: GroupPhase | undefined;
  let phase: ContractPhase | undefined;
  let executed: readonly Tx[] = [];
  let stopped = false;

  const forget = pool.listen({
    added(entry) {
      if (stopped) return;
      if (isExecutableGroup(entry)) warmUp.groupArrived(entry);
      if (!concernsContract(entry)) return;
      if (phase === undefined) warmUp.arrived(entry);
      else phase.arrived(entry);
    },
  });

  /** True where the block may hold results that this node signs. */
  const maySign = ({ overlay, context }: BlockDraft): boolean =>
    maySend({ sender: owner, timestamp: clock.now() }, overlay, context);

  /** A contract ends in any case. What has rested too often is dropped. */
  const isDue = (contract: string, { key, def, sender }: PoolEntry): boolean =>
    !def.executable || (repetitions.isDue(key) && breakers.state(contract, sender) !== 'open');

  /** Executes contract transactions in the room that is left; returns what they leave. */
  async function execute(
    draft: BlockDraft,
    limits: BlockRoom,
    header: UnsignedHeader,
    left: Room,
  ): Promise<Room> {
    const room = createPhaseRoom(left.bytes, left.count);
    const block = createBlockInWork(draft, header, room, limits.bytesMax, ports);
    const work = workOptions(options);
    const loadOf = createImageLoads<ContractQueue>(options.perContainer);
    const workPorts = { ...shared, failed: failedIn(header, limits) };
    const groupPorts = { ...workPorts, loadOf, maySign: () => maySign(draft) };
    groups = beginGroups(pool.inOrder(), block, limits.contractDeadline, work, groupPorts);
    await groups.run();
    const begin = createWork(block, loadOf, work, workPorts);
    phase = new ContractPhase(
      { parallelism: options.parallelism, deadline: limits.contractDeadline },
      {
        clock,
        begin,
        contractKey: (entry) => contractKeyOf(entry, publicKeySize),
        ownerOf: creatorOf,
        isDue,
        yields: (contract, entry) =>
          repetitions.has(entry.key) || breakers.isFailing(contract, entry.sender),
      },
    );
    phase.addAll(pool.inOrder().filter(concernsContract));
    try {
      // A group may have taken the right away.
      if (!stopped && maySign(draft)) await phase.run();
    } finally {
      phase = undefined;
    }
    executed = block.executed;
    return { bytes: room.bytes, count: room.count, isFull: left.isFull };
  }

  return {
    async pack(draft, limits, header) {
      executed = [];
      const packPlain = (selection: Selection): Promise<Room> =>
        pack(pool, limits, applying(draft.add, sealed), clock, selection);
      if (stopped || containers.problem() !== undefined || !maySign(draft)) {
        await packPlain({ takes: (entry) => !needsEngine(entry) });
        return;
      }
      const reserved = shareOfContracts(pool, limits.bytesMax);
      const first = await packPlain({ takes: isPlain, reserved });
      const before = { ...first, bytes: first.bytes + reserved };
      // The first part may have taken the right away.
      const mayRun = !stopped && maySign(draft);
      const left = mayRun ? await execute(draft, limits, header, before) : before;
      if (!first.isFull && !pool.inOrder().some(endsAmongOthers)) return;
      const remaining = forTheRest(limits, left);
      await pack(pool, remaining, applying(draft.add, sealed), clock, {
        takes: (entry) =>
          !concernsContract(entry) && !isExecutableGroup(entry) && !draft.has(idOf(entry)),
        reserved: limits.bytesMax - left.bytes,
      });
    },
    committed() {
      for (const tx of executed) report({ txId: tx.id, contractId: contractIdOf(tx), ...SUCCESS });
      executed = [];
    },
    mined(txs) {
      for (const contract of endedContracts(txs)) {
        const image = users.left(contract);
        if (image !== undefined) containers.release(image);
      }
    },
    stop() {
      stopped = true;
      forget();
      groups?.end(true);
      phase?.end(true);
    },
  };
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
