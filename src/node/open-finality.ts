/**
 * The finality of a node: the engine (finality/finality.ts) on its chain, its disk and its sessions. It runs
 * from the activation of feature 1004 on, under proof of authority.
 *
 * Invariants: before that, nothing is sent, written or refused; the engine learns of blocks after they are
 * on disk; a final block is on disk before it is shown.
 */

import { unlessOurs } from '../base/assert.ts';
import { equal } from '../base/bytes.ts';
import type { Disposal } from '../base/disposal.ts';
import { limitsOf } from '../base/limits/budget.ts';
import type { SigningAccount } from '../base/signer/signing.ts';
import type { Header } from '../block/header.ts';
import type { AppliedBlock } from '../chain/apply/block-applier.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import { exactLead, type Lead, leadOf, type VotesOfChain } from '../chain/finality/branch-lead.ts';
import { carriedAbove, storedFinal } from '../chain/finality/carriers.ts';
import { finalFloor, storedAhead } from '../chain/finality/final-floor.ts';
import { FinalityIndex } from '../chain/finality/finality-index.ts';
import { ChainBlocks, requireRoot, rootHeight } from '../chain/finality/finality-state.ts';
import { requireOverrides } from '../chain/finality/required-overrides.ts';
import { keyAmong } from '../chain/finality/voter-override.ts';
import type { BranchFinality } from '../chain/fork/branch-switch.ts';
import type { Conflict } from '../finality/conflicts.ts';
import { Finality, type Peer } from '../finality/finality.ts';
import { encodeFinalProof } from '../finality/proofs/final-proof.ts';
import { encodeJustification } from '../finality/proofs/justification.ts';
import { rules as finalityRules } from '../finality/rules.ts';
import { ancestorAt } from '../finality/tracked-block.ts';
import type { Contradiction } from '../finality/votes/evidence.ts';
import type { Checkpoint } from '../finality/votes/vote.ts';
import { proofsBudget, votesBudget } from '../network/messages/message-budgets.ts';
import { FINALITY_PROOFS, VOTES } from '../network/messages/vote-messages.ts';
import type { Session, Sessions } from '../network/sessions/session.ts';
import type { FinalityReport } from '../rest/services.ts';
import type { ChainRules, VoterOverride } from '../tx/rules/chain-rules.ts';
import { activationHeight, feature } from '../tx/rules/features.ts';
import type { Config } from './config/settings.ts';
import { FinalStop } from './finality/final-stop.ts';
import { type FinalityOptionsOfNode, finalityOptions } from './finality/finality-options.ts';
import { reportOf } from './finality/finality-report.ts';
import { JustifiedSearch, type Sought, soughtBy } from './finality/justified-search.ts';
import { saveFinalProof } from './finality/save-final-proof.ts';
import { openNote, requireNote } from './finality/voter-note.ts';
import type { NodePorts } from './node-ports.ts';

export interface FinalityPortsOfNode
  extends Pick<NodePorts, 'scheme' | 'store' | 'verifier' | 'clock' | 'log' | 'files'> {
  readonly blockchain: Blockchain;
  readonly rules: ChainRules;
  readonly owner: Pick<SigningAccount, 'publicKey' | 'sign'>;
}

interface Running extends VotesOfChain {
  readonly engine: Finality;
}

/** The finality of a configured node; it runs before the network does. */
export function openFinality(
  config: Config,
  { started, ...ports }: FinalityPortsOfNode & { readonly started: Disposal },
): NodeFinality {
  const finality = new NodeFinality(finalityOptions(config), ports);
  started.add('finality', () => finality.stop());
  finality.start();
  return finality;
}

/** With fewer voters a quorum is all of them, and one that is away would stop the chain. */
const WAITING_VOTERS_MIN = 4;
/** The genesis block carries no votes, and none is for it. */
const FIRST_HEIGHT = 2;
/** A key that is without its note so soon after the feature began has not voted before. */
const FIRST_MS = 10 * 60_000;
const NOTHING = new Uint8Array(0);
/** What this node has kept for itself comes from no peer. */
const NOBODY: Peer = { voter: undefined, send: () => {}, prove: () => {} };

export class NodeFinality implements BranchFinality {
  private readonly options: FinalityOptionsOfNode;
  private readonly ports: FinalityPortsOfNode;
  private readonly overrides: readonly VoterOverride[];
  private readonly sessionPeers = new WeakMap<Session, Peer>();
  private running: Running | undefined;
  private sessions: Pick<Sessions, 'all'> | undefined;
  private forget: () => void = () => {};
  private readonly search: JustifiedSearch<Session>;
  private readonly stopped: FinalStop;
  /** Votes say that another chain may be the better one. */
  onSeeking: () => void = () => {};
  /** A block is final, and the proof of it on disk. */
  onFinal: () => void = () => {};

  constructor(options: FinalityOptionsOfNode, ports: FinalityPortsOfNode) {
    this.options = options;
    this.ports = ports;
    this.overrides = ports.rules.voterOverrides ?? [];
    this.stopped = new FinalStop({ ...ports, overrides: this.overrides });
    this.search = new JustifiedSearch({
      clock: ports.clock,
      head: () => ports.blockchain.tip(),
      sought: () => this.sought(),
      hasTold: (session, keys) =>
        this.running?.engine.tellers.has(this.peerOf(session), keys) === true,
      peers: () => this.sessions?.all() ?? [],
    });
  }

