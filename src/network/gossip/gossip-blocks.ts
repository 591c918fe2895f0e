/**
 * Spreads new blocks (blocks.md#compact-blocks, network.md#gossip-of-blocks): a block travels as
 * header and hashes and is rebuilt from the pool; only missing transactions are requested. Where
 * its header is of use (header-use.ts) and its time has come (early-blocks.ts), it arrives
 * (arrivals.ts), is fetched (fetch-block.ts), relayed and offered to the fork choice.
 *
 * Invariants: a block is relayed once, after its signature, its size and the turn of its generator
 * have been checked; one that gets no verdict is judged when it is announced again. So only the
 * sender is penalised for a header that fails these checks, and only the generator, which has signed
 * the header, for transactions that break a rule; few such blocks of one generator and turn are
 * fetched and judged (judge-announced.ts). Own blocks go to all peers at once; a block that cannot be
 * rebuilt is requested as a whole once, and after that left to sync; nothing is relayed while the
 * node is far behind.
 */

import { unlessOurs } from '../../base/assert.ts';
import { equal, latin1 } from '../../base/bytes.ts';
import type { Refusal } from '../../base/errors.ts';
import { misconduct } from '../../base/faults/misconduct.ts';
import { limitsOf } from '../../base/limits/budget.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Verifier } from '../../base/ports/verifier.ts';
import type { Block } from '../../block/block.ts';
import { encodeHeader, type Header } from '../../block/header.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import type { BlockEvent } from '../../chain/chain-head.ts';
import type { ForkChoice } from '../../chain/fork/fork-choice.ts';
import type { LostBlocks } from '../../chain/fork/lost-blocks.ts';
import { heightOf } from '../../chain/store/stored-blocks.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { ExpiringSet } from '../../concurrency/bounded-cache.ts';
import type { Consensus } from '../../consensus/consensus.ts';
import type { BytesIndex } from '../../mempool/entries/bytes-index.ts';
import { defOfBytes } from '../../tx/registry.ts';
import {
  blockProtocols,
  compactHeaderBytes,
  decodeCompact,
  encodeCompact,
} from '../messages/block-messages.ts';
import { blockBudgets } from '../messages/message-budgets.ts';
import type { Session, Sessions } from '../sessions/session.ts';
import type { ServeBlocks } from '../sync/serve-blocks.ts';
import { type Arrival, Arrivals, type Stage } from './arrivals.ts';
import { ComingBlocks } from './coming-blocks.ts';
import { createEarlyBlocks, type EarlyBlocks } from './early-blocks.ts';
import { fetchBlock } from './fetch-block.ts';
import { isReplacing, type Use, useOf } from './header-use.ts';
import { AnnouncedJudge, type Verdict } from './judge-announced.ts';
import { Rebuild } from './rebuild-block.ts';
import { TurnCounts } from './turn-counts.ts';

export interface GossipBlocksOptions {
  readonly transactionBytesMax: number;
  /** The key of the owner of this node. */
  readonly ownPublicKey: Uint8Array;
}

export interface GossipBlocksDeps {
  readonly scheme: ChainScheme;
  readonly blockchain: Blockchain;
  readonly consensus: Consensus;
  readonly forkChoice: ForkChoice;
  readonly lostBlocks: Pick<LostBlocks, 'note'>;
  readonly index: BytesIndex;
  readonly serve: ServeBlocks;
  readonly sessions: Sessions;
  readonly verifier: Verifier;
  readonly clock: Clock;
  readonly log: Log;
  readonly isFarBehind: () => boolean;
  readonly isOutdated: (height: number) => boolean;
  /** A block of an unknown parent was announced. */
  readonly onOrphan: () => void;
}

const SEEN_MAX = 2_000;
const SEEN_MS = 10 * 60_000;
/** Of one generator for one turn: two prove the offence, and one more would prove nothing new. */
const RELAYED_OF_TURN_MAX = 2;
/** Verdicts that may be others later. */
const WITHOUT_VERDICT: ReadonlySet<Verdict['kind']> = new Set([
  'future',
  'unknown-parent',
  'unjudged',
]);

export class GossipBlocks {
  private readonly options: GossipBlocksOptions;
  private readonly deps: GossipBlocksDeps;
  private readonly rebuild: Rebuild;
  /** Hashes of whole headers: by the id alone, a forged twin could hide the valid block. */
  private readonly seen: ExpiringSet;
  private readonly relayed: ExpiringSet;
  /** Relayed blocks of each turn. */
  private readonly turns: TurnCounts;
  private readonly judge: AnnouncedJudge;
  private readonly arrivals = new Arrivals<Session>();
  private readonly early: EarlyBlocks<Session>;
  private readonly coming: ComingBlocks;
  private stopped = false;
  private forget: (() => void) | undefined;

