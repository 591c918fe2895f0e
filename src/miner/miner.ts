/**
 * Makes blocks when this node has the turn (consensus.md#proof-of-stake "Miner loop",
 * consensus.md#making-a-block-under-proof-of-authority).
 *
 * Consensus calculates the next slot of the owner, and one timer waits for it. A new head cancels
 * the timer and asks again, so a slot is never used on a parent that is no longer the head.
 */
import { isOurs } from '../base/assert.ts';
import type { Clock, Log } from '../base/ports.ts';
import type { Slot } from '../consensus/consensus.ts';
import { freeSlot, type SlotSource, startOf } from './free-slots.ts';
import {
  type MissingPrecondition,
  missingOnDisk,
  missingOnNode,
  missingOthers,
} from './mining-preconditions.ts';
import type { UnfinishedBlock } from './unfinished-block.ts';

export interface MinerOptions {
  readonly enabled: boolean;
  /** The number of connected miners below which no block is made; absent: see mining-preconditions.ts. */
  readonly quorum?: number | undefined;
  /** The pause before the quorum is checked again. */
  readonly noQuorumDelayMs: number;
  /** No block is made on a head older than this, since the node is then probably behind. */
  readonly staleTipMs: number;
}

export interface MinerPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly chain: SlotSource & {
    readonly tip: () => { readonly height: number; readonly timestamp: number };
    /**
     * Packs until `deadline`, signs and commits a block; throws ApiError where the state refuses
     * it.
     */
    readonly produceBlock: (timestamp: number, deadline: number) => Promise<void>;
    /** A block that was sealed before and is the next one of this chain (unfinished-block.ts). */
    readonly unfinished: UnfinishedBlock;
    readonly onHead: (listener: () => void) => () => void;
  };
  readonly connectedMiners: () => number;
  /** Other miners that make a majority of the network with this one, as the head says. */
  readonly majority: () => number;
  /** The chain of this node says that its owner is removed from the network. */
  readonly isRemovedFromNetwork: () => boolean;
  /** The disk takes no blocks, or took none, and blocks are missing since. Absent: false. */
  readonly lacksDisk?: () => boolean;
  /** Final blocks are so far behind that votes must come first (finality.md#waiting). Absent: false. */
  readonly lacksVotes?: () => boolean;
}

/** Roles and bans change with time too, so the answer "never" is asked for again. */
const IDLE_MS = 1000;
const RETRY_MS = 100;

export const MINER_STATES = [
  /** Switched off, or stopped. */
  'off',
  /** The consensus has no slot for this node. */
  'idle',
  'waiting',
  'forging',
  /** The reasons that hold the miner back. */
  'no-time',
  'no-disk',
  'shut-out',
  'stale-tip',
  'no-quorum',
  'no-votes',
] as const;

export type MinerState = (typeof MINER_STATES)[number];

export interface Miner {
  state(): MinerState;
  start(): void;
  stop(): Promise<void>;
}

export function createMiner(options: MinerOptions, ports: MinerPorts): Miner {
  const { clock, log, chain } = ports;
  let cancel = (): void => {};
  let forget = (): void => {};
  let producing: Promise<void> | undefined;
  let stopped = !options.enabled;
  let state: MinerState = stopped ? 'off' : 'idle';

  function wait(ms: number, then: () => void = plan): void {
    cancel();
    cancel = clock.after(ms, then);
  }

  /** Logged once, however long it lasts. */
  function isHeldBy(missing: MissingPrecondition | undefined): boolean {
    if (missing === undefined) return false;
    if (state !== missing.state) log.warn(`miner.${missing.state}`, missing.fields);
    state = missing.state;
    wait(missing.pauseMs);
    return true;
  }

  /**
   * Checked when the timer for a slot is set and again when the slot begins, because much time may
   * pass between.
   */
  const isReady = (): boolean =>
    !stopped &&
    producing === undefined &&
    !isHeldBy(missingOnDisk(ports.lacksDisk?.() ?? false)) &&
    !isHeldBy(missingOnNode(clock, chain.tip(), staleTipMs(), ports.isRemovedFromNetwork()));

  /** A block that was sealed before stands on its parent, however old that has become. */
  const staleTipMs = (): number =>
    chain.unfinished.waits() ? Number.POSITIVE_INFINITY : options.staleTipMs;

  function plan(): void {
    if (!isReady()) return;
    if (chain.unfinished.waits()) {
      make(() => chain.unfinished.finish(), IDLE_MS);
      return;
    }
    const now = clock.now();
    const slot = freeSlot(chain, now);
    state = slot === undefined ? 'idle' : 'waiting';
    if (slot === undefined) wait(IDLE_MS);
    else if (startOf(slot) > now) wait(startOf(slot) - now, () => fire(slot));
    else produceBlock(now, slot.until);
  }

  /** The slot has begun, if it still exists: the node may have fallen behind meanwhile. */
  function fire(armed: Slot): void {
    if (!isReady()) return;
    const now = clock.now();
    const slot = freeSlot(chain, now);
    const isThere = slot !== undefined && slot.until === armed.until && slot.from <= now;
    if (isThere && !chain.unfinished.waits()) produceBlock(now, slot.until);
    else plan();
  }

  function produceBlock(now: number, deadline: number): void {
    make(() => chain.produceBlock(now, deadline), RETRY_MS);
  }

  function make(block: () => Promise<void>, retryMs: number): void {
    const { quorum = ports.majority(), noQuorumDelayMs } = options;
    if (isHeldBy(missingOthers(ports, chain.tip().height, quorum, noQuorumDelayMs))) return;
    state = 'forging';
    producing = block().then(
      () => ended(plan),
      (error: unknown) => {
        if (isOurs(error)) throw error;
        log.warn('miner.failed', { why: String(error) });
        ended(() => wait(retryMs));
      },
    );
  }

  /** The new head has already called `plan`, while `forging` still blocked it. */
  function ended(then: () => void): void {
    producing = undefined;
    if (!stopped) then();
  }

  return {
    state: () => state,
    start() {
      forget = chain.onHead(plan);
      plan();
    },
    async stop() {
      stopped = true;
      state = 'off';
      cancel();
      forget();
      await producing;
    },
  };
}
