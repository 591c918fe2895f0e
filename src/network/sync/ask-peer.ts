/**
 * A request of the download. It ends by its time-out, when the peer is no longer followed, or when
 * the peer is slow and another one may take over; the time-out of the slow peer runs on. A peer that
 * was slow itself a short while ago takes nothing over: two that are far away would be left for each
 * other again and again, before either can answer.
 */
import { latin1 } from '../../base/bytes.ts';
import { Misconduct } from '../../base/faults/misconduct.ts';
import { isOwnFault } from '../../base/faults/own-fault.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { ExpiringSet } from '../../concurrency/bounded-cache.ts';
import { every } from '../../concurrency/interval.ts';
import { SilentLine } from '../sessions/requests.ts';
import type { Session, Sessions } from '../sessions/session.ts';
import { GivenUp } from './given-up.ts';
import type { PeerTips } from './peer-tips.ts';

export interface AskPorts {
  readonly peerTips: Pick<PeerTips, 'best' | 'defer' | 'markSlow'>;
  readonly sessions: Pick<Sessions, 'of'>;
  readonly clock: Clock;
}

/** Rejects with GivenUp, or with a fault of this node. Once `left` is aborted, nothing is sent and what is pending ends. */
export type AskPeer = (
  session: Session,
  protocol: string,
  message: Uint8Array,
  left: AbortSignal,
) => Promise<Uint8Array>;

/** After that another peer is asked as well. */
const SLOW_MS = 4_000;
/** How long a peer that was slow takes over from no other. */
const WAS_SLOW_MS = 60_000;
const WERE_SLOW_MAX = 1_000;

export function createAskPeer(timeoutMs: number, { peerTips, sessions, clock }: AskPorts): AskPeer {
  /** By owner. */
  const wereSlow = new ExpiringSet(WERE_SLOW_MAX, WAS_SLOW_MS, clock);
  return (session, protocol, message, left) => {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    const elsewhere = (why: string): void => reject(new GivenUp(why, 'elsewhere'));
    const leave = (): void => elsewhere(String(left.reason));
    if (left.aborted) {
      leave();
      return promise;
    }
    left.addEventListener('abort', leave);
    const cancel = every(clock, SLOW_MS, () => {
      peerTips.markSlow(session, true);
      wereSlow.add(latin1(session.owner));
      const other = peerTips.best();
      if (other === undefined || wereSlow.has(latin1(other.session.owner))) return;
      elsewhere('others may be faster');
    });
    function over(): void {
      cancel();
      left.removeEventListener('abort', leave);
      peerTips.markSlow(session, false);
    }
    function failed(error: unknown): void {
      over();
      const why = `no answer: ${String(error)}`;
      if (isOwnFault(error)) {
        reject(error);
        return;
      }
      // A broken or dead connection is no offence.
      if (error instanceof SilentLine) session.close(why);
      const isOpen = sessions.of(session.owner) === session;
      if (isOpen) peerTips.defer(session);
      const isOffence = isOpen && error instanceof Misconduct;
      if (isOffence) session.offend('unanswered-request', error);
      // An open session without an offence would be asked again at once.
      if (isOpen && !isOffence) reject(new GivenUp(why, 'later'));
      else elsewhere(why);
    }
    session.request(protocol, message, timeoutMs).then((answer) => {
      over();
      resolve(answer);
    }, failed);
    return promise;
  };
}
