/**
 * Follows the peer with the best chain (protocol.md §10.6): its blocks are downloaded (download.ts)
 * and applied in portions; the signatures of the next ones are checked meanwhile.
 *
 * Invariants: one run at a time; blocks are applied in order, whoever sent them; who does not answer
 * at all is followed after all others for five minutes, and who promises a better chain than it has
 * not at all; what is in flight is bounded.
 */
import type { Clock, Log } from '../base/ports.ts';
import type { Block } from '../block/block.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import type { CheckedBlock, ForkChoice, Verdict } from '../chain/fork-choice.ts';
import type { Chain } from '../codec/codec.ts';
import { createDownload, GivenUp, read } from './download.ts';
import type { PeerHead, PeerHeads } from './peer-heads.ts';
import type { Session, Sessions } from './session.ts';

export interface SyncOptions {
  readonly rollbackMax: number;
  /** `extension-batch-size`: who misses more than that is far behind. */
  readonly batch: number;
  readonly timeoutMs: number;
  readonly transactionBytesMax: number;
}

export interface SyncPorts {
  readonly chain: Chain;
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
  /** True while more than one batch is missing: no mining, no relay (§10.6). */
  isFarBehind(): boolean;
  state(): SyncState;
  /** Blocks that the peer followed has told of and this node has not got. */
  missing(): number;
  stop(): Promise<void>;
}

/** Blocks whose signatures are checked, and which are applied and written, together. */
const PORTION_BLOCKS = 50;
const PORTION_TRANSACTIONS = 10_000;
/** Portions being checked while one is applied. */
const PORTIONS_AHEAD = 2;
/** A branch that is not better yet waits in memory until it is. */
const BRANCH_BLOCKS_MAX = 1_000;
const BRANCH_BYTES_MAX = 256 * 1024 * 1024;
/** Lets an announced block arrive by itself before it is asked for. */
const PATIENCE_MS = 500;
/** Before a better chain that could not be taken is tried again. */
const RETRY_MS = 2_000;

export function createSync(options: SyncOptions, ports: SyncPorts): Sync {
  const { blockchain, forkChoice, heads, sessions, clock, log } = ports;
  let running: Promise<void> | undefined;
  let missing = 0;
  let stopped = false;
  let cancelWake: (() => void) | undefined;
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

  function wakeLater(ms = PATIENCE_MS): void {
    cancelWake ??= clock.after(ms, () => {
      cancelWake = undefined;
      wake();
    });
  }

  function wake(): void {
    if (stopped || running !== undefined || heads.best() === undefined) return;
    running = run()
      .catch((error: unknown) => log.error('sync.failed', { why: String(error) }))
      .then(() => {
        running = undefined;
        missing = 0;
        if (!stopped && heads.best() !== undefined) wakeLater(RETRY_MS);
      });
  }

  async function run(): Promise<void> {
    for (let target = heads.best(); target !== undefined; target = heads.best()) {
      if (stopped) return;
      try {
        await follow(target);
      } catch (error) {
        if (!(error instanceof GivenUp)) throw error;
        log.warn('sync.given-up', { peer: target.session.nodeName, why: error.message });
        if (error.reason === 'later') return;
        if (error.reason === 'elsewhere') continue;
        heads.ignore(target.session);
        // What was an offence of its own has closed the session already.
        if (isOpen(target.session)) target.session.offend('unanswered-request', error.message);
      }
    }
  }

  const isOpen = (session: Session): boolean => sessions.of(session.owner) === session;

  async function follow(target: PeerHead): Promise<void> {
    missing = 0;
    const isTie = target.score === blockchain.tip().score;
    let branch: CheckedBlock[] = [];

    async function adopt(portion: readonly CheckedBlock[]): Promise<void> {
      branch.push(...portion);
      requireBounded(branch);
      const verdict = await forkChoice.adopt(branch);
      requireRunning();
      missing = Math.max(0, missing - portion.length);
      if (verdict.kind === 'not-better') return;
      requireAdopted(verdict, target);
      branch = [];
    }

    for await (const portion of withLead(portions(target), PORTIONS_AHEAD)) await adopt(portion);
    if (isTie) heads.dismiss(target);
    else if (blockchain.tip().score < target.score) {
      const why = 'a score without the blocks for it';
      throw new GivenUp(why, heads.isTakenBack(target) ? 'elsewhere' : 'blamed');
    }
  }

  function requireRunning(): void {
    if (stopped) throw new GivenUp('the node stops', 'later');
  }

  /** The blocks in order, with their signatures being checked. */
  async function* portions(target: PeerHead): AsyncGenerator<CheckedBlock[]> {
    let portion: CheckedBlock[] = [];
    let transactions = 0;
    try {
      for await (const { block, session } of download.blocks(target)) {
        portion.push(await check(block, session));
        transactions += block.transactions.length;
        if (portion.length < PORTION_BLOCKS && transactions < PORTION_TRANSACTIONS) continue;
        yield portion;
        portion = [];
        transactions = 0;
      }
    } catch (cause) {
      // What came before is good all the same.
      if (portion.length > 0) yield portion;
      throw cause;
    }
    if (portion.length > 0) yield portion;
  }

  async function check(block: Block, session: Session): Promise<CheckedBlock> {
    return forkChoice.check(block).catch((error) =>
      read(session, (): never => {
        throw error;
      }),
    );
  }

  function requireBounded(branch: readonly CheckedBlock[]): void {
    const bytes = branch.reduce((sum, { block }) => sum + block.bytes.length, 0);
    if (branch.length <= BRANCH_BLOCKS_MAX && bytes <= BRANCH_BYTES_MAX) return;
    throw new GivenUp('a long branch that is not better', 'blamed');
  }

  function requireAdopted(verdict: Verdict, target: PeerHead): void {
    switch (verdict.kind) {
      case 'adopted':
      case 'known':
        return;
      case 'invalid':
        target.session.offend('invalid-block', verdict.error.message);
        throw new GivenUp(verdict.error.message, 'blamed');
      case 'too-deep':
        heads.ignore(target.session);
        throw new GivenUp('a fork deeper than max-rollback', 'later');
      default:
        // Its time may come, or our own head has moved meanwhile.
        throw new GivenUp(verdict.kind, 'later');
    }
  }

  const isFarBehind = (): boolean => missing > options.batch;

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
