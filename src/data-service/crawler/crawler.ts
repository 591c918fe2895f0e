/**
 * The crawler: keeps the store equal to the chain of a node (data-service.md#crawler).
 *
 * Invariants: one crawler writes to a store at a time, which holds its lock, and also migrates under
 * it; the store always is a prefix of the chain that the node had at some moment; a crash loses at
 * most the batch that was being written. A failure of the node or of the store is waited out, while
 * the rest of the service works on.
 */

import { DatabaseError, type WriterLock } from '../../base/ports/database.ts';
import type { Random } from '../../base/ports/random.ts';
import { Alarm } from '../../concurrency/alarm.ts';
import { migrate, SchemaTooNew } from '../schema/migrate.ts';
import { allowReading, type ReaderRole } from '../schema/reader-role.ts';
import { reasonOf } from '../store-reason.ts';
import { type CrawlRange, type CrawlRangeDeps, crawlRange } from './crawl-range.ts';
import { gotOn } from './crawl-state.ts';
import { DeepReorganisation } from './find-ancestor.ts';
import { beginFirstLoad, endFirstLoad, isBulk } from './first-load.ts';
import { findJunction } from './junction.ts';
import { OtherNetwork, rememberNetwork } from './network.ts';
import { NodeAway, type NodeReader, TooMuch } from './node-reader.ts';
import type { BesideCrawl } from './refresh/beside-crawl.ts';
import { balanceRefresher } from './refresh/refresh-balances.ts';
import { finalRefresher } from './refresh/refresh-final.ts';
import { turnRefresher } from './refresh/refresh-turns.ts';
import { rollBack } from './remove-blocks.ts';
import { NotContinuous, readTip, type Tip, timeOf } from './store-end.ts';

export interface CrawlerOptions
  extends Pick<CrawlRange, 'concurrency' | 'batchBlocks' | 'batchTx'> {
  /** Blocks below the tip that are not stored yet; `final`: those above the final block. */
  readonly confirmations: number | 'final';
  readonly maxRollback: number;
  readonly pollMs: number;
  /** A first load without indexes, where the node is far ahead. */
  readonly bulk: boolean;
  readonly indexText: boolean;
  /** Made, and allowed to read, with the tables. */
  readonly reader?: ReaderRole | undefined;
  /** Waits while another crawler writes to the store, instead of ending. */
  readonly wait?: boolean | undefined;
}

export interface CrawlerDeps extends Omit<CrawlRangeDeps, 'assertLocked'> {
  readonly random: Random;
}

export interface Crawler {
  /** Rejects with OtherNetwork, AlreadyCrawled or DeepReorganisation: an operator must act. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** Another crawler writes to this store. */
export class AlreadyCrawled extends Error {
  override name = 'AlreadyCrawled';

  constructor() {
    super('another crawler writes to this database');
  }
}

/** The tables cannot be made or brought up to date. */
export class NotMigrated extends Error {
  override name = 'NotMigrated';
}

/** The lock of the store is gone; another crawler may have it. */
class LockLost extends Error {
  override name = 'LockLost';
}

const BULK_BLOCKS_MIN = 10_000;
const BULK_TXS_MIN = 10_000;
const NEAR_TIP = 10;
const BACK_OFF_MS = 500;
const BACK_OFF_MS_MAX = 30_000;

export const startCrawler = (options: CrawlerOptions, deps: CrawlerDeps): Crawler =>
  new RunningCrawler(options, deps);

class RunningCrawler implements Crawler {
  readonly ended: Promise<void>;
  private readonly options: CrawlerOptions;
  private readonly deps: CrawlerDeps;
  private readonly beside: BesideCrawl;
  private readonly stopping = new AbortController();
  private lock: WriterLock | undefined;
  private wasHeld = false;
  private failures = 0;
  private readonly alarm: Alarm;