  /** Call before sessions start. */
  attach(sessions: Sessions): void {
    this.sessions = sessions;
    sessions.handleNotices(VOTES, {
      ...limitsOf(votesBudget),
      take: (session, message) => this.take(session, message, 'receive'),
    });
    sessions.handleNotices(FINALITY_PROOFS, {
      ...limitsOf(proofsBudget),
      take: (session, message) => this.take(session, message, 'receiveProof'),
    });
    sessions.onOpen((session) => this.running?.engine.joined(this.peerOf(session)));
  }

  /** Throws StartError where the chain has no record of who may vote. */
  start(): void {
    const { blockchain, files, owner } = this.ports;
    const { isPoa, votes, notePath: path } = this.options;
    if (isPoa) this.requireDecisions();
    // A damaged one shows now, and not when the feature begins.
    if (files !== undefined && isPoa && votes) {
      requireNote(files, path, owner.publicKey, blockchain.view);
    }
    this.forget = blockchain.listen({
      rolledBack: () => this.moved(),
      block: ({ tip }) => this.block(tip.height),
    });
    this.begin();
  }

  stop(): void {
    this.forget();
    this.running?.engine.stop();
  }

  private requireDecisions(): void {
    const { blockchain, rules, log } = this.ports;
    const { height } = blockchain.tip();
    requireRoot(blockchain.view, height, rules);
    requireOverrides(blockchain.view, this.overrides, height);
    for (const { block } of this.overrides)
      log.warn('finality.overridden', { height: block.height });
    this.stopped.require();
  }

  private begin(): void {
    const { blockchain, rules, scheme, clock, log, verifier } = this.ports;
    const { isPoa, maxRollback, roundMs, votes } = this.options;
    const { view } = blockchain;
    const tip = blockchain.tip();
    const from = activationHeight(view, feature.finality, rules);
    const root = rootHeight(view, rules);
    if (!isPoa || from === undefined || root === undefined || from > tip.height + 1) return;
    const isFirst =
      tip.height < Math.max(from, FIRST_HEIGHT) && clock.now() - tip.header.timestamp < FIRST_MS;
    const index = new FinalityIndex(view, root, () => blockchain.tip(), this.overrides);
    if (index.at(tip) === undefined) return;
    const chain = new ChainBlocks(view, new Map(), root);
    const stored = storedFinal(view, index);
    const final = stored ?? chain.checkpoint(root);
    const genesis = chain.checkpoint(1).id;
    const engine = new Finality(
      final,
      { genesis, maxRollback, roundMs },
      {
        scheme,
        clock,
        log,
        verifier,
        rules: finalityRules,
        blocks: index,
        head: () => index.at(blockchain.tip())!,
        peers: () => this.peers(),
        voter: votes ? this.voterOf(genesis, isFirst) : undefined,
        saveProof: (bytes) => this.saveProof(bytes),
        onConflict: (found, change) => this.conflict(found, change),
        onChange: () => {
          this.search.changed();
          if (this.seeksJustified()) this.onSeeking();
        },
      },
    );
    this.running = { engine, index, root, scheme };
    index.addBelow(tip.height);
    for (const block of carriedAbove(final.height, index, stored !== undefined))
      engine.added(block);
    engine.start();
    engine.moved();
    const ahead = storedAhead(view);
    if (ahead !== undefined) this.judged(engine.receiveProof(ahead, NOBODY));
    log.info('finality.started', { root, final: final.height });
  }

  private async saveProof(bytes: Uint8Array): Promise<boolean> {
    const isSaved = await saveFinalProof(this.ports, bytes);
    if (isSaved) this.shown();
    return isSaved;
  }

  private conflict(found: Conflict, change: number): void {
    if (!this.stopped.stops(found, change)) return;
    this.running?.engine.stop();
    for (const peer of this.peers()) peer.prove(encodeFinalProof(found.other, this.ports.scheme));
  }

  /** `isFirst`: nobody can have voted before, since this is the moment at which the feature begins. */
  private voterOf(genesis: Uint8Array, isFirst: boolean) {
    const { files, owner, scheme } = this.ports;
    if (files === undefined) return undefined;
    const { publicKey, sign } = owner;
    const mine = { genesis, voter: publicKey };
    return { publicKey, sign, ...openNote(files, this.options.notePath, mine, scheme, isFirst) };
  }

  private block(height: number): void {
    if (this.running === undefined) {
      this.begin();
      return;
    }
    const { engine, index } = this.running;
    const block = index.add(height);
    if (block !== undefined) engine.added(block);
    if (height === this.ports.blockchain.tip().height) this.moved();
  }

  private moved(): void {
    const { running } = this;
    const { blockchain } = this.ports;
    // Of a switch of branches, the blocks follow.
    if (running === undefined || running.index.at(blockchain.tip()) === undefined) return;
    running.engine.moved();
  }

