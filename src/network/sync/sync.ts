/**
 * Which peer to follow, and when (network.md#sync): the one with the best chain (peer-tips.ts), whose
 * blocks are taken over by follow-peer.ts.
 *
 * Invariants: one run at a time; a peer that does not answer is followed after all others for five
 * minutes; a peer that announces a better chain than it has, or stalls (stall-detector.ts), is
 * ignored for that time; a peer whose chain this node could not take rests alone.
 */
import { isOurs, unlessOurs } from '../../base/assert.ts';
import { latin1 } from '../../base/bytes.ts';
import { isOwnFault } from '../../base/faults/own-fault.ts';
import type { Evidence } from '../../codec/evidence.ts';
import { ExpiringSet } from '../../concurrency/bounded-cache.ts';
import type { Session } from '../sessions/session.ts';
import { type FollowOptions, type FollowPorts, PeerFollower } from './follow-peer.ts';
import { Blamed, GivenUp } from './given-up.ts';
import type { PeerTip } from './peer-tips.ts';

export const SYNC_STATES = ['idle', 'following', 'far-behind'] as const;
export type SyncState = (typeof SYNC_STATES)[number];

/** Lets an announced block arrive by itself before it is asked for. */
const ANNOUNCEMENT_WAIT_MS = 500;
/** Before a better chain that could not be taken is tried again. */
const RETRY_MS = 2_000;
/**
 * The same where this node could not take it: the blocks have to be sent again. Perhaps it was this
 * chain that was too much for it, so it goes on with that of another peer. Where it cannot take that
 * one either, all rest.
 */
const OWN_FAULT_RETRY_MS = 10_000;
const RESTING_MAX = 1_000;
/** Peers whose chain cannot be taken at present, in one run; the others may do better. */
const SET_ASIDE_MAX = 3;

export class Sync {
  private readonly deps: FollowPorts;
  private readonly follower: PeerFollower;
  private running: Promise<void> | undefined;
  private stopped = false;
  /** Owners whose chain this node could not take. */
  private readonly resting: ExpiringSet;
  /** On the monotonic clock; no peer is followed before. */
  private restUntil = Number.NEGATIVE_INFINITY;
  private cancelWake: (() => void) | undefined;

  constructor(options: FollowOptions, deps: FollowPorts) {
    this.deps = deps;
    this.follower = new PeerFollower(options, deps);
    this.resting = new ExpiringSet(RESTING_MAX, OWN_FAULT_RETRY_MS, deps.clock);
  }

  start(): void {
    const { peerTips, blockchain } = this.deps;
    peerTips.onTip(({ height, score, session }) => {
      const tip = blockchain.tip();
      if ((score < tip.score && !peerTips.seeksIn(session)) || this.running !== undefined) return;
      if (height > tip.height + 1) this.wake();
      else this.wakeLater();
    });
  }

  /** True while more than one batch is missing and blocks come in: no mining, no relay. */
  isFarBehind(): boolean {
    return this.follower.isFarBehind;
  }

  state(): SyncState {
    return this.isFarBehind() ? 'far-behind' : this.running === undefined ? 'idle' : 'following';
  }

  /** Announced blocks of the followed peer that this node does not have. */
  missing(): number {
    return this.follower.missing;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.follower.stop();
    this.cancelWake?.();
    await this.running;
  }

  private wakeLater(ms = ANNOUNCEMENT_WAIT_MS): void {
    this.cancelWake ??= this.deps.clock.after(ms, () => {
      this.cancelWake = undefined;
      this.wake();
    });
  }

  /** Looks for a better chain now. */
  wake(): void {
    const { peerTips, clock, log } = this.deps;
    if (this.stopped || this.running !== undefined || peerTips.best() === undefined) return;
    const rest = this.restUntil - clock.monotonic();
    if (rest > 0) {
      this.wakeLater(rest);
      return;
    }
    if (this.nextTarget() === undefined) {
      this.wakeLater(RETRY_MS);
      return;
    }
    this.running = this.run()
      .catch(
        unlessOurs((error) => {
          if (isOwnFault(error)) this.restUntil = clock.monotonic() + OWN_FAULT_RETRY_MS;
          log.error('sync.failed', { why: String(error) });
        }),
      )
      .then(() => {
        this.running = undefined;
        this.follower.reset();
        if (!this.stopped && peerTips.best() !== undefined) this.wakeLater(RETRY_MS);
      });
  }

  private nextTarget(setAside: Iterable<Session> = []): PeerTip | undefined {
    const { peerTips, sessions } = this.deps;
    const resting = sessions.all().filter(({ owner }) => this.resting.has(latin1(owner)));
    return peerTips.best(new Set([...setAside, ...resting]));
  }

  private async run(): Promise<void> {
    const setAside = new Set<Session>();
    let hasFailed = false;
    for (;;) {
      const target = this.nextTarget(setAside);
      if (this.stopped || target === undefined || setAside.size >= SET_ASIDE_MAX) return;
      this.deps.peerTips.asked(target.session);
      try {
        await this.follower.follow(target);
      } catch (error) {
        if (!(error instanceof GivenUp)) {
          if (hasFailed || isOurs(error) || !isOwnFault(error)) throw error;
          hasFailed = true;
          this.resting.add(latin1(target.session.owner));
          this.deps.log.error('sync.failed', { peer: target.session.nodeName, why: String(error) });
          continue;
        }
        this.deps.log.warn('sync.given-up', { peer: target.session.nodeName, why: error.message });
        if (error.reason === 'later') setAside.add(target.session);
        if (error instanceof Blamed) this.blame(error.culprit ?? target.session, error.evidence);
      }
    }
  }

  private blame(culprit: Session, evidence: Evidence): void {
    this.deps.peerTips.ignore(culprit);
    // What was an offence of its own has closed the session already.
    if (this.isOpen(culprit)) culprit.offend('unanswered-request', evidence);
  }

  private isOpen(session: Session): boolean {
    return this.deps.sessions.of(session.owner) === session;
  }
}
