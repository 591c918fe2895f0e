/**
 * Spreads unconfirmed transactions (mempool.md): hashes are announced in batches, peers ask
 * for what they lack, and an entry is announced again until enough peers have it.
 *
 * Invariants: a transaction is asked from one peer at a time and validated once, however many
 * announce it; nothing comes in or goes out while the node is far behind, and watchers are left
 * out; every memory is bounded.
 */
import { isOurs } from '../../base/assert.ts';
import { limitsOf } from '../../base/budget.ts';
import { fromLatin1, latin1 } from '../../base/bytes.ts';
import type { Clock, Log } from '../../base/ports.ts';
import { createRecentSet, type RecentSet } from '../../base/recent-set.ts';
import { type ChainScheme, CodecError } from '../../codec/codec.ts';
import { isFaultOfPeer, refusalFrom } from '../../codec/refusal.ts';
import type { BytesIndex } from '../../mempool/bytes-index.ts';
import type { Pool } from '../../mempool/pool.ts';
import { decodeTx } from '../../tx/tx-bytes.ts';
import { budgets } from '../messages/message-budgets.ts';
import {
  decodeTxHashes,
  decodeTxs,
  encodeTxHashes,
  encodeTxs,
  txLimits,
  txProtocols,
} from '../messages/transaction-messages.ts';
import { SilentLine } from '../sessions/requests.ts';
import type { Session, Sessions } from '../sessions/session.ts';

export interface GossipTransactionsOptions {
  readonly batchMax: number;
  readonly batchMs: number;
  readonly minBroadcast: number;
  readonly maxBroadcast: number;
  readonly retryMs: number;
  readonly knownMax: number;
  readonly knownMs: number;
  readonly rebroadcastAgeMs: number;
  readonly rebroadcastEveryMs: number;
}

export interface GossipTransactionsPorts {
  readonly scheme: ChainScheme;
  readonly pool: Pool;
  readonly index: BytesIndex;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly log: Log;
  readonly isFarBehind: () => boolean;
}

export interface GossipTransactions {
  stop(): void;
}

/** Hashes that a peer is known to have: it announced them or fetched them. */
const PEER_KNOWN_MAX = 25_000;
/** Transactions asked for and not there yet, in all and of one peer. */
const WANTED_MAX = 20_000;
const WANTED_OF_ONE_MAX = 5_000;
/** Other peers to ask for a wanted transaction when the first fails. */
const SOURCES_MAX = 4;
/** Entries that too few peers have; beyond it the periodic rebroadcast must do. */
const UNDELIVERED_MAX = 20_000;
/** Transactions of a peer that are doubted after one that was refused. */
const DOUBTED_MAX = 1_000;
const REQUEST_TIMEOUT_MS = 10_000;
/**
 * A batch waits so long for more, and longer on a busy node: a millisecond for each of the last.
 */
const GATHER_MS = 50;

interface Peer {
  readonly session: Session;
  readonly known: RecentSet;
  /** Hashes to announce with the next batch. */
  outgoing: Set<string>;
  /** Transactions that the state is asked about before their signatures are checked. */
  doubted: number;
  /** How many transactions this peer is being asked for. */
  asked: number;
}

