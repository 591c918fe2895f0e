/**
 * Follows the peer with the best chain (protocol.md §10.6): ids after the last common block, then
 * blocks, several requests ahead of the one being applied and from several peers.
 *
 * Invariants: one run at a time; blocks are applied in order, whoever sent them; a request ends by
 * its time-out; who lets others wait for longer than a few seconds holds up nobody as long as
 * another peer can take over; who does not answer at all is followed after all others for five
 * minutes, and who promises a better chain than it has not at all; what is in flight is bounded.
 */
import { equal, latin1 } from '../base/bytes.ts';
import { ApiError } from '../base/errors.ts';
import type { Clock, Log } from '../base/ports.ts';
import { blockBytesMax, blockId, decodeBlock } from '../block/block.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import type { CheckedBlock, ForkChoice, Verdict } from '../chain/fork-choice.ts';
import { headerRowAt, heightOf } from '../chain/stored-blocks.ts';
import { type Chain, CodecError } from '../codec/codec.ts';
import { blockProtocols, decodeBlocks, decodeIds, encodeIdList } from './messages-blocks.ts';
import type { PeerHead, PeerHeads } from './peer-heads.ts';
import { SilentLine } from './requests.ts';
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

export interface Sync {
  /** Looks for a better chain now. */
  wake(): void;
  /** True while more than one batch is missing: no mining, no relay (§10.6). */
  isFarBehind(): boolean;
  stop(): Promise<void>;
}

/** Blocks asked for in one request when far behind. */
const CHUNK_MAX = 50;
const CHUNKS_AHEAD = 3;
/** A branch that is not better yet waits in memory until it is. */
const BRANCH_BLOCKS_MAX = 1_000;
const BRANCH_BYTES_MAX = 256 * 1024 * 1024;
/** Lets an announced block arrive by itself before it is asked for. */
const PATIENCE_MS = 500;
/** Before a better chain that could not be taken is tried again. */
const RETRY_MS = 2_000;

/** After that somebody else is asked as well; the time-out goes on for the one who is slow. */
const LAGGING_MS = 4_000;

/** By the fault of the peer; because others may do better; or because it is of no use at present. */
type Reason = 'blamed' | 'elsewhere' | 'later';

/** The peer is no longer followed. */
class GivenUp extends Error {
  readonly reason: Reason;
  constructor(why: string, reason: Reason) {
    super(why);
    this.reason = reason;
  }
}

