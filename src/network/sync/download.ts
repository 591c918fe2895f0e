/**
 * Fetches the blocks of a peer's chain (network.md#sync): ids after the last common block
 * (unknown-ids.ts), then blocks, several requests ahead and from several peers (fetch-blocks.ts),
 * returned in order.
 *
 * Invariants: a request ends by its time-out; a peer that is slow for some seconds delays the
 * download only while no other peer can take over (ask-peer.ts); what is in flight is bounded; what was
 * in flight when another peer came out faster (outrun.ts) is passed on.
 */
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import type { InvalidBlocks } from '../../chain/fork/invalid-blocks.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import type { Sessions } from '../sessions/session.ts';
import { createAskPeer } from './ask-peer.ts';
import { type Arrived, BlockFetcher } from './fetch-blocks.ts';
import { againstOthers, Outrun } from './outrun.ts';
import type { PeerTip, PeerTips } from './peer-tips.ts';
import { type NamedIds, unknownIds } from './unknown-ids.ts';

export interface DownloadOptions {
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
  /** Blocks that may be given up for another branch. */
  readonly depthMax: () => number;
  readonly peerTips: PeerTips;
  /** True where a broken rule blames nobody. */
  readonly isOutdated: () => boolean;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Download {
  /**
   * Blocks of the peer's chain that are not in ours, in order. Throws GivenUp. Once `left` is
   * aborted, no more requests are sent and pending ones end.
   */
  blocks(target: PeerTip, left: AbortSignal): AsyncGenerator<Arrived>;
  stop(): void;
}

/** Blocks in one request when far behind, and the bytes that they should add up to. */
const CHUNK_MAX = 50;
const CHUNK_BYTES = 2 * 1024 * 1024;
const CHUNKS_AHEAD = 3;

export function createDownload(options: DownloadOptions, ports: DownloadPorts): Download {
  const ask = createAskPeer(options.timeoutMs, ports);
  const fetcher = new BlockFetcher(options.transactionBytesMax, { ...ports, ask });
  /** The average size of the last blocks. */
  let blockBytes = CHUNK_BYTES / options.batch;

  async function* blocks(target: PeerTip, left: AbortSignal): AsyncGenerator<Arrived> {
    const plan = chunks(target, left);
    const started: Promise<Arrived[]>[] = [];
    let isPlanned = false;
    let outrun: Outrun | undefined;
    for (;;) {
      while (!isPlanned && started.length < CHUNKS_AHEAD) {
        const next = await plan.next().catch(asOutrun);
        if (next instanceof Outrun) outrun = next;
        else if (next.done !== true) started.push(quietly(fetch(next.value, target, left)));
        isPlanned = next instanceof Outrun || next.done === true;
      }
      const arrived = await started.shift();
      if (arrived !== undefined) yield* arrived;
      else if (outrun === undefined) return;
      else throw outrun;
    }
  }

  /** The ids of unknown blocks, cut for the requests. */
  async function* chunks(target: PeerTip, left: AbortSignal): AsyncGenerator<NamedIds> {
    const askOn = againstOthers(options.timeoutMs, { ...ports, ask });
    const asking = { ...ports, ask, askOn };
    for await (const { ids, height } of unknownIds(target, ports.depthMax(), left, asking)) {
      options.onPlanned(ids.length);
      for (let from = 0; from < ids.length; ) {
        const size = chunkSize();
        yield { ids: ids.slice(from, from + size), height: height + from };
        from += size;
      }
    }
  }

  const chunkSize = (): number =>
    Math.min(CHUNK_MAX, Math.max(1, Math.floor(CHUNK_BYTES / blockBytes)));

  async function fetch(ids: NamedIds, target: PeerTip, left: AbortSignal): Promise<Arrived[]> {
    const arrived = await fetcher.fetch(ids, target, left);
    blockBytes = arrived.reduce((sum, { block }) => sum + block.bytes.length, 0) / arrived.length;
    return arrived;
  }

  return { blocks, stop: () => fetcher.stop() };
}

function asOutrun(cause: unknown): Outrun {
  if (cause instanceof Outrun) return cause;
  throw cause;
}

/** Avoids an unhandled rejection until the caller awaits the promise. */
function quietly<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