  constructor(options: CrawlerOptions, deps: CrawlerDeps) {
    this.options = options;
    this.deps = deps;
    this.alarm = new Alarm(deps.clock);
    const [refreshTurns, refreshBalances] = [turnRefresher(deps), balanceRefresher(deps)];
    const refreshFinal = finalRefresher(deps);
    // In this order, the balances also where turns are left.
    this.beside = async (pass) => {
      await refreshFinal(pass);
      const isLeft = await refreshTurns(pass);
      return (await refreshBalances(pass)) || isLeft;
    };
    this.ended = this.run();
    this.ended.catch((cause: Error) => {
      deps.state.lastError = cause.message;
      deps.state.stopped = shownReason(cause);
    });
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.deps.node.stop();
    this.alarm.ring();
    await this.ended.catch(() => undefined);
  }

  private async run(): Promise<void> {
    try {
      while (!this.stopping.signal.aborted) {
        try {
          await this.turn();
        } catch (cause) {
          if (isFinal(cause)) throw cause;
          await this.failed(cause);
        }
      }
    } finally {
      await this.release();
    }
  }

  private async turn(): Promise<void> {
    const { options, deps, beside } = this;
    const { state } = deps;
    this.lock ??= await takeOver(options, deps, this.wasHeld);
    const { lock } = this;
    if (lock === undefined) {
      gotOn(state);
      if (this.wasHeld) state.lastError = new AlreadyCrawled().message;
      return this.alarm.wait(options.pollMs);
    }
    this.wasHeld = true;
    const busy = await crawlOnce(options, { lock, beside }, deps, this.stopping.signal);
    this.failures = 0;
    gotOn(state);
    if (!busy) await this.alarm.wait(jittered(options.pollMs, deps.random));
  }

  private async failed(cause: unknown): Promise<void> {
    const { state, log } = this.deps;
    // The stop itself ends what was asked of the node.
    if (this.stopping.signal.aborted) return;
    // The lock has nothing to do with the node.
    if (!(cause instanceof NodeAway)) await this.release();
    state.lastError = reasonOf(cause);
    state.failing = true;
    const waitMs = Math.min(BACK_OFF_MS * 2 ** this.failures++, BACK_OFF_MS_MAX);
    if (!(cause instanceof NotContinuous)) {
      log.warn('crawl.failed', { why: state.lastError, kind: kindOf(cause), waitMs });
    }
    await this.alarm.wait(waitMs);
  }

