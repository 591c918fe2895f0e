/**
 * Makes blocks when this node has the turn (consensus.md#proof-of-stake "Miner loop",
 * consensus.md#making-a-block-under-proof-of-authority).
 *
 * Consensus calculates the next slot of the owner, and one timer waits for it. A new head cancels
 * the timer and asks again, so a slot is never used on a parent that is no longer the head. A slot that
 * has begun waits, for a limited part of its turn, for a better block that is on its way.
 */
import { isOurs } from '../base/assert.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { Log } from '../base/ports/log.ts';
import { isUnsigned } from '../base/signer/signing.ts';
import type { Slot } from '../consensus/consensus.ts';
import { type Coming, freeSlot, type SlotSource, startOf, waitEnd } from './free-slots.ts';
import {
  type MissingPrecondition,
  missingOnNode,
  missingOthers,
  missingPart,
} from './mining-preconditions.ts';

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
    readonly unfinished: { waits(): boolean; finish(): Promise<void> };
    readonly onHead: (listener: () => void) => () => void;
    /** A block of another miner that would take the place of the head; absent: there is none. */
    readonly coming?: () => Coming | undefined;
  };
  readonly connectedMiners: () => number;
  /** Other miners that make a majority of the network with this one, as the head says. */
  readonly majority: () => number;
  /** The chain of this node says that its owner is removed from the network. */
  readonly isRemovedFromNetwork: () => boolean;
  /** The disk takes no blocks, or took none, and blocks are missing since. Absent: false. */
  readonly lacksDisk?: () => boolean;
  /** The turns of this node cannot be noted before a restart. Absent: false. */
  readonly lacksJournal?: () => boolean;
  /** The signer of this node does not answer. Absent: false. */
  readonly lacksSigner?: () => boolean;
  /** Final blocks are so far behind that votes must come first (finality.md#waiting). Absent: false. */
  readonly lacksVotes?: () => boolean;
}

/** A slot further away is looked for again: the clock that says so may be wrong, and be set. */
const PLANNED_MS_MAX = 10_000;
/** Roles and bans change with time too, so the answer "never" is asked for again. */
const IDLE_MS = 1000;
const RETRY_MS = 100;
/** The pause before a miner looks again whether a block is still on its way. */
const LOOK_MS = 20;

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
  'no-journal',
  'no-signer',
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

export class SlotMiner implements Miner {
  private readonly options: MinerOptions;
  private readonly ports: MinerPorts;
  private cancel = (): void => {};
  private forget = (): void => {};
  private producing: Promise<void> | undefined;
  private stopped: boolean;
  private current: MinerState;

  constructor(options: MinerOptions, ports: MinerPorts) {
    this.options = options;
    this.ports = ports;
    this.stopped = !options.enabled;
    this.current = this.stopped ? 'off' : 'idle';
  }

  state(): MinerState {
    return this.current;
  }

  start(): void {
    this.forget = this.ports.chain.onHead(() => this.plan());
    this.plan();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.current = 'off';
    this.cancel();
    this.forget();
    await this.producing;
  }

  private wait(ms: number, then = (): void => this.plan()): void {
    this.cancel();
    this.cancel = this.ports.clock.after(ms, then);
  }

  /** Logged once, however long it lasts. */
  private isHeldBy(missing: MissingPrecondition | undefined): boolean {
    if (missing === undefined) return false;
    const { state, fields, pauseMs } = missing;
    if (this.current !== state) this.ports.log.warn(`miner.${state}`, fields);
    this.current = state;
    this.wait(pauseMs);
    return true;
  }

  /**
   * Checked when the timer for a slot is set and again when the slot begins, because much time may
   * pass between.
   */
  private isReady(): boolean {
    const { clock, chain, lacksDisk, lacksJournal, lacksSigner, isRemovedFromNetwork } = this.ports;
    return (
      !this.stopped &&
      this.producing === undefined &&
      !this.isHeldBy(missingPart('no-disk', lacksDisk)) &&
      !this.isHeldBy(missingPart('no-journal', lacksJournal)) &&
      !this.isHeldBy(missingPart('no-signer', lacksSigner)) &&
      !this.isHeldBy(missingOnNode(clock, chain.tip(), this.staleTipMs(), isRemovedFromNetwork()))
    );
  }

  /** A block that was sealed before stands on its parent, however old that has become. */
  private staleTipMs(): number {
    const isUnfinished = this.ports.chain.unfinished.waits();
    return isUnfinished ? Number.POSITIVE_INFINITY : this.options.staleTipMs;
  }

  private plan(): void {
    if (!this.isReady()) return;
    const { chain, clock } = this.ports;
    if (chain.unfinished.waits()) {
      this.make(() => chain.unfinished.finish(), IDLE_MS);
      return;
    }
    const now = clock.now();
    const slot = freeSlot(chain, now);
    this.current = slot === undefined ? 'idle' : 'waiting';
    if (slot === undefined) this.wait(IDLE_MS);
    else if (startOf(slot) - now > PLANNED_MS_MAX) this.wait(PLANNED_MS_MAX);
    else if (startOf(slot) > now) this.wait(startOf(slot) - now, () => this.fire(slot));
    else this.begin(slot, now);
  }

  /** The slot has begun, if it still exists: the node may have fallen behind meanwhile. */
  private fire(armed: Slot): void {
    if (!this.isReady()) return;
    const { chain, clock } = this.ports;
    const now = clock.now();
    const slot = freeSlot(chain, now);
    const isThere = slot !== undefined && slot.until === armed.until && slot.from <= now;
    if (isThere && !chain.unfinished.waits()) this.begin(slot, now);
    else this.plan();
  }

  /**
   * A block on a head that is about to be replaced would be lost, and its turn with it. The new head
   * ends the wait, and so does the end of the arrival, whatever became of it.
   */
  private begin(slot: Slot, now: number): void {
    const { chain } = this.ports;
    const coming = chain.coming?.();
    const restMs = coming === undefined ? 0 : waitEnd(slot, coming) - now;
    if (restMs > 0) this.wait(Math.min(LOOK_MS, restMs), () => this.fire(slot));
    else this.make(() => chain.produceBlock(now, slot.until), RETRY_MS);
  }

  private make(block: () => Promise<void>, retryMs: number): void {
    const { log, chain, majority } = this.ports;
    const { quorum = majority(), noQuorumDelayMs } = this.options;
    const { height } = chain.tip();
    if (this.isHeldBy(missingOthers(this.ports, height, quorum, noQuorumDelayMs))) return;
    this.current = 'forging';
    this.producing = block().then(
      () => this.ended(() => this.plan()),
      (error: unknown) => {
        if (isOurs(error)) throw error;
        log.warn('miner.failed', { why: String(error) });
        this.ended(() => this.wait(isUnsigned(error) ? IDLE_MS : retryMs));
      },
    );
  }

  /** The new head has already called `plan`, while `producing` still blocked it. */
  private ended(then: () => void): void {
    this.producing = undefined;
    if (!this.stopped) then();
  }
}
