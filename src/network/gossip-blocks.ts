/**
 * Spreads new blocks (protocol.md §2.5, §10.8): a block travels as header and hashes, is rebuilt
 * from the pool, and only what is missing is asked for.
 *
 * Invariants: a block is relayed once, after its signature and the turn of its generator were found
 * good, so whoever relays one that fails there is to blame, and for what shows later its generator
 * alone; own blocks go to everybody at once; a block that cannot be rebuilt is asked for as a whole
 * once and left to sync after that; nothing is relayed while far behind.
 */
import { equal, latin1 } from '../base/bytes.ts';
import { ApiError } from '../base/errors.ts';
import type { Clock, Log, Verifier } from '../base/ports.ts';
import { createRecentSet } from '../base/recent-set.ts';
import {
  type Block,
  blockBytesMax,
  blockId,
  decodeBlock,
  encodeBlock,
  signedBytes,
} from '../block/block.ts';
import type { Header } from '../block/header.ts';
import type { Blockchain, BlockEvent, Tip } from '../chain/blockchain.ts';
import { consensusView } from '../chain/consensus-view.ts';
import type { ForkChoice } from '../chain/fork-choice.ts';
import { headerRowAt, heightOf } from '../chain/stored-blocks.ts';
import { type Chain, CodecError } from '../codec/codec.ts';
import { type Consensus, isBetter } from '../consensus/consensus.ts';
import type { BytesIndex } from '../mempool/bytes-index.ts';
import {
  blockProtocols,
  type CompactBlock,
  compactId,
  decodeBlocks,
  decodeCompact,
  decodeTxList,
  encodeBlockTxsRequest,
  encodeCompact,
  encodeIdList,
} from './messages-blocks.ts';
import { SilentLine } from './requests.ts';
import type { ServeBlocks } from './serve-blocks.ts';
import type { Session, Sessions } from './session.ts';

export interface GossipBlocksOptions {
  readonly transactionBytesMax: number;
  /** Of the owner of this node. */
  readonly ownPublicKey: Uint8Array;
}

export interface GossipBlocksPorts {
  readonly chain: Chain;
  readonly blockchain: Blockchain;
  readonly consensus: Consensus;
  readonly forkChoice: ForkChoice;
  readonly index: BytesIndex;
  readonly serve: ServeBlocks;
  readonly sessions: Sessions;
  readonly verifier: Verifier;
  readonly clock: Clock;
  readonly log: Log;
  readonly isFarBehind: () => boolean;
  /** A block of an unknown parent was announced. */
  readonly onOrphan: () => void;
}

export interface GossipBlocks {
  stop(): void;
}

const SEEN_MAX = 2_000;
const SEEN_MS = 10 * 60_000;
/** Blocks being rebuilt at a time, in all and of one peer. */
const ARRIVING_MAX = 32;
const ARRIVING_OF_ONE_MAX = 4;
const SOURCES_MAX = 4;
const FETCH_TIMEOUT_MS = 5_000;
/** A block so little ahead of the clock waits here until its time has come. */
const EARLY_MS_MAX = 5_000;

/**
 * The next block; the end of a better branch; a second block of one turn, looked at and relayed for
 * the evidence.
 */
type Use = 'child' | 'fork' | 'evidence' | 'none';

interface Arrival {
  readonly compact: CompactBlock;
  readonly message: Uint8Array;
  /** Peers to ask for its parts; the first is being asked. */
  readonly sources: Session[];
}

