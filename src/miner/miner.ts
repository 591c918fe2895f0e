/**
 * Makes blocks when this node has the turn (consensus.md#proof-of-stake "Miner loop",
 * consensus.md#making-a-block-under-proof-of-authority).
 *
 * Consensus calculates the next slot of the owner, and one timer waits for it. A new head cancels
 * the timer and asks again, so a slot is never used on a parent that is no longer the head.
 */
import { isOurs } from '../base/assert.ts';
import type { Clock, Log, LogFields } from '../base/ports.ts';
import type { Slot } from '../consensus/consensus.ts';

export interface MinerOptions {
  readonly enabled: boolean;
  /** The number of connected miners below which no block is made. */
  readonly quorum: number;
  /** The pause before the quorum is checked again. */
  readonly noQuorumDelayMs: number;
  /** No block is made on a head older than this, since the node is then probably behind. */
  readonly staleTipMs: number;
}

export interface MinerPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly chain: {
    readonly tip: () => { readonly height: number; readonly timestamp: number };
    /** The first slot of the owner at or after `now` on the current head. */
    readonly nextSlot: (now: number) => Slot | undefined;
    /** True where this node has already made a block in the turn of that slot. */
    readonly isUsed: (slot: Slot) => boolean;
    /**
     * Packs until `deadline`, signs and commits a block; throws ApiError where the state refuses
     * it.
     */
    readonly forge: (timestamp: number, deadline: number) => Promise<void>;
    readonly onHead: (listener: () => void) => () => void;
  };
  readonly connectedMiners: () => number;
}

/** Time for the last version of the previous block to arrive before the round is used. */
const GRACE_MS_MAX = 200;
const GRACE_SHARE = 20;
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
  'stale-tip',
  'no-quorum',
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
  let forging: Promise<void> | undefined;
  let stopped = !options.enabled;
  let state: MinerState = stopped ? 'off' : 'idle';
  let forget = (): void => {};

  function wait(ms: number, then: () => void = plan): void {
    cancel();
    cancel = clock.after(ms, then);
  }

  /** Logged once, however long it lasts. */
  function hold(reason: 'no-time' | 'stale-tip', fields?: LogFields): void {
    if (state !== reason) log.warn(`miner.${reason}`, fields);
    state = reason;
    wait(IDLE_MS);
  }

  /**
   * Checked when the timer for a slot is set and again when the slot begins, because much time may
   * pass between.
   */
  function isHeld(now: number): boolean {
    if (!clock.synchronized()) {
      hold('no-time');
      return true;
    }
    const tip = chain.tip();
    if (tip.height === 1 || now - tip.timestamp <= options.staleTipMs) return false;
    hold('stale-tip', { height: tip.height });
    return true;
  }

  function plan(): void {
    if (stopped || forging !== undefined) return;
    const now = clock.now();
    if (isHeld(now)) return;
    const slot = freeSlot(now);
    state = slot === undefined ? 'idle' : 'waiting';
    if (slot === undefined) {
      wait(IDLE_MS);
      return;
    }
    const length = Number.isFinite(slot.until) ? slot.until - slot.from : 0;
    const start = slot.from + Math.min(GRACE_MS_MAX, Math.floor(length / GRACE_SHARE));
    if (start > now) wait(start - now, () => fire(slot));
    else forge(now, slot.until);
  }

  /**
   * A second block in a turn would be an equivocation, even where the first one lost the fork
   * choice (consensus.md#making-a-block-under-proof-of-authority).
   */
  function freeSlot(now: number): Slot | undefined {
    let slot = chain.nextSlot(now);
    while (slot !== undefined && chain.isUsed(slot)) {
      if (!Number.isFinite(slot.until)) return undefined;
      slot = chain.nextSlot(slot.until);
    }
    return slot;
  }

  /** The slot has begun, if it still exists: the node may have fallen behind meanwhile. */
  function fire(armed: Slot): void {
    if (stopped || forging !== undefined) return;
    const now = clock.now();
    if (isHeld(now)) return;
    const slot = freeSlot(now);
    if (slot !== undefined && slot.until === armed.until && slot.from <= now)
      forge(now, slot.until);
    else plan();
  }

  function forge(now: number, deadline: number): void {
    const connected = ports.connectedMiners();
    if (connected < options.quorum) {
      state = 'no-quorum';
      log.warn('miner.no-quorum', {
        why: `Quorum not available '${connected}/${options.quorum}', not forging block`,
      });
      wait(options.noQuorumDelayMs);
      return;
    }
    state = 'forging';
    forging = chain.forge(now, deadline).then(
      () => ended(plan),
      (error: unknown) => {
        if (isOurs(error)) throw error;
        log.warn('miner.failed', { why: String(error) });
        ended(() => wait(RETRY_MS));
      },
    );
  }

  /** The new head has already called `plan`, while `forging` still blocked it. */
  function ended(then: () => void): void {
    forging = undefined;
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
      await forging;
    },
  };
}
