/**
 * Spreads new blocks (blocks.md#compact-blocks, network.md#gossip-of-blocks): a block travels as
 * header and hashes, is rebuilt from the pool, and only what is missing is asked for.
 *
 * Invariants: a block is relayed once, after its signature, its size and the turn of its generator
 * were found good. So only the sender is penalised for a header that fails these checks, and only
 * the generator, which has signed the header, for transactions that break a rule. Own blocks go to
 * all peers at once; a block that cannot be rebuilt is asked for as a whole once and left to sync
 * after that; nothing is relayed while far behind.
 */

import { unlessOurs } from '../../base/assert.ts';
import { limitsOf } from '../../base/budget.ts';
import { equal, latin1 } from '../../base/bytes.ts';
import { ApiError, OwnFailure } from '../../base/errors.ts';
import type { Clock, Log, Verifier } from '../../base/ports.ts';
import { Recent } from '../../base/recent.ts';
import { createRecentSet } from '../../base/recent-set.ts';
import type { Block } from '../../block/block.ts';
import { encodeHeader, type Header } from '../../block/header.ts';
import type { Blockchain, BlockEvent, Tip } from '../../chain/blockchain.ts';
import type { ForkChoice } from '../../chain/fork-choice.ts';
import { headerRowAt, heightOf } from '../../chain/stored-blocks.ts';
import { type ChainScheme, CodecError } from '../../codec/codec.ts';
import { type Consensus, isBetter } from '../../consensus/consensus.ts';
import type { BytesIndex } from '../../mempool/bytes-index.ts';
import { defOfBytes } from '../../tx/registry.ts';
import {
  blockProtocols,
  type CompactBlock,
  compactHeaderBytes,
  decodeCompact,
  encodeCompact,
} from '../messages/block-messages.ts';
import { blockBudgets } from '../messages/message-budgets.ts';
import { SilentLine } from '../sessions/requests.ts';
import type { Session, Sessions } from '../sessions/session.ts';
import type { ServeBlocks } from '../sync/serve-blocks.ts';
import { createRebuild, type Rebuilt } from './rebuild-block.ts';

export interface GossipBlocksOptions {
  readonly transactionBytesMax: number;
  /** Of the owner of this node. */
  readonly ownPublicKey: Uint8Array;
}