  constructor(options: GossipBlocksOptions, deps: GossipBlocksDeps) {
    this.options = options;
    this.deps = deps;
    this.rebuild = new Rebuild(options, deps);
    this.seen = new ExpiringSet(SEEN_MAX, SEEN_MS, deps.clock);
    this.relayed = new ExpiringSet(SEEN_MAX, SEEN_MS, deps.clock);
    this.turns = new TurnCounts(RELAYED_OF_TURN_MAX, deps.consensus);
    this.judge = new AnnouncedJudge(deps);
    this.early = createEarlyBlocks<Session>(deps.clock);
    this.coming = new ComingBlocks(deps.clock);
  }

  /** Call before the network starts. */
  start(): void {
    const { blockchain, sessions } = this.deps;
    sessions.handleNotices(blockProtocols.newBlock, {
      ...limitsOf(blockBudgets(this.options.transactionBytesMax).newBlock),
      take: (session, message) => this.onBlock(session, message),
    });
    this.forget = blockchain.listen({ block: (event) => this.onTip(event) });
  }

  stop(): void {
    this.stopped = true;
    this.forget?.();
    this.early.stop();
  }

  /** How far a block of another miner has come that would take the place of the head. */
  comingBlock(): Stage | undefined {
    return this.coming.stage(
      this.arrivals.all(),
      (header) => !this.isOwn(header) && isReplacing(this.useOf(header)),
    );
  }

  /** Short, whatever a header carries. */
  private keyOf(header: Uint8Array): string {
    return latin1(this.deps.scheme.fastHash(header));
  }

  private isOwn({ generator }: Header): boolean {
    return equal(generator, this.options.ownPublicKey);
  }

  /** A block with our key that no peer has announced was made here. */
  private onTip({ tip: { height, header }, block }: BlockEvent): void {
    const { scheme, blockchain, sessions } = this.deps;
    const key = this.keyOf(encodeHeader(header, scheme));
    if (this.stopped || this.seen.has(key) || !this.isOwn(header)) return;
    this.seen.add(key);
    if (height !== blockchain.tip().height || sessions.all().length === 0) return;
    const transactions = block.txs.map(({ bytes }) => bytes);
    const message = announcementOf(header, transactions, scheme)!;
    for (const session of sessions.all()) session.notify(blockProtocols.newBlock, message);
  }

  private onBlock(session: Session, message: Uint8Array): void {
    const { scheme, log, isFarBehind } = this.deps;
    if (this.stopped || isFarBehind()) return;
    // Most announcements are of a block that another peer announced earlier.
    const key = this.keyOf(compactHeaderBytes(message, scheme));
    if (this.arrivals.join(key, session)) return;
    if (this.seen.has(key) || !this.arrivals.hasRoom(session)) return;
    const compact = decodeCompact(message, scheme);
    const arrival = { compact, message: message.slice(), author: session, sources: [session] };
    this.arrivals.add(key, arrival);
    void this.take(arrival, key)
      .catch(unlessOurs((error) => log.error('block.gossip-failed', { why: String(error) })))
      .finally(() => this.arrivals.remove(key));
  }

