/**
 * Follows the peer with the best chain (network.md#sync): its blocks are downloaded (download.ts)
 * and applied in portions; the signatures of the next ones are checked meanwhile.
 *
 * Invariants: one run at a time; blocks are applied in order, from any sender, and the sender of a
 * forged block is penalised; a peer that does not answer is followed after all others for five
 * minutes; a peer that announces a better chain than it has, or stalls (stall-detector.ts), is
 * ignored for that time; what is in flight is bounded; only adopted blocks, never announcements,
 * make this node believe that it is far behind.
 */
import { unlessOurs } from '../../base/assert.ts';
import { equal } from '../../base/bytes.ts';
import type { Clock, Log } from '../../base/ports.ts';
import { type Block, blockId } from '../../block/block.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import type { CheckedBlock, ForkChoice, Verdict } from '../../chain/fork-choice.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import type { Session, Sessions } from '../sessions/session.ts';
import { createDownload, GivenUp, read } from './download.ts';
import type { PeerHead, PeerHeads } from './peer-heads.ts';
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

/** Blocks whose signatures are checked, and which are applied and written, together. */
const PORTION_BLOCKS = 50;
const PORTION_TRANSACTIONS = 10_000;
/** Even over a slow line a portion arrives well before its peer counts as stalled. */
const PORTION_BYTES = 2 * 1024 * 1024;
/** Portions being checked while one is applied. */
const PORTIONS_AHEAD = 2;
/** A branch that is not better yet waits in memory until it is. */
const BRANCH_BLOCKS_MAX = 1_000;
const BRANCH_BYTES_MAX = 256 * 1024 * 1024;
/** Lets an announced block arrive by itself before it is asked for. */
const ANNOUNCEMENT_WAIT_MS = 500;
/** Before a better chain that could not be taken is tried again. */
const RETRY_MS = 2_000;
/** Peers whose chain cannot be taken at present, in one run; the others may do better. */
const SET_ASIDE_MAX = 3;

/** A block on its way into the chain, and who sent it. */
interface Fetched extends CheckedBlock {
  readonly session: Session;
}

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
    let branch: Fetched[] = [];

    async function adopt(portion: readonly Fetched[]): Promise<void> {
      branch.push(...portion);
      requireBounded(branch);
      const verdict = await forkChoice.adopt(branch);
      requireRunning();
      missing = Math.max(0, missing - portion.length);
      if (verdict.kind === 'not-better') return;
      if (verdict.kind === 'unknown-parent') watch.unusable();
      requireAdopted(verdict, branch, target);
      if (verdict.kind === 'adopted') watch.adopted(branch.length);
      branch = [];
    }

    for await (const portion of withLead(portions(target, left), PORTIONS_AHEAD)) {
      await adopt(portion);
    }
    if (isTie) heads.markLostTie(target);
    else if (blockchain.tip().score < target.score) {
      const hasRolledBack = heads.hasRolledBack(target);
      if (hasRolledBack) watch.rolledBack();
      const why = 'a score without the blocks for it';
      throw new GivenUp(why, hasRolledBack ? 'elsewhere' : 'blamed');
    }
  }

  function requireRunning(): void {
    if (stopped) throw new GivenUp('the node stops', 'later');
  }

  /** The blocks in order, with their signatures being checked. */
  async function* portions(target: PeerHead, left: AbortSignal): AsyncGenerator<Fetched[]> {
    let portion: Fetched[] = [];
    let transactions = 0;
    let bytes = 0;
    try {
      for await (const { block, session } of download.blocks(target, left)) {
        portion.push(await check(block, session));
        transactions += block.transactions.length;
        bytes += block.bytes.length;
        const isSmall = transactions < PORTION_TRANSACTIONS && bytes < PORTION_BYTES;
        if (portion.length < PORTION_BLOCKS && isSmall) continue;
        yield portion;
        portion = [];
        transactions = 0;
        bytes = 0;
      }
    } catch (cause) {
      // What came before is good all the same.
      if (portion.length > 0) yield portion;
      throw cause;
    }
    if (portion.length > 0) yield portion;
  }

  async function check(block: Block, session: Session): Promise<Fetched> {
    const checked = await forkChoice.check(block).catch((error) =>
      read(session, (): never => {
        throw error;
      }),
    );
    return { ...checked, session };
  }

  function requireBounded(branch: readonly CheckedBlock[]): void {
    const bytes = branch.reduce((sum, { block }) => sum + block.bytes.length, 0);
    if (branch.length <= BRANCH_BLOCKS_MAX && bytes <= BRANCH_BYTES_MAX) return;
    throw new GivenUp('a long branch that is not better', 'blamed');
  }

  function requireAdopted(verdict: Verdict, branch: readonly Fetched[], target: PeerHead): void {
    switch (verdict.kind) {
      case 'adopted':
      case 'known':
        return;
      case 'invalid': {
        const { id, error, isForged } = verdict;
        // A forgery says nothing about the chain; a signed block that breaks a rule is part of it.
        const sender = branch.find(({ block }) => equal(blockId(block), id))?.session;
        const culprit = isForged && sender !== undefined ? sender : target.session;
        culprit.offend('invalid-block', error.message);
        throw new GivenUp(error.message, 'blamed', culprit);
      }
      case 'too-deep':
        heads.ignore(target.session);
        throw new GivenUp('a fork deeper than max-rollback', 'later');
      default:
        // Its time may come, or our own head has moved meanwhile.
        throw new GivenUp(verdict.kind, 'later');
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

/**
 * The same items, each handed out when `count` more have come, so that those are being worked on
 * meanwhile. What came before a failure is handed out before it.
 */
async function* withLead<T>(source: AsyncIterable<T>, count: number): AsyncGenerator<T> {
  const ahead: T[] = [];
  let failure: { readonly cause: unknown } | undefined;
  try {
    for await (const item of source) {
      ahead.push(item);
      if (ahead.length > count) yield ahead.shift()!;
    }
  } catch (cause) {
    failure = { cause };
  }
  yield* ahead;
  if (failure !== undefined) throw failure.cause;
}
