/**
 * Which peer to follow, and when (network.md#sync): the one with the best chain (peer-heads.ts), whose
 * blocks are taken over by follow-peer.ts.
 *
 * Invariants: one run at a time; a peer that does not answer is followed after all others for five
 * minutes; a peer that announces a better chain than it has, or stalls (stall-detector.ts), is
 * ignored for that time; a peer whose chain this node could not take rests alone.
 */
import { isOurs, unlessOurs } from '../../base/assert.ts';
import { latin1 } from '../../base/bytes.ts';
import { isOwnFault } from '../../base/own-fault.ts';
import type { Evidence } from '../../codec/evidence.ts';
import { ExpiringSet } from '../../concurrency/bounded-cache.ts';
import type { Session } from '../sessions/session.ts';
import { type FollowOptions, type FollowPorts, PeerFollower } from './follow-peer.ts';
import { Blamed, GivenUp } from './given-up.ts';
import type { PeerHead } from './peer-heads.ts';

export const SYNC_STATES = ['idle', 'following', 'far-behind'] as const;
export type SyncState = (typeof SYNC_STATES)[number];

export interface Sync {
  /** Looks for a better chain now. */
  wake(): void;
  /** True while more than one batch is missing and blocks come in: no mining, no relay. */
  isFarBehind(): boolean;
  state(): SyncState;
  /** Announced blocks of the followed peer that this node does not have. */
  missing(): number;
  stop(): Promise<void>;
}

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

export function createSync(options: FollowOptions, ports: FollowPorts): Sync {
  const { blockchain, heads, sessions, clock, log } = ports;
  const follower = new PeerFollower(options, ports);
  let running: Promise<void> | undefined;
  let stopped = false;
  /** Owners whose chain this node could not take. */
  const resting = new ExpiringSet(RESTING_MAX, OWN_FAULT_RETRY_MS, clock);
  /** On the monotonic clock; no peer is followed before. */
  let restUntil = Number.NEGATIVE_INFINITY;
  let cancelWake: (() => void) | undefined;
  heads.onHead(({ height, score }) => {
    const tip = blockchain.tip();
    if (score < tip.score || running !== undefined) return;
    if (height > tip.height + 1) wake();
    else wakeLater();
  });

  function wakeLater(ms = ANNOUNCEMENT_WAIT_MS): void {
    cancelWake ??= clock.after(ms, () => {
      cancelWake = undefined;
      wake();
    });
  }

  function wake(): void {
    if (stopped || running !== undefined || heads.best() === undefined) return;
    const rest = restUntil - clock.monotonic();
    if (rest > 0) {
      wakeLater(rest);
      return;
    }
    if (nextTarget() === undefined) {
      wakeLater(RETRY_MS);
      return;
    }
    running = run()
      .catch(
        unlessOurs((error) => {
          if (isOwnFault(error)) restUntil = clock.monotonic() + OWN_FAULT_RETRY_MS;
          log.error('sync.failed', { why: String(error) });
        }),
      )
      .then(() => {
        running = undefined;
        follower.reset();
        if (!stopped && heads.best() !== undefined) wakeLater(RETRY_MS);
      });
  }

  const nextTarget = (setAside: Iterable<Session> = []): PeerHead | undefined =>
    heads.best(new Set([...setAside, ...sessions.all().filter(isResting)]));

  const isResting = ({ owner }: Session): boolean => resting.has(latin1(owner));

  async function run(): Promise<void> {
    const setAside = new Set<Session>();
    let hasFailed = false;
    for (;;) {
      const target = nextTarget(setAside);
      if (stopped || target === undefined || setAside.size >= SET_ASIDE_MAX) return;
      try {
        await follower.follow(target);
      } catch (error) {
        if (!(error instanceof GivenUp)) {
          if (hasFailed || isOurs(error) || !isOwnFault(error)) throw error;
          hasFailed = true;
          resting.add(latin1(target.session.owner));
          log.error('sync.failed', { peer: target.session.nodeName, why: String(error) });
          continue;
        }
        log.warn('sync.given-up', { peer: target.session.nodeName, why: error.message });
        if (error.reason === 'later') setAside.add(target.session);
        if (error instanceof Blamed) blame(error.culprit ?? target.session, error.evidence);
      }
    }
  }

  function blame(culprit: Session, evidence: Evidence): void {
    heads.ignore(culprit);
    // What was an offence of its own has closed the session already.
    if (isOpen(culprit)) culprit.offend('unanswered-request', evidence);
  }

  const isOpen = (session: Session): boolean => sessions.of(session.owner) === session;

  const isFarBehind = (): boolean => follower.isFarBehind;

  return {
    wake,
    isFarBehind,
    state: () => (isFarBehind() ? 'far-behind' : running === undefined ? 'idle' : 'following'),
    missing: () => follower.missing,
    async stop() {
      stopped = true;
      follower.stop();
      cancelWake?.();
      await running;
    },
  };
}
