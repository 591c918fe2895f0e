/**
 * Follows the peer with the best chain (network.md#sync): its blocks are downloaded (download.ts)
 * and applied in portions (portions.ts, adopt-branch.ts); the signatures of the next ones are
 * checked meanwhile.
 *
 * Invariants: one run at a time; a peer that does not answer is followed after all others for five
 * minutes; a peer that announces a better chain than it has, or stalls (stall-detector.ts), is
 * ignored for that time; what is in flight is bounded; only adopted blocks, never announcements,
 * make this node believe that it is far behind.
 */
import { unlessOurs } from '../../base/assert.ts';
import type { Clock, Log } from '../../base/ports.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import type { ForkChoice, Verdict } from '../../chain/fork-choice.ts';
import type { CheckedBlock } from '../../chain/verify-block.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import type { Session, Sessions } from '../sessions/session.ts';
import { Branch, type Fetched } from './adopt-branch.ts';
import { createDownload } from './download.ts';
import { GivenUp, read } from './given-up.ts';
import type { PeerHead, PeerHeads } from './peer-heads.ts';
import { portionsOf, withLead } from './portions.ts';
import { createStallDetector, IDLE_MS_MAX, type StallWatch } from './stall-detector.ts';

export interface SyncOptions {
  readonly rollbackMax: number;
  /** `extension-batch-size`: who misses more than that is far behind. */
  readonly batch: number;
  readonly timeoutMs: number;
  readonly transactionBytesMax: number;
}

export interface SyncPorts {
  readonly scheme: ChainScheme;
  readonly blockchain: Blockchain;
  readonly forkChoice: ForkChoice;
  readonly heads: PeerHeads;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly log: Log;
}

export const SYNC_STATES = ['idle', 'following', 'far-behind'] as const;
export type SyncState = (typeof SYNC_STATES)[number];

export interface Sync {
  /** Looks for a better chain now. */
  wake(): void;
  /** True while more than one batch is missing and blocks come in: no mining, no relay. */
  isFarBehind(): boolean;
  state(): SyncState;
  /** Announced blocks of the followed peer that this node does not have. */
  missing(): number;
  stop(): Promise<void>;
}

/** Portions being checked while one is applied. */
const PORTIONS_AHEAD = 2;
/** Lets an announced block arrive by itself before it is asked for. */
const ANNOUNCEMENT_WAIT_MS = 500;
/** Before a better chain that could not be taken is tried again. */
const RETRY_MS = 2_000;
/** Peers whose chain cannot be taken at present, in one run; the others may do better. */
const SET_ASIDE_MAX = 3;

export function createSync(options: SyncOptions, ports: SyncPorts): Sync {
  const { blockchain, forkChoice, heads, sessions, clock, log } = ports;
  let running: Promise<void> | undefined;
  let missing = 0;
  let stopped = false;
  let cancelWake: (() => void) | undefined;
  const stalls = createStallDetector(clock);
  const download = createDownload(
    {
      ...options,
      onPlanned(count) {
        missing += count;
      },
    },
    { ...ports, invalid: forkChoice.invalid },
  );
  heads.onHead(({ height, score }) => {
    const tip = blockchain.tip();
    if (score < tip.score || running !== undefined) return;
    if (height > tip.height + 1) wake();
    else wakeLater();
  });

  function wakeLater(ms = ANNOUNCEMENT_WAIT_MS): void {
    cancelWake ??= clock.after(ms, () => {
      cancelWake = undefined;
      wake();
    });
  }

  function wake(): void {
    if (stopped || running !== undefined || heads.best() === undefined) return;
    running = run()
      .catch(unlessOurs((error) => log.error('sync.failed', { why: String(error) })))
      .then(() => {
        running = undefined;
        missing = 0;
        if (!stopped && heads.best() !== undefined) wakeLater(RETRY_MS);
      });
  }

  async function run(): Promise<void> {
    const setAside = new Set<Session>();
    for (;;) {
      const target = heads.best(setAside);
      if (stopped || target === undefined || setAside.size >= SET_ASIDE_MAX) return;
      try {
        await follow(target);
      } catch (error) {
        if (!(error instanceof GivenUp)) throw error;
        log.warn('sync.given-up', { peer: target.session.nodeName, why: error.message });
        if (error.reason === 'later') setAside.add(target.session);
        if (error.reason === 'blamed') blame(error.culprit ?? target.session, error.message);
      }
    }
  }

  function blame(culprit: Session, why: string): void {
    heads.ignore(culprit);
    // What was an offence of its own has closed the session already.
    if (isOpen(culprit)) culprit.offend('unanswered-request', why);
  }

  const isOpen = (session: Session): boolean => sessions.of(session.owner) === session;

  async function follow(target: PeerHead): Promise<void> {
    missing = 0;
    const leaving = new AbortController();
    const watch = stalls.watch(target.session.owner, () => {
      heads.ignore(target.session);
      leaving.abort(`no block that could be adopted in ${IDLE_MS_MAX / 1000} s`);
    });
    try {
      await take(target, watch, leaving.signal);
    } finally {
      watch.end();
      leaving.abort('the peer is no longer followed');
    }
  }

  async function take(target: PeerHead, watch: StallWatch, left: AbortSignal): Promise<void> {
    const isTie = target.score === blockchain.tip().score;
    const branch = new Branch(target.session, { adopt, heads, watch });
    const portions = portionsOf(checkedBlocks(target, left));
    for await (const portion of withLead(portions, PORTIONS_AHEAD)) {
      await branch.extend(portion);
      missing = Math.max(0, missing - portion.length);
    }
    if (isTie) heads.markLostTie(target);
    else if (blockchain.tip().score < target.score) {
      const hasRolledBack = heads.hasRolledBack(target);
      if (hasRolledBack) watch.rolledBack();
      const why = 'a score without the blocks for it';
      throw new GivenUp(why, hasRolledBack ? 'elsewhere' : 'blamed');
    }
  }

  async function adopt(branch: readonly CheckedBlock[]): Promise<Verdict> {
    const verdict = await forkChoice.adopt(branch);
    if (stopped) throw new GivenUp('the node stops', 'later');
    return verdict;
  }

  /** The blocks in order, with their signatures being checked. */
  async function* checkedBlocks(target: PeerHead, left: AbortSignal): AsyncGenerator<Fetched> {
    for await (const { block, session } of download.blocks(target, left)) {
      const checked = await forkChoice.check(block).catch((error) =>
        read(session, (): never => {
          throw error;
        }),
      );
      yield { ...checked, session };
    }
  }

  /** Announced ids and scores prove nothing; recently adopted blocks prove that more exist. */
  const isFarBehind = (): boolean =>
    missing > options.batch && stalls.recentlyAdopted() > options.batch;

  return {
    wake,
    isFarBehind,
    state: () => (isFarBehind() ? 'far-behind' : running === undefined ? 'idle' : 'following'),
    missing: () => missing,
    async stop() {
      stopped = true;
      download.stop();
      cancelWake?.();
      await running;
    },
  };
}