export function createGossipBlocks(
  options: GossipBlocksOptions,
  ports: GossipBlocksPorts,
): GossipBlocks {
  const { chain, blockchain, consensus, forkChoice, index, serve, sessions, verifier, clock, log } =
    ports;
  const { view } = blockchain;
  const seen = createRecentSet(SEEN_MAX, SEEN_MS, clock);
  const arriving = new Map<string, Arrival>();
  const waiting = new Set<() => void>();
  let stopped = false;

  sessions.handleNotices(blockProtocols.newBlock, {
    messageBytesMax: blockBytesMax(options.transactionBytesMax) + 33 * 65_535,
    take: onBlock,
  });
  const forget = blockchain.listen({ block: onTip });

  /** A block that no peer has told of and that bears our key was made here. */
  function onTip({ tip: { height, header }, block }: BlockEvent): void {
    const key = latin1(header.signature);
    if (stopped || seen.has(key) || !equal(header.generator, options.ownPublicKey)) return;
    seen.add(key);
    if (height !== blockchain.tip().height || sessions.all().length === 0) return;
    const txs = block.txs.map(({ bytes }) =>
      isMadeByMiners(bytes) ? { bytes } : { hash: chain.fastHash(bytes) },
    );
    const message = encodeCompact({ header, txs }, chain);
    for (const session of sessions.all()) session.notify(blockProtocols.newBlock, message);
  }

  function onBlock(session: Session, message: Uint8Array): void {
    if (stopped || ports.isFarBehind()) return;
    // Most announcements are of a block that another peer was faster with.
    const key = latin1(compactId(message, chain));
    const running = arriving.get(key);
    if (running !== undefined) {
      if (running.sources.length < SOURCES_MAX) running.sources.push(session);
      return;
    }
    if (seen.has(key) || arriving.size >= ARRIVING_MAX) return;
    const own = [...arriving.values()].filter(({ sources: [first] }) => first === session);
    if (own.length >= ARRIVING_OF_ONE_MAX) return;
    const compact = decodeCompact(message, chain);
    const arrival = { compact, message: message.slice(), sources: [session] };
    arriving.set(key, arrival);
    void take(arrival)
      .catch((error: unknown) => log.error('block.gossip-failed', { why: String(error) }))
      .finally(() => arriving.delete(key));
  }

  async function take(arrival: Arrival): Promise<void> {
    const { header } = arrival.compact;
    const use = useOf(arrival);
    if (use === 'none' || isEarly(arrival, header.timestamp - clock.now())) return;
    const block = await rebuild(arrival);
    if (block === undefined || stopped) return;
    seen.add(latin1(header.signature));
    if (use !== 'fork') relay(arrival, block);
    const verdict = await forkChoice.offer(block, { isSigned: true });
    // Its turn was judged by the rules of the block below, which only this has done.
    if (use === 'fork' && verdict.kind === 'adopted') relay(arrival, block);
    if (verdict.kind === 'invalid') blame(header, arrival.sources, verdict.error.message);
    if (verdict.kind === 'unknown-parent') ports.onOrphan();
  }

  /** Transactions that do not fit the state: those who relayed the block had not looked at them. */
  function blame({ generator }: Header, sources: readonly Session[], why: string): void {
    for (const session of sources) {
      if (equal(session.ownerPublicKey, generator)) session.offend('invalid-block', why);
    }
  }

  /** What can be said before anything is fetched; refuses what breaks a rule. */
  function useOf({ compact, sources }: Arrival): Use {
    const { header } = compact;
    const id = header.signature;
    if (heightOf(view, id) !== undefined || forkChoice.invalid.has(id)) return 'none';
    const parentHeight = heightOf(view, header.reference);
    const parent = parentHeight === undefined ? undefined : headerRowAt(view, parentHeight);
    if (parentHeight === undefined || parent === undefined) {
      ports.onOrphan();
      return 'none';
    }
    const tip = blockchain.tip();
    const score = parent.score + consensus.score(header.consensus);
    const current = { ...tip, reference: tip.header.reference };
    if (!isBetter({ score, id, reference: header.reference }, current)) {
      return isTwin(header, tip) ? 'evidence' : 'none';
    }
    if (parentHeight !== tip.height) return 'fork';
    try {
      consensus.verify(header, tip, consensusView(view));
      return 'child';
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      log.info('block.refused', { why: error.message });
      for (const session of sources) session.offend('invalid-block', error.message);
      return 'none';
    }
  }

  /** The other block of a miner that makes two in one turn: as good as the tip in every respect. */
  function isTwin(header: Header, tip: Tip): boolean {
    const { generator, reference } = tip.header;
    return (
      equal(header.generator, generator) &&
      equal(header.reference, reference) &&
      consensus.turnOf(header) === consensus.turnOf(tip.header) &&
      consensus.score(header.consensus) === consensus.score(tip.header.consensus)
    );
  }

  /** Honest clocks differ a little, so a block that is just ahead is looked at again. */
  function isEarly(arrival: Arrival, ahead: number): boolean {
    if (ahead < EARLY_MS) return false;
    if (ahead > EARLY_MS_MAX || waiting.size >= ARRIVING_MAX) return true;
    const [session] = arrival.sources;
    const cancel = clock.after(ahead - EARLY_MS + 1, () => {
      waiting.delete(cancel);
      if (session !== undefined) onBlock(session, arrival.message);
    });
    waiting.add(cancel);
    return true;
  }

  function relay({ message, sources }: Arrival, block: Block): void {
    serve.hold(block);
    if (ports.isFarBehind()) return;
    for (const session of sessions.all()) {
      if (!sources.includes(session)) session.notify(blockProtocols.newBlock, message);
    }
  }

  async function rebuild(arrival: Arrival): Promise<Block | undefined> {
    for (let i = 0; i < arrival.sources.length; i++) {
      const session = arrival.sources[i]!;
      try {
        const block =
          (await fromParts(arrival.compact, session)) ??
          (await whole(arrival.compact.header, session));
        if (block !== undefined) return block;
        session.offend('withheld', 'a block that was announced');
      } catch (error) {
        if (error instanceof CodecError || error instanceof ApiError) {
          session.offend('malformed-message', error.message);
        } else if (sessions.of(session.owner) === session && !(error instanceof SilentLine)) {
          session.offend('withheld', `a block that was announced: ${String(error)}`);
        }
        log.debug('block.fetch-failed', { peer: session.nodeName, why: String(error) });
      }
    }
    return undefined;
  }

  /** From the pool and, for what it lacks, from the peer. Undefined where the signature is wrong. */
  async function fromParts(compact: CompactBlock, session: Session): Promise<Block | undefined> {
    const parts = compact.txs.map(({ hash, bytes }) =>
      hash === undefined ? bytes : index.get(latin1(hash))?.bytes,
    );
    const missing = [...parts.keys()].filter((i) => parts[i] === undefined);
    if (missing.length > 0) {
      const id = compact.header.signature;
      const request = encodeBlockTxsRequest({ id, indexes: missing }, chain);
      const answer = await session.request(blockProtocols.blockTxs, request, FETCH_TIMEOUT_MS);
      const txs = decodeTxList(answer, chain);
      if (txs.length !== missing.length) return undefined;
      missing.forEach((i, at) => {
        parts[i] = txs[at];
      });
    }
    const bytes = encodeBlock(compact.header, parts as Uint8Array[], chain);
    const block = decodeBlock(bytes, chain);
    if (!(await isSigned(block))) return undefined;
    const height = 1 + (heightOf(view, compact.header.reference) ?? 0);
    log.debug('block.rebuilt', { height, txs: parts.length, missing: missing.length });
    return block;
  }

  async function whole(header: Header, session: Session): Promise<Block | undefined> {
    const request = encodeIdList([header.signature], chain);
    const answer = await session.request(blockProtocols.blocks, request, FETCH_TIMEOUT_MS);
    const max = blockBytesMax(options.transactionBytesMax);
    const [bytes] = decodeBlocks(answer, chain, max);
    if (bytes === undefined) return undefined;
    const block = decodeBlock(bytes, chain);
    if (!equal(blockId(block), header.signature)) return undefined;
    if (await isSigned(block)) return block;
    // Honest peers look at the signature before they relay.
    session.offend('invalid-block', 'a block with a wrong signature');
    return undefined;
  }

  /** Before that is known the block is nobody's. */
  const isSigned = ({ header, bytes }: Block): Promise<boolean> =>
    verifier.verifyOne(header.generator, signedBytes({ bytes }), header.signature);

  return {
    stop() {
      stopped = true;
      forget();
      for (const cancel of waiting) cancel();
    },
  };
}

/** One millisecond less would do (§2.3). */
const EARLY_MS = 100;

/** Results of contracts (105) are made together with the block, so no pool has them. */
const isMadeByMiners = (bytes: Uint8Array): boolean => bytes[0] === 0 && bytes[1] === 105;
