/**
 * Fetches the blocks of a peer's chain (network.md#sync): ids after the last common block, then
 * blocks, several requests ahead and from several peers, handed out in order.
 *
 * Invariants: a request ends by its time-out; a peer that is slow for some seconds delays the
 * download only while no other peer can take over; what is in flight is bounded. Of the blocks only
 * the ids are checked.
 */
import { equal } from '../../base/bytes.ts';
import { ApiError } from '../../base/errors.ts';
import type { Clock, Log } from '../../base/ports.ts';
import { type Block, blockBytesMax, blockId, decodeBlock } from '../../block/block.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import type { InvalidBlocks } from '../../chain/invalid-blocks.ts';
import { headerRowAt, heightOf } from '../../chain/stored-blocks.ts';
import { type ChainScheme, CodecError } from '../../codec/codec.ts';
import {
  blockProtocols,
  decodeBlocks,
  decodeIds,
  encodeIdList,
} from '../messages/block-messages.ts';
import { SilentLine } from '../sessions/requests.ts';
import type { Session, Sessions } from '../sessions/session.ts';
import type { PeerHead, PeerHeads } from './peer-heads.ts';

export interface DownloadOptions {
  readonly rollbackMax: number;
  /** Blocks of the first request. */
  readonly batch: number;
  readonly timeoutMs: number;
  readonly transactionBytesMax: number;
  /** Called with the number of further blocks known to be missing. */
  readonly onPlanned: (count: number) => void;
}

export interface DownloadPorts {
  readonly scheme: ChainScheme;
  readonly blockchain: Blockchain;
  readonly invalid: InvalidBlocks;
  readonly heads: PeerHeads;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly log: Log;
}

/** A block as it came, and who sent it. */
export interface Arrived {
  readonly block: Block;
  readonly session: Session;
}

export interface Download {
  /**
   * Blocks of the peer's chain that are not in ours, in order. Throws GivenUp. Once `left` is
   * aborted, no more requests are sent and pending ones end.
   */
  blocks(target: PeerHead, left: AbortSignal): AsyncGenerator<Arrived>;
  stop(): void;
}

/** Blocks asked for in one request when far behind, and the bytes that they should come to. */
const CHUNK_MAX = 50;
const CHUNK_BYTES = 2 * 1024 * 1024;
const CHUNKS_AHEAD = 3;
/** After that another peer is asked as well; the time-out of the slow peer runs on. */
const SLOW_MS = 4_000;

/**
 * The peer is at fault; another peer may do better; or its chain cannot be used at present.
 */
type Reason = 'blamed' | 'elsewhere' | 'later';

/** The peer is no longer followed. */
export class GivenUp extends Error {
  readonly reason: Reason;
  /** The peer at fault, if it is a helper and not the followed peer. */
  readonly culprit: Session | undefined;
  constructor(why: string, reason: Reason, culprit?: Session) {
    super(why);
    this.reason = reason;
    this.culprit = culprit;
  }
}

/** What was sent by the session; a refusal is its fault. Throws GivenUp. */
export function read<T>(session: Session, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    const refusal = error instanceof ApiError || error instanceof CodecError;
    if (!refusal) throw error;
    session.offend('malformed-message', error.message);
    throw new GivenUp(error.message, 'blamed', session);
  }
}