  private shown(): void {
    const { running } = this;
    if (running === undefined) return;
    const { engine, index } = running;
    index.forgetBelow(engine.final().height - 1);
    this.onFinal();
  }

  private take(session: Session, message: Uint8Array, as: 'receive' | 'receiveProof'): void {
    const { running } = this;
    if (running === undefined) return;
    this.judged(running.engine[as](message.slice(), this.peerOf(session)), session);
  }

  private judged(judging: ReturnType<Finality['receive']>, session?: Session): void {
    const { log } = this.ports;
    judging
      .then((offence) => {
        if (offence !== undefined) session?.offend('malformed-message', offence);
      })
      .catch(unlessOurs((cause) => log.error('finality.votes-failed', { why: String(cause) })));
  }

  private *peers(): Iterable<Peer> {
    for (const session of this.sessions?.all() ?? []) yield this.peerOf(session);
  }

  private peerOf(session: Session): Peer {
    const known = this.sessionPeers.get(session);
    if (known !== undefined) return known;
    const voterKey = (): Uint8Array | undefined => this.keyOf(session.miner);
    const peer: Peer = {
      get voter() {
        return voterKey();
      },
      send: (message) => void session.notify(VOTES, message),
      prove: (proof) => void session.notify(FINALITY_PROOFS, proof),
    };
    this.sessionPeers.set(session, peer);
    return peer;
  }

  /** Of the voter with this address, among those who decide on the head or on its children. */
  private keyOf(address: Uint8Array): Uint8Array | undefined {
    const { running } = this;
    const head = running?.index.at(this.ports.blockchain.tip());
    if (running === undefined || head === undefined) return undefined;
    for (const sets of [head.leaves, head.deciding]) {
      const key = keyAmong(running.engine.tracker.deciding(sets).members, address);
      if (key !== undefined) return key;
    }
    return undefined;
  }

  /** The justification that the next block of this node carries. */
  carried(): Uint8Array {
    const justification = this.running?.engine.toCarry();
    if (justification === undefined) return NOTHING;
    return encodeJustification(justification, this.ports.scheme).slice();
  }

  /** Whether the next block of this node has to wait for votes, or for another one that is named. */
  lacksVotes(): boolean {
    const { running } = this;
    const head = running?.index.at(this.ports.blockchain.tip());
    if (running === undefined || head === undefined) return false;
    if (this.problem() !== undefined) return true;
    if (this.overrides.some(({ block }) => block.height === head.checkpoint.height + 1))
      return true;
    if (!this.options.waits) return false;
    if (head.leaves.current.keys.length < WAITING_VOTERS_MIN) return false;
    return !running.engine.mayMakeBlock();
  }

  /** The final block that is on disk; undefined before the feature is active. */
  final(): Checkpoint | undefined {
    return this.running?.engine.final();
  }

  /** Two final blocks contradict each other, so this node has stopped; undefined while it works. */
  problem(): string | undefined {
    return this.stopped.reason();
  }

  /** GET /finality. */
  report(): FinalityReport | undefined {
    const { running } = this;
    const head = running?.index.at(this.ports.blockchain.tip());
    if (running === undefined || head === undefined) return undefined;
    const { view } = this.ports.blockchain;
    const finalHeight = finalFloor(view);
    return reportOf(running.engine, head, {
      scheme: this.ports.scheme,
      finalHeight,
      finalSets: finalHeight === 0 ? undefined : running.index.add(finalHeight)?.leaves,
      waits: this.problem() === undefined && this.lacksVotes(),
      conflict: this.problem() ?? '',
      overrides: this.overrides,
    });
  }

  /** GET /finality/evidence. */
  evidence(): readonly Contradiction[] {
    return this.running?.engine.pool.evidence.list() ?? [];
  }

  floor(): number {
    const { running } = this;
    const { view } = this.ports.blockchain;
    const tip = this.ports.blockchain.tip();
    if (running === undefined) return finalFloor(view);
    if (this.problem() !== undefined) return tip.height;
    const { final } = running.engine.tracker;
    const head = running.index.at(tip);
    const own = head && ancestorAt(head, final.height, running.index);
    const isOwn = own !== undefined && equal(own.checkpoint.id, final.id);
    return isOwn ? final.height : Math.max(finalFloor(view), running.root);
  }

  /** Some block that is justified, or may be, is not in the own chain. */
  seeksJustified(): boolean {
    return this.search.isSeeking();
  }

  asks(peer: Session): boolean {
    return this.search.asks(peer);
  }

  asked(peer: Session): void {
    this.search.asked(peer);
  }

  private sought(): Sought | undefined {
    const { running } = this;
    const head = running?.index.at(this.ports.blockchain.tip());
    return running && head && soughtBy(running, head);
  }

  lead(ancestor: number, branch: readonly Header[]): Lead {
    return this.running && leadOf(this.running, this.ports.blockchain.tip(), ancestor, branch);
  }

  exactLead(ancestor: number, branch: readonly AppliedBlock[]): Lead {
    return this.running && exactLead(this.running, this.ports.blockchain.tip(), ancestor, branch);
  }
}