export function createGossipTransactions(
  options: GossipTransactionsOptions,
  ports: GossipTransactionsPorts,
): GossipTransactions {
  const { scheme, pool, index, sessions, clock, log } = ports;
  const peers = new Map<Session, Peer>();
  /** Checked a moment ago, with whatever verdict. */
  const checked = createRecentSet(options.knownMax, options.knownMs, clock);
  /** Hash → peers to ask next; the first is being asked. */
  const wanted = new Map<string, Session[]>();
  /** Hash → peers that have it, until they are enough. */
  const undelivered = new Map<string, Set<Session>>();
  let cancelFlush: (() => void) | undefined;
  /** Hashes of the batch before, to the peer that got most. */
  let flushed = 0;
  let stopped = false;

  sessions.handleNotices(txProtocols.hashes, {
    ...limitsOf(budgets.hashes),
    take: onHashes,
  });
  sessions.handleRequests(txProtocols.txs, {
    ...limitsOf(budgets.txs),
    answer: async (session, message) => answerTxs(session, decodeTxHashes(message, scheme)),
  });
  sessions.onOpen(open);
  sessions.onClose(close);
  const stopListening = pool.listen({
    added: (entry) => announce(index.hashOf(entry), entry.returned),
    removed: (entry) => void undelivered.delete(index.hashOf(entry)),
  });
  let cancelRetry = clock.after(options.retryMs, retry);
  let cancelRebroadcast = clock.after(options.rebroadcastEveryMs, rebroadcast);

  function open(session: Session): void {
    if (session.mode === 'watcher') return;
    const known = createRecentSet(PEER_KNOWN_MAX, Number.POSITIVE_INFINITY, clock);
    const peer = { session, known, outgoing: new Set<string>(), doubted: 0, asked: 0 };
    peers.set(session, peer);
    for (const hash of index.hashes()) queue(peer, hash);
  }

  function close(session: Session): void {
    peers.delete(session);
    for (const [hash, sources] of wanted) {
      const at = sources.indexOf(session);
      // The first is being asked; its request fails by itself.
      if (at > 0) sources.splice(at, 1);
      if (sources.length === 0) wanted.delete(hash);
    }
  }

  function announce(hash: string, isAgain: boolean): void {
    checked.add(hash);
    if (isAgain) forgetHolders(hash);
    if (undelivered.size < UNDELIVERED_MAX) undelivered.set(hash, holders(hash));
    settle(hash);
    let chosen = 0;
    for (const peer of peers.values()) {
      if (chosen++ >= options.maxBroadcast) return;
      queue(peer, hash);
    }
  }

  /** A peer that fetched it may have refused it: on the chain of that time it was no good. */
  function forgetHolders(hash: string): void {
    for (const { known } of peers.values()) known.remove(hash);
  }

  const holders = (hash: string): Set<Session> =>
    new Set([...peers.values()].filter(({ known }) => known.has(hash)).map((p) => p.session));

  function settle(hash: string): void {
    const having = undelivered.get(hash);
    if (having !== undefined && having.size >= options.minBroadcast) undelivered.delete(hash);
  }

  function queue(peer: Peer, hash: string): void {
    if (peer.known.has(hash)) return;
    peer.outgoing.add(hash);
    if (peer.outgoing.size >= options.batchMax) flush(peer);
    else cancelFlush ??= clock.after(Math.min(options.batchMs, GATHER_MS + flushed), flushAll);
  }

  function flushAll(): void {
    cancelFlush = undefined;
    flushed = 0;
    if (stopped) return;
    for (const peer of peers.values()) {
      flushed = Math.max(flushed, peer.outgoing.size);
      flush(peer);
    }
  }

  function flush(peer: Peer): void {
    const all = [...peer.outgoing];
    peer.outgoing = new Set();
    if (ports.isFarBehind()) return;
    for (let from = 0; from < all.length; from += options.batchMax) {
      const hashes = all.slice(from, from + options.batchMax).filter((hash) => index.waits(hash));
      if (hashes.length === 0) continue;
      peer.session.notify(txProtocols.hashes, encodeTxHashes(hashes.map(fromLatin1), scheme));
    }
  }

  function retry(): void {
    if (stopped) return;
    for (const [hash, having] of undelivered) {
      for (const peer of peers.values()) if (!having.has(peer.session)) queue(peer, hash);
    }
    cancelRetry = clock.after(options.retryMs, retry);
  }

  function rebroadcast(): void {
    if (stopped) return;
    const oldest = clock.now() - options.rebroadcastAgeMs;
    for (const entry of pool.inOrder()) {
      if (entry.timestamp > oldest || !entry.announced) continue;
      const hash = index.hashOf(entry);
      forgetHolders(hash);
      for (const peer of peers.values()) queue(peer, hash);
    }
    cancelRebroadcast = clock.after(options.rebroadcastEveryMs, rebroadcast);
  }

  function onHashes(session: Session, message: Uint8Array): void {
    const peer = peers.get(session);
    if (peer === undefined || stopped) return;
    const missing: string[] = [];
    for (const bytes of decodeTxHashes(message, scheme)) {
      const hash = latin1(bytes);
      delivered(peer, hash);
      if (ports.isFarBehind() || index.waits(hash) || checked.has(hash)) continue;
      const sources = wanted.get(hash);
      if (sources !== undefined) {
        if (sources.length < SOURCES_MAX && !sources.includes(session)) sources.push(session);
      } else if (wanted.size < WANTED_MAX && peer.asked + missing.length < WANTED_OF_ONE_MAX) {
        wanted.set(hash, [session]);
        missing.push(hash);
      }
    }
    if (missing.length > 0) void fetch(session, missing);
  }

  function delivered(peer: Peer, hash: string): void {
    peer.known.add(hash);
    peer.outgoing.delete(hash);
    undelivered.get(hash)?.add(peer.session);
    settle(hash);
  }

  async function answerTxs(session: Session, hashes: readonly Uint8Array[]): Promise<Uint8Array> {
    const txs: Uint8Array[] = [];
    let size = 0;
    for (const bytes of hashes) {
      const hash = latin1(bytes);
      const entry = index.get(hash);
      if (entry === undefined) continue;
      size += entry.bytes.length;
      if (size > txLimits.answerBytes) break;
      txs.push(entry.bytes);
      const peer = peers.get(session);
      if (peer !== undefined) delivered(peer, hash);
    }
    return encodeTxs(txs, scheme);
  }

  async function fetch(session: Session, hashes: readonly string[]): Promise<void> {
    let left = hashes;
    const peer = peers.get(session);
    if (peer !== undefined) peer.asked += hashes.length;
    try {
      while (left.length > 0) {
        const message = encodeTxHashes(left.map(fromLatin1), scheme);
        const answer = await session.request(txProtocols.txs, message, REQUEST_TIMEOUT_MS);
        const txs = read(session, () => decodeTxs(answer, scheme));
        if (txs === undefined || txs.length === 0) break;
        const got = new Set(await Promise.all(txs.map((bytes) => take(session, bytes))));
        const rest = left.filter((hash) => !got.has(hash));
        // What was not asked for does not help, and asking again would never end.
        if (rest.length === left.length) break;
        left = rest;
      }
    } catch (error) {
      if (isOurs(error)) throw error;
      log.debug('tx.fetch-failed', { why: String(error) });
      if (sessions.of(session.owner) === session && !(error instanceof SilentLine)) {
        session.offend('withheld', `transactions that were announced: ${String(error)}`);
      }
    } finally {
      if (peer !== undefined) peer.asked -= hashes.length;
    }
    askOthers(session, left);
  }

  /** Gives the hash. */
  async function take(session: Session, bytes: Uint8Array): Promise<string> {
    const hash = latin1(scheme.fastHash(bytes));
    if (!wanted.delete(hash) || checked.has(hash) || stopped) return hash;
    checked.add(hash);
    const peer = peers.get(session);
    try {
      const tx = decodeTx(bytes, scheme);
      // A signature costs more than the state, but the state has to be asked again after it.
      if (peer !== undefined && peer.doubted > 0) {
        peer.doubted -= 1;
        pool.check(tx);
      }
      await pool.submit(tx);
    } catch (error) {
      // A corrected retry of the sender must not be taken for this one.
      checked.remove(hash);
      const refusal = refusalFrom(error);
      log.debug('tx.refused', { why: refusal.message });
      if (isFaultOfPeer(error)) session.offend('invalid-transactions', refusal.message);
      else if (peer !== undefined) peer.doubted = DOUBTED_MAX;
    }
    return hash;
  }

  function askOthers(failed: Session, hashes: readonly string[]): void {
    const next = new Map<Session, string[]>();
    for (const hash of hashes) {
      const sources = wanted.get(hash)?.filter((one) => one !== failed && peers.has(one));
      const [source] = sources ?? [];
      if (sources === undefined || source === undefined || stopped) {
        wanted.delete(hash);
        continue;
      }
      wanted.set(hash, sources);
      const list = next.get(source);
      if (list === undefined) next.set(source, [hash]);
      else list.push(hash);
    }
    for (const [source, list] of next) void fetch(source, list);
  }

  function read<T>(session: Session, decode: () => T): T | undefined {
    try {
      return decode();
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      session.offend('malformed-message', error.message);
      session.close(error.message);
      return undefined;
    }
  }

  return {
    stop() {
      stopped = true;
      stopListening();
      cancelFlush?.();
      cancelRetry();
      cancelRebroadcast();
    },
  };
}