export function createDownload(options: DownloadOptions, ports: DownloadPorts): Download {
  const { scheme, blockchain, invalid, heads, sessions, clock, log } = ports;
  const { view } = blockchain;
  let stopped = false;

  const isOpen = (session: Session): boolean => sessions.of(session.owner) === session;

  async function* blocks(target: PeerHead, left: AbortSignal): AsyncGenerator<Arrived> {
    const plan = chunks(target, left);
    const started: Promise<Arrived[]>[] = [];
    let isPlanned = false;
    for (;;) {
      while (!isPlanned && started.length < CHUNKS_AHEAD) {
        const next = await plan.next();
        if (next.done === true) isPlanned = true;
        else started.push(quietly(download(next.value, target, left)));
      }
      const arrived = await started.shift();
      if (arrived === undefined) return;
      yield* arrived;
    }
  }

  /** Avoids an unhandled rejection until the caller awaits the promise. */
  function quietly<T>(promise: Promise<T>): Promise<T> {
    promise.catch(() => undefined);
    return promise;
  }

  /** Ids of unknown blocks in order, cut for the requests. */
  async function* chunks(target: PeerHead, left: AbortSignal): AsyncGenerator<Uint8Array[]> {
    let known = ownIds();
    for (let isFirst = true; ; isFirst = false) {
      const ids = await askIds(target.session, known, isFirst, left);
      const unknown = ids.filter((id) => heightOf(view, id) === undefined);
      // A peer that sends our own ids could go on for ever.
      if (unknown.length === 0) return;
      if (unknown.some((id) => invalid.has(id))) {
        target.session.offend('invalid-block', 'ids of a chain with an invalid block');
        throw new GivenUp('a chain with an invalid block', 'blamed');
      }
      options.onPlanned(unknown.length);
      for (let from = 0; from < unknown.length; ) {
        const size = chunkSize();
        yield unknown.slice(from, from + size);
        from += size;
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
    left: AbortSignal,
  ): Promise<Uint8Array[]> {
    const message = encodeIdList(known, scheme);
    const answer = await ask(session, blockProtocols.ids, message, left);
    const ids = read(session, () => decodeIds(answer, scheme));
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
  function ask(
    session: Session,
    protocol: string,
    message: Uint8Array,
    left: AbortSignal,
  ): Promise<Uint8Array> {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    const leave = (): void => reject(new GivenUp(String(left.reason), 'elsewhere'));
    if (left.aborted) {
      leave();
      return promise;
    }
    left.addEventListener('abort', leave);
    let cancel = clock.after(SLOW_MS, whenSlow);
    function whenSlow(): void {
      heads.markSlow(session, true);
      cancel = clock.after(SLOW_MS, whenSlow);
      if (heads.best() !== undefined) reject(new GivenUp('others may be faster', 'elsewhere'));
    }
    function over(): void {
      cancel();
      left.removeEventListener('abort', leave);
      heads.markSlow(session, false);
    }
    session.request(protocol, message, options.timeoutMs).then(
      (answer) => {
        over();
        resolve(answer);
      },
      (error: unknown) => {
        over();
        const why = `no answer: ${String(error)}`;
        // A broken or dead connection is no offence.
        if (error instanceof SilentLine) session.close(why);
        if (!isOpen(session)) return reject(new GivenUp(why, 'elsewhere'));
        heads.defer(session);
        session.offend('unanswered-request', why);
        reject(new GivenUp(why, 'elsewhere'));
      },
    );
    return promise;
  }

  /** Blocks of a request, by how long the last ones were. */
  const chunkSize = (): number =>
    Math.min(CHUNK_MAX, Math.max(1, Math.floor(CHUNK_BYTES / blockBytes)));

  let blockBytes = CHUNK_BYTES / options.batch;
  let turn = 0;

  /** Asks helpers with as good a chain in turn; the followed peer is asked last. */
  async function download(
    ids: readonly Uint8Array[],
    target: PeerHead,
    left: AbortSignal,
  ): Promise<Arrived[]> {
    const blocks: Arrived[] = [];
    const asked = new Set<Session>();
    while (blocks.length < ids.length) {
      const before = blocks.length;
      const helper = next(target, asked);
      const source = helper ?? target.session;
      asked.add(source);
      try {
        await fetchInto(blocks, ids.slice(before), source, left);
      } catch (error) {
        if (!(error instanceof GivenUp) || helper === undefined || left.aborted) throw error;
        if (error.reason === 'blamed' && source === target.session) throw error;
        log.debug('sync.helper-failed', { peer: source.nodeName, why: error.message });
        if (error.reason === 'blamed') heads.ignore(source);
      }
      if (stopped) throw new GivenUp('the node stops', 'later');
      if (helper === undefined && blocks.length === before) {
        throw new GivenUp('blocks without their bodies', 'blamed');
      }
    }
    blockBytes = blocks.reduce((sum, { block }) => sum + block.bytes.length, 0) / blocks.length;
    return blocks;
  }

  /** Undefined when all have been asked. */
  function next(target: PeerHead, asked: ReadonlySet<Session>): Session | undefined {
    const helpers = heads.holders(target.score).filter((one) => !asked.has(one));
    return helpers[turn++ % Math.max(1, helpers.length)];
  }

  /** Appends what the peer sends up to the first block that it lacks. */
  async function fetchInto(
    blocks: Arrived[],
    ids: readonly Uint8Array[],
    session: Session,
    left: AbortSignal,
  ): Promise<void> {
    const answer = await ask(session, blockProtocols.blocks, encodeIdList(ids, scheme), left);
    const max = blockBytesMax(options.transactionBytesMax);
    const parts = read(session, () => decodeBlocks(answer, scheme, max));
    for (const [i, bytes] of parts.entries()) {
      if (bytes === undefined || stopped) return;
      const block = read(session, () => decodeBlock(bytes, scheme));
      const id = ids[i];
      if (id === undefined || !equal(blockId(block), id)) {
        session.offend('malformed-message', 'another block than was asked for');
        throw new GivenUp('another block than was asked for', 'blamed', session);
      }
      blocks.push({ block, session });
      await clock.turn();
    }
  }

  return {
    blocks,
    stop() {
      stopped = true;
    },
  };
}