  private async take(arrival: Arrival<Session>, key: string): Promise<void> {
    const { scheme, blockchain, sessions, clock, log } = this.deps;
    const { compact, author, sources } = arrival;
    const { header } = compact;
    const use = await this.allowedUse(arrival);
    if (use === undefined) return;
    // The list in the message is the author's, in whatever place it waits.
    const again = (): void => this.onBlock(author, arrival.message);
    const announced = { peers: sources, bytes: arrival.message.length };
    if (this.early.holds(header.timestamp - clock.now(), announced, again)) return;
    if (this.rebuild.isTooMuch(compact)) {
      author.offend('invalid-block', misconduct('a list of more bytes than a block may have'));
      return;
    }
    if (!(await this.rebuild.mayBeSigned(header))) {
      const what = misconduct('a header that its generator has not signed');
      for (const session of sources) session.offend('invalid-block', what);
      return;
    }
    arrival.stage = 'announced';
    const found = await fetchBlock(compact, sources, { rebuild: this.rebuild, sessions, log });
    if (found === undefined) {
      // Also who has gone meanwhile: a mark costs it nothing but that nobody waits for it.
      const isHere = heightOf(blockchain.view, header.signature) !== undefined;
      if (!isHere) this.coming.keptBack(sources);
      return;
    }
    arrival.stage = 'complete';
    const { block, isAsListed, missing } = found;
    const height = 1 + (heightOf(blockchain.view, header.reference) ?? 0);
    log.debug('block.rebuilt', { height, txs: block.transactions.length, missing });
    if (this.stopped) return;
    this.seen.add(key);
    if (!isAsListed) {
      author.offend('invalid-block', misconduct('a list of transactions of another block'));
    }
    const message = isAsListed
      ? arrival.message
      : announcementOf(block.header, block.transactions, scheme);
    const relayOnce = (): void => {
      if (this.relayed.has(key)) return;
      this.relayed.add(key);
      this.relay(arrival, block, message);
    };
    if (use !== 'fork') relayOnce();
    const verdict = await this.judge.judge(block).catch((cause) => {
      this.seen.delete(key);
      throw cause;
    });
    // A fault of this node, or of the time, says nothing about the block.
    if (WITHOUT_VERDICT.has(verdict.kind)) this.seen.delete(key);
    // Not earlier: a block on another branch may be useless to other nodes.
    if (use === 'fork' && verdict.kind === 'adopted') relayOnce();
    const isBlamed = verdict.kind === 'invalid' && !this.deps.isOutdated(height);
    if (isBlamed) blame(header, verdict.error, this.deps);
    if (verdict.kind === 'unknown-parent') this.deps.onOrphan();
    if (verdict.kind === 'not-better' || verdict.kind === 'outvoted') {
      await this.deps.lostBlocks.note(header);
    }
  }

  private useOf(header: Header): Use | 'orphan' | undefined {
    const { invalid, equivocations } = this.deps.forkChoice;
    const { turns: relayed, judge } = this;
    return useOf(header, { ...this.deps, invalid, equivocations, relayed, judge });
  }

  /** The judgement before anything is fetched; a header that breaks a rule is of no use. */
  private async allowedUse({ compact, sources }: Arrival<Session>): Promise<Use | undefined> {
    const { forkChoice, log } = this.deps;
    const { header } = compact;
    const use = this.useOf(header);
    if (use === 'orphan') {
      this.deps.onOrphan();
      return undefined;
    }
    if (use === undefined) {
      // It loses, and its miner was there all the same.
      const isBroken = forkChoice.invalid.has(header.signature) || this.judge.isSpent(header);
      if (!isBroken) await this.deps.lostBlocks.note(header);
      return undefined;
    }
    const refusal = await forkChoice.examine(header);
    if (refusal === undefined) return use;
    log.info('block.refused', { why: refusal.message });
    for (const session of sources) session.offend('invalid-block', refusal);
    return undefined;
  }

  /** A block that is not relayed spreads by sync, as the end of a chain, where it is the best. */
  private relay(
    { sources }: Arrival<Session>,
    block: Block,
    message: Uint8Array | undefined,
  ): void {
    this.deps.serve.hold(block);
    const { header } = block;
    if (message === undefined || this.deps.isFarBehind() || this.turns.isReached(header)) return;
    this.turns.add(header);
    for (const session of this.deps.sessions.all()) {
      if (!sources.includes(session)) session.notify(blockProtocols.newBlock, message);
    }
  }
}

/**
 * The transactions do not fit the state. Peers that relayed the block had not checked them; the
 * generator has signed exactly this header.
 */
function blame(
  { generator }: Header,
  why: Refusal,
  { scheme, sessions }: Pick<GossipBlocksDeps, 'scheme' | 'sessions'>,
): void {
  const address = scheme.addressOf(generator);
  for (const session of sessions.all()) {
    // Blames the owner too, which must not escape with the proof of an account that makes no
    // blocks.
    const isMade = equal(session.miner, address) || equal(session.owner, address);
    if (isMade) session.offend('invalid-block', why);
  }
}

/** Undefined where the block contains a transaction twice, which an announcement cannot express. */
function announcementOf(
  header: Header,
  transactions: readonly Uint8Array[],
  scheme: ChainScheme,
): Uint8Array | undefined {
  const txs = transactions.map((bytes) =>
    isMadeByMiner(bytes) ? { bytes } : { hash: scheme.fastHash(bytes) },
  );
  const hashes = txs.flatMap(({ hash }) => (hash === undefined ? [] : [latin1(hash)]));
  if (new Set(hashes).size < hashes.length) return undefined;
  return encodeCompact({ header, txs }, scheme);
}

/** Results of contracts are made together with the block, so they are in no pool. */
const isMadeByMiner = (bytes: Uint8Array): boolean => defOfBytes(bytes)?.madeByMiner === true;