export function createSync(options: SyncOptions, ports: SyncPorts): Sync {
  const { chain, blockchain, forkChoice, heads, sessions, clock, log } = ports;
  const { view } = blockchain;
  let running: Promise<void> | undefined;
  let missing = 0;
  let stopped = false;
  let cancelWake: (() => void) | undefined;
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
    const plan = chunks(target);
    const started: Promise<CheckedBlock[]>[] = [];
    let branch: CheckedBlock[] = [];
    let isPlanned = false;
    for (;;) {
      while (!isPlanned && started.length < CHUNKS_AHEAD) {
        const next = await plan.next();
        if (next.done === true) isPlanned = true;
        else started.push(quietly(download(next.value, target)));
      }
      const arrived = await started.shift();
      if (arrived === undefined) break;
      branch.push(...arrived);
      requireBounded(branch);
      const verdict = await forkChoice.adopt(branch);
      if (stopped) return;
      missing = Math.max(0, missing - arrived.length);
      if (verdict.kind === 'not-better') continue;
      requireAdopted(verdict, target);
      branch = [];
    }
    if (isTie) heads.dismiss(target);
    else if (blockchain.tip().score < target.score) {
      const why = 'a score without the blocks for it';
      throw new GivenUp(why, heads.isTakenBack(target) ? 'elsewhere' : 'blamed');
    }
  }

  /** A rejection is met when its turn comes; until then it is nobody's surprise. */
  function quietly<T>(promise: Promise<T>): Promise<T> {
    promise.catch(() => undefined);
    return promise;
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

  /** Ids of unknown blocks in order, cut for the requests. */
  async function* chunks(target: PeerHead): AsyncGenerator<Uint8Array[]> {
    let known = ownIds();
    for (let isFirst = true; ; isFirst = false) {
      const ids = await askIds(target.session, known, isFirst);
      const unknown = ids.filter((id) => heightOf(view, id) === undefined);
      // Whoever tells us our own blocks could go on for ever.
      if (unknown.length === 0) return;
      if (unknown.some((id) => forkChoice.invalid.has(id))) {
        target.session.offend('invalid-block', 'ids of a chain with an invalid block');
        throw new GivenUp('a chain with an invalid block', 'blamed');
      }
      missing += unknown.length;
      const size = unknown.length > options.batch ? CHUNK_MAX : options.batch;
      for (let from = 0; from < unknown.length; from += size) {
        yield unknown.slice(from, from + size);
      }
      if (equal(ids.at(-1)!, target.id)) return;
      known = [ids.at(-1)!];
    }
  }

  /** Newest first. */
  function ownIds(): Uint8Array[] {
    const { height } = blockchain.tip();
    const ids: Uint8Array[] = [];
    for (let at = height; at > 0 && ids.length < options.rollbackMax; at--) {
      const row = headerRowAt(view, at);
      if (row !== undefined) ids.push(row.header.signature);
    }
    return ids;
  }

  async function askIds(
    session: Session,
    known: readonly Uint8Array[],
    isFirst: boolean,
  ): Promise<Uint8Array[]> {
    const message = encodeIdList(known, chain);
    const answer = await ask(session, blockProtocols.ids, message);
    const ids = read(session, () => decodeIds(answer, chain));
    if (ids === undefined) {
      // The peer itself has changed its chain since its last answer.
      if (!isFirst) throw new GivenUp('the peer is on another branch now', 'later');
      log.error('fork.too-deep', {
        peer: session.nodeName,
        max: options.rollbackMax,
        why: 'a peer with a better score shares none of the newest blocks',
      });
      heads.ignore(session);
      throw new GivenUp('no common block', 'later');
    }
    if (!known.some((id) => equal(id, ids.common))) {
      session.offend('malformed-message', 'a common block that was not asked about');
      throw new GivenUp('a common block that was not asked about', 'blamed');
    }
    // Views into a whole message otherwise.
    return ids.next.map((id) => id.slice());
  }

  /** The answer, unless it takes long and another peer has a better chain than ours, too. */
  function ask(session: Session, protocol: string, message: Uint8Array): Promise<Uint8Array> {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    let cancel = clock.after(LAGGING_MS, lag);
    function lag(): void {
      heads.lag(session, true);
      cancel = clock.after(LAGGING_MS, lag);
      if (heads.best() !== undefined) reject(new GivenUp('others may be faster', 'elsewhere'));
    }
    function over(): void {
      cancel();
      heads.lag(session, false);
    }
    session.request(protocol, message, options.timeoutMs).then(
      (answer) => {
        over();
        resolve(answer);
      },
      (error: unknown) => {
        over();
        const why = `no answer: ${String(error)}`;
        // A connection may break, or go dead, without anybody's fault.
        if (error instanceof SilentLine) session.close(why);
        if (!isOpen(session)) return reject(new GivenUp(why, 'elsewhere'));
        heads.defer(session);
        session.offend('unanswered-request', why);
        reject(new GivenUp(why, 'elsewhere'));
      },
    );
    return promise;
  }

  function read<T>(session: Session, decode: () => T): T {
    try {
      return decode();
    } catch (error) {
      const refusal = error instanceof ApiError || error instanceof CodecError;
      if (!refusal) throw error;
      session.offend('malformed-message', error.message);
      throw new GivenUp(error.message, 'blamed');
    }
  }

  let turn = 0;

  /** From the peers with as good a chain in turn; the one followed has the last word. */
  async function download(ids: readonly Uint8Array[], target: PeerHead): Promise<CheckedBlock[]> {
    const blocks: CheckedBlock[] = [];
    const asked = new Set<Session>();
    while (blocks.length < ids.length) {
      const before = blocks.length;
      const helper = next(target, asked);
      const source = helper ?? target.session;
      asked.add(source);
      try {
        await fetchInto(blocks, ids.slice(before), source);
      } catch (error) {
        if (!(error instanceof GivenUp) || helper === undefined) throw error;
        if (error.reason === 'blamed' && source === target.session) throw error;
        log.debug('sync.helper-failed', { peer: source.nodeName, why: error.message });
        if (error.reason === 'blamed') heads.ignore(source);
      }
      if (stopped) throw new GivenUp('the node stops', 'later');
      if (helper === undefined && blocks.length === before) {
        throw new GivenUp('blocks without their bodies', 'blamed');
      }
    }
    return blocks;
  }

  /** Undefined when all have been asked. */
  function next(target: PeerHead, asked: ReadonlySet<Session>): Session | undefined {
    const helpers = heads.holders(target.score).filter((one) => !asked.has(one));
    return helpers[turn++ % Math.max(1, helpers.length)];
  }

  /** Appends what the peer sends up to the first block that it lacks. */
  async function fetchInto(
    blocks: CheckedBlock[],
    ids: readonly Uint8Array[],
    session: Session,
  ): Promise<void> {
    const answer = await ask(session, blockProtocols.blocks, encodeIdList(ids, chain));
    const max = blockBytesMax(options.transactionBytesMax);
    const parts = read(session, () => decodeBlocks(answer, chain, max));
    for (const [i, bytes] of parts.entries()) {
      if (bytes === undefined || stopped) return;
      const block = read(session, () => decodeBlock(bytes, chain));
      const checked = await forkChoice.check(block).catch((error) =>
        read(session, (): never => {
          throw error;
        }),
      );
      const id = ids[i];
      if (id === undefined || latin1(blockId(checked.block)) !== latin1(id)) {
        session.offend('malformed-message', 'another block than was asked for');
        throw new GivenUp('another block than was asked for', 'blamed');
      }
      blocks.push(checked);
      await clock.turn();
    }
  }

  return {
    wake,
    isFarBehind: () => missing > options.batch,
    async stop() {
      stopped = true;
      cancelWake?.();
      await running;
    },
  };
}
