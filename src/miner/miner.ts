/**
 * Makes blocks when it is this node's turn (protocol.md §3 "Miner loop", §4.9).
 *
 * The consensus names the next slot of the owner; one timer waits for it. A new tip cancels the
 * timer and asks again, so a slot is never used on a parent that is no longer the head.
 */
import { ApiError } from '../base/errors.ts';
import type { Clock, Log, LogFields } from '../base/ports.ts';
import { Recent } from '../base/recent.ts';
import type { Slot } from '../consensus/consensus.ts';

export interface MinerOptions {
  readonly enabled: boolean;
  /** Connected miners without whom no block is made. */
  readonly quorum: number;
  /** Pause before the quorum is looked at again. */
  readonly noQuorumDelayMs: number;
  /** No block on a tip older than this, since the node is probably behind. */
  readonly staleTipMs: number;
}

export interface MinerPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly chain: {
    readonly tip: () => { readonly height: number; readonly timestamp: number };
    /** The first slot of the owner at or after `now` on the present head. */
    readonly nextSlot: (now: number) => Slot | undefined;
    /** Packs, signs and commits a block; throws ApiError where the state refuses it. */
    readonly forge: (timestamp: number) => Promise<void>;
    readonly onHead: (listener: () => void) => () => void;
  };
  readonly connectedMiners: () => number;
}

/** Lets the last version of the previous block arrive before the round is used. */
const GRACE_MS_MAX = 200;
const GRACE_SHARE = 20;
/** Roles and bans change with time too, so the answer "never" is asked for again. */
const IDLE_MS = 1000;
const RETRY_MS = 100;
/** More turns than one node has in a day of rounds of a minute. */
const TAKEN_MAX = 1_500;

export const MINER_STATES = [
  /** Switched off, or stopped. */
  'off',
  /** The consensus has no slot for this node. */
  'idle',
  'waiting',
  'forging',
  /** What holds it back. */
  'no-time',
  'stale-tip',
  'no-quorum',
] as const;

export type MinerState = (typeof MINER_STATES)[number];

export interface Miner {
  state(): MinerState;
  stop(): Promise<void>;
}

export function createMiner(options: MinerOptions, ports: MinerPorts): Miner {
  const { clock, log, chain } = ports;
  let cancel = (): void => {};
  let forging: Promise<void> | undefined;
  /**
   * Turns in which a block was made, by their ends. Not only the last one: a clock that was ahead
   * has used turns that are still to come, and those before them are good.
   */
  const taken = new Recent<number, true>(TAKEN_MAX);
  let stopped = !options.enabled;
  let state: MinerState = stopped ? 'off' : 'idle';
  const forget = chain.onHead(plan);
  plan();

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

  function plan(): void {
    if (stopped || forging !== undefined) return;
    const now = clock.now();
    if (!clock.synchronized()) {
      hold('no-time');
      return;
    }
    const tip = chain.tip();
    if (tip.height > 1 && now - tip.timestamp > options.staleTipMs) {
      hold('stale-tip', { height: tip.height });
      return;
    }
    const slot = freeSlot(now);
    state = slot === undefined ? 'idle' : 'waiting';
    if (slot === undefined) {
      wait(IDLE_MS);
      return;
    }
    const length = Number.isFinite(slot.until) ? slot.until - slot.from : 0;
    const start = slot.from + Math.min(GRACE_MS_MAX, Math.floor(length / GRACE_SHARE));
    if (start > now) wait(start - now, () => forge(slot));
    else forge(slot);
  }

  /** A second block in a turn would be an equivocation, even where the first one lost (§4.9). */
  function freeSlot(now: number): Slot | undefined {
    let slot = chain.nextSlot(now);
    while (slot !== undefined && taken.get(slot.until) === true) slot = chain.nextSlot(slot.until);
    return slot;
  }

  function forge(slot: Slot): void {
    if (stopped) return;
    const now = clock.now();
    // The time source may have gone silent during the wait.
    if (!clock.synchronized()) {
      plan();
      return;
    }
    if (now < slot.from || now >= slot.until) {
      wait(now < slot.from ? slot.from - now : 0);
      return;
    }
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
    forging = chain
      .forge(now)
      .then(() => {
        if (Number.isFinite(slot.until)) taken.set(slot.until, true);
      })
      .catch((error: unknown) => {
        // Anything but a refusal means that the node itself is wrong, and ends it.
        if (!(error instanceof ApiError)) throw error;
        log.warn('miner.failed', { why: error.message });
      })
      .then(() => {
        forging = undefined;
        // The new head has called `plan` already, while `forging` still held it back.
        wait(RETRY_MS, plan);
        plan();
      });
  }

  return {
    state: () => state,
    async stop() {
      stopped = true;
      state = 'off';
      cancel();
      forget();
      await forging;
    },
  };
}