  private async release(): Promise<void> {
    await this.lock?.release().catch(() => undefined);
    this.lock = undefined;
  }
}

const kindOf = (cause: unknown): string =>
  cause instanceof DatabaseError
    ? `database-${cause.failure}`
    : cause instanceof NodeAway
      ? 'node'
      : cause instanceof LockLost
        ? 'database-lock'
        : 'other';

const isUnstorable = (cause: unknown): cause is DatabaseError =>
  cause instanceof DatabaseError && cause.failure === 'unstorable';

const isLasting = (cause: unknown): boolean =>
  cause instanceof DatabaseError && (cause.failure === 'other' || cause.failure === 'denied');

const isFinal = (cause: unknown): boolean =>
  cause instanceof OtherNetwork ||
  cause instanceof AlreadyCrawled ||
  cause instanceof NotMigrated ||
  cause instanceof SchemaTooNew ||
  cause instanceof DeepReorganisation;

/** Anybody may read it, so it has no text of the database, which may name hosts and roles. */
const shownReason = (cause: Error): string =>
  cause instanceof NotMigrated
    ? 'the tables of the database cannot be made or brought up to date: the log says why'
    : cause.message;

/** Several crawlers of one node must not ask it in step. */
function jittered(ms: number, random: Random): number {
  const [byte = 128] = random.bytes(1);
  return Math.round(ms * (0.9 + (byte / 255) * 0.2));
}

/**
 * The lock of a store with all tables; undefined while another crawler has it. `wasHeld` by this one:
 * the server may take a while to see that the connection is gone that held it.
 */
async function takeOver(
  options: CrawlerOptions,
  { db }: CrawlerDeps,
  wasHeld: boolean,
): Promise<WriterLock | undefined> {
  const lock = await db.lock();
  if (lock === undefined) {
    if (options.wait !== true && !wasHeld) throw new AlreadyCrawled();
    return undefined;
  }
  try {
    await migrate(db, options);
    if (options.reader !== undefined && !wasHeld) await allowReading(db, options.reader);
    return lock;
  } catch (cause) {
    await lock.release().catch(() => undefined);
    throw isLasting(cause) ? new NotMigrated(reasonOf(cause), { cause }) : cause;
  }
}

interface Held {
  readonly lock: WriterLock;
  readonly beside: BesideCrawl;
}

/** True where more is to do at once. */
async function crawlOnce(
  options: CrawlerOptions,
  { lock, beside }: Held,
  deps: CrawlerDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const { db, state } = deps;
  const assertLocked = (): void => {
    if (lock.isLost()) throw new LockLost('the lock of the database is lost');
  };
  assertLocked();
  const tip = await readTip(db);
  state.height = tip.height;
  if (state.lastBlock === 0) state.lastBlock = await timeOf(db, tip);
  state.bulk = await isBulk(db);
  const junction = await findJunction(db, deps.node, tip, options.maxRollback);
  if (junction === undefined) return false;
  // All that this pass reads comes from one node.
  const { node, after, nodeHeight } = junction;
  const pass = { node, nodes: deps.node.each().length, assertLocked };
  await rememberNetwork(db, node);
  state.nodeHeight = nodeHeight;
  const { confirmations } = options;
  const target = confirmations === 'final' ? await node.finalHeight() : nodeHeight - confirmations;
  const replaced = after.height < tip.height ? tip : undefined;
  if (replaced !== undefined) reportReorganisation(tip, after, deps);
  if (target <= after.height) {
    assertLocked();
    if (replaced !== undefined) {
      const removed = deps.meter.removing();
      await rollBack(db, after.height, deps.clock.now(), replaced);
      removed();
    }
    if (state.bulk) await finishFirstLoad(options, deps, assertLocked);
    return beside(pass);
  }
  if (tip.height === 0 && options.bulk && (await isLong(target, node))) {
    assertLocked();
    await beginFirstLoad(db, options);
    state.bulk = true;
  }
  const before = state.blocks;
  const range = { ...options, after, replaced, to: target };
  await crawlRange(range, { ...deps, node, assertLocked }, signal).catch((cause: unknown) => {
    if (isUnstorable(cause)) node.leave(`the store refuses its blocks: ${cause.message}`);
    throw cause;
  });
  if (signal.aborted) return false;
  if (state.blocks === before) {
    // Without a pause such a node would be asked again and again.
    node.leave(`it gives no block that follows block ${after.height}`);
    return false;
  }
  if (target - state.height <= NEAR_TIP && !state.bulk) await beside(pass);
  return true;
}

/** Many blocks, or few with many transactions. */
async function isLong(target: number, node: NodeReader): Promise<boolean> {
  if (target >= BULK_BLOCKS_MIN) return true;
  const last = await node.blocks(Math.max(1, target - 9), target).catch((cause: unknown) => {
    if (cause instanceof TooMuch) return undefined;
    throw cause;
  });
  // Blocks of which no answer holds ten.
  if (last === undefined) return true;
  const { blocks } = last;
  const txs = blocks.reduce((sum, { transactions }) => sum + transactions.length, 0);
  return (txs / Math.max(1, blocks.length)) * target >= BULK_TXS_MIN;
}

function reportReorganisation(tip: Tip, after: Tip, { state, meter, log }: CrawlerDeps): void {
  const depth = tip.height - after.height;
  state.reorganisations++;
  meter.reorganised(depth);
  log.info('crawl.reorganised', { from: tip.height, to: after.height, depth });
}

async function finishFirstLoad(
  options: CrawlerOptions,
  { db, state, log }: CrawlerDeps,
  assertLocked: () => void,
): Promise<void> {
  let isFirst = true;
  const building = (name: string): void => {
    // The one before it is there. An earlier pass may have failed at the first of them.
    if (!isFirst) gotOn(state);
    isFirst = false;
    state.step = `building index ${name}`;
    log.info('crawl.index', { name });
  };
  try {
    await endFirstLoad(db, options, building, assertLocked);
  } finally {
    state.step = undefined;
  }
  state.bulk = false;
}