export interface GossipBlocksPorts {
  readonly scheme: ChainScheme;
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
/** Blocks of one generator for one turn that are relayed: two prove that there are two. */
const RELAYED_OF_TURN_MAX = 2;
const TURNS_MAX = 2_000;
/** A block so little ahead of the clock waits here until its time has come. */
const EARLY_MS_MAX = 5_000;

/**
 * The next block; the end of a better branch; a second block of one turn, looked at and relayed for
 * the evidence.
 */
type Use = 'child' | 'fork' | 'evidence' | 'none';

/** Under one header: another header under the same id is another arrival. */
interface Arrival {
  readonly compact: CompactBlock;
  readonly message: Uint8Array;
  /** Who has sent the message. */
  readonly author: Session;
  /** Peers to ask for its parts, the author first; each has sent this header. */
  readonly sources: Session[];
}

export function createGossipBlocks(
  options: GossipBlocksOptions,
  ports: GossipBlocksPorts,
): GossipBlocks {
  const { scheme, blockchain, consensus, forkChoice, serve, sessions, clock, log } = ports;
  const { view } = blockchain;
  const rebuild = createRebuild(options, ports);
  /** Headers, byte for byte: the id alone would let a forged twin hide the good one. */
  const seen = createRecentSet(SEEN_MAX, SEEN_MS, clock);
  /** Relayed blocks, by generator and turn. */
  const relayed = new Recent<string, number>(TURNS_MAX);
  const arriving = new Map<string, Arrival>();
  const waiting = new Set<() => void>();
  let stopped = false;

  sessions.handleNotices(blockProtocols.newBlock, {
    ...limitsOf(blockBudgets(options.transactionBytesMax).newBlock),
    take: onBlock,
  });
  const forget = blockchain.listen({ block: onTip });

  /** A block that no peer has told of and that bears our key was made here. */
  function onTip({ tip: { height, header }, block }: BlockEvent): void {
    const key = latin1(encodeHeader(header, scheme));
    if (stopped || seen.has(key) || !equal(header.generator, options.ownPublicKey)) return;
    seen.add(key);
    if (height !== blockchain.tip().height || sessions.all().length === 0) return;
    const message = announcementOf(
      header,
      block.txs.map(({ bytes }) => bytes),
    )!;
    for (const session of sessions.all()) session.notify(blockProtocols.newBlock, message);
  }

  function onBlock(session: Session, message: Uint8Array): void {
    if (stopped || ports.isFarBehind()) return;
    // Most announcements are of a block that another peer was faster with.
    const key = latin1(compactHeaderBytes(message, scheme));
    const running = arriving.get(key);
    if (running !== undefined) {
      const { sources } = running;
      if (sources.length < SOURCES_MAX && !sources.includes(session)) sources.push(session);
      return;
    }
    if (seen.has(key) || arriving.size >= ARRIVING_MAX) return;
    const own = [...arriving.values()].filter(({ author }) => author === session);
    if (own.length >= ARRIVING_OF_ONE_MAX) return;
    const compact = decodeCompact(message, scheme);
    const arrival = { compact, message: message.slice(), author: session, sources: [session] };
    arriving.set(key, arrival);
    void take(arrival, key)
      .catch(unlessOurs((error) => log.error('block.gossip-failed', { why: String(error) })))
      .finally(() => arriving.delete(key));
  }

  async function take(arrival: Arrival, key: string): Promise<void> {
    const { compact, author } = arrival;
    const { header } = compact;
    const use = await useOf(arrival);
    if (use === 'none' || isEarly(arrival, header.timestamp - clock.now())) return;
    if (rebuild.isTooMuch(compact)) {
      author.offend('invalid-block', 'a list of more bytes than a block may have');
      return;
    }
    const found = await firstOf(arrival);
    if (found === undefined || stopped) return;
    const { block, isAsListed } = found;
    seen.add(key);
    if (!isAsListed) author.offend('invalid-block', 'a list of transactions of another block');
    const message = isAsListed ? arrival.message : announcementOf(block.header, block.transactions);
    if (use !== 'fork') relay(arrival, block, message);
    const verdict = await forkChoice.offer(block, { isSigned: true });
    // Not before: what is on another branch may be worth nothing to the others.
    if (use === 'fork' && verdict.kind === 'adopted') relay(arrival, block, message);
    if (verdict.kind === 'invalid') blame(header, verdict.error.message);
    if (verdict.kind === 'unknown-parent') ports.onOrphan();
  }

  /**
   * Transactions that do not fit the state: those who relayed the block had not looked at them, and
   * the generator has signed this very header.
   */
  function blame({ generator }: Header, why: string): void {
    const address = scheme.addressOf(generator);
    for (const session of sessions.all()) {
      // The owner as well: it must not escape by the proof of an account that makes no blocks.
      const isMade = equal(session.miner, address) || equal(session.owner, address);
      if (isMade) session.offend('invalid-block', why);
    }
  }

  /** What can be said before anything is fetched; refuses what breaks a rule. */
  async function useOf({ compact, sources }: Arrival): Promise<Use> {
    const { header } = compact;
    const use = claimOf(header);
    if (use === 'none') return use;
    const refusal = await forkChoice.examine(header);
    if (refusal === undefined) return use;
    log.info('block.refused', { why: refusal.message });
    for (const session of sources) session.offend('invalid-block', refusal.message);
    return 'none';
  }

  /** By the score that it claims. */
  function claimOf(header: Header): Use {
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
    if (isBetter({ score, id, reference: header.reference }, current)) {
      return parentHeight === tip.height ? 'child' : 'fork';
    }
    return isTwin(header, tip) && !isProved(header) ? 'evidence' : 'none';
  }

  const turnOf = (header: Header): string =>
    `${latin1(header.generator)} ${consensus.turnOf(header)}`;

  const isProved = (header: Header): boolean =>
    (relayed.get(turnOf(header)) ?? 0) >= RELAYED_OF_TURN_MAX;

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
  function isEarly({ author, message }: Arrival, ahead: number): boolean {
    if (ahead < EARLY_MS) return false;
    if (ahead > EARLY_MS_MAX || waiting.size >= ARRIVING_MAX) return true;
    const cancel = clock.after(ahead - EARLY_MS + 1, () => {
      waiting.delete(cancel);
      onBlock(author, message);
    });
    waiting.add(cancel);
    return true;
  }

  /** Undefined where the block has a transaction twice, which an announcement cannot say. */
  function announcementOf(
    header: Header,
    transactions: readonly Uint8Array[],
  ): Uint8Array | undefined {
    const txs = transactions.map((bytes) =>
      isMadeByMiner(bytes) ? { bytes } : { hash: scheme.fastHash(bytes) },
    );
    const hashes = txs.flatMap(({ hash }) => (hash === undefined ? [] : [latin1(hash)]));
    if (new Set(hashes).size < hashes.length) return undefined;
    return encodeCompact({ header, txs }, scheme);
  }

  /** One that is not relayed spreads as the end of a chain, by sync, where it is the best. */
  function relay({ sources }: Arrival, block: Block, message: Uint8Array | undefined): void {
    serve.hold(block);
    const { header } = block;
    if (message === undefined || ports.isFarBehind() || isProved(header)) return;
    const turn = turnOf(header);
    relayed.set(turn, 1 + (relayed.get(turn) ?? 0));
    for (const session of sessions.all()) {
      if (!sources.includes(session)) session.notify(blockProtocols.newBlock, message);
    }
  }

  /** From the first source that has it. */
  async function firstOf({ compact, sources }: Arrival): Promise<Rebuilt | undefined> {
    for (let i = 0; i < sources.length; i++) {
      const session = sources[i]!;
      try {
        const found = await rebuild.from(compact, session);
        if (found !== undefined) {
          const { block, missing } = found;
          const height = 1 + (heightOf(view, block.header.reference) ?? 0);
          log.debug('block.rebuilt', { height, txs: block.transactions.length, missing });
          return found;
        }
        session.offend('withheld', 'a block that was announced');
      } catch (error) {
        if (error instanceof OwnFailure) throw error;
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

  return {
    stop() {
      stopped = true;
      forget();
      for (const cancel of waiting) cancel();
    },
  };
}

/** One millisecond less would do (blocks.md#checks-of-a-received-block). */
const EARLY_MS = 100;

/** Results of contracts are made together with the block, so no pool has them. */
const isMadeByMiner = (bytes: Uint8Array): boolean => defOfBytes(bytes)?.madeByMiner === true;
