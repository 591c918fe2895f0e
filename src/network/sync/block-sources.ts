/**
 * Whom to ask for blocks of the followed peer's chain: peers with as good a score take turns. The score
 * of the followed peer may be false, and ids bind blocks, so peers that are merely high enough come
 * after them. Those that were slow for what they sent come last.
 *
 * Invariant: a peer that lacked a block of that chain is asked for no other one of it for a minute, and
 * is not blamed: it may be on another branch.
 */
import { latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { ExpiringSet } from '../../concurrency/bounded-cache.ts';
import type { Session } from '../sessions/session.ts';
import type { PeerTip, PeerTips } from './peer-tips.ts';

/** An answer that took longer is slow … */
const QUICK_MS = 500;
/** … unless it brought so many bytes in each millisecond: a full line may take long. */
const FULL_LINE_BYTES = 64;
const REMEMBERED_MS = 60_000;
const REMEMBERED_MAX = 1_000;

export class BlockSources {
  private readonly peerTips: Pick<PeerTips, 'holders' | 'reaching'>;
  /** By owner. */
  private readonly slow: ExpiringSet;
  /** By the announced head and owner. */
  private readonly lacking: ExpiringSet;
  /** The position of the next helper. */
  private turn = 0;

  constructor(peerTips: Pick<PeerTips, 'holders' | 'reaching'>, clock: Clock) {
    this.peerTips = peerTips;
    this.slow = new ExpiringSet(REMEMBERED_MAX, REMEMBERED_MS, clock);
    this.lacking = new ExpiringSet(REMEMBERED_MAX, REMEMBERED_MS, clock);
  }

  /** Undefined when all have been asked. */
  next(target: PeerTip, height: number, asked: ReadonlySet<Session>): Session | undefined {
    const isLeft = (one: Session): boolean =>
      !asked.has(one) && !this.lacking.has(this.pairOf(target, one));
    const isQuick = ({ owner }: Session): boolean => !this.slow.has(latin1(owner));
    const good = this.peerTips.holders(target.score).filter(isLeft);
    const high = this.peerTips
      .reaching(height)
      .filter((one) => isLeft(one) && !good.includes(one) && one !== target.session);
    const ranks = [good.filter(isQuick), high.filter(isQuick), good, high];
    const helpers = ranks.find(({ length }) => length > 0) ?? [];
    return helpers[this.turn++ % Math.max(1, helpers.length)];
  }

  answered({ owner }: Session, tookMs: number, bytes: number): void {
    if (tookMs < QUICK_MS || bytes >= tookMs * FULL_LINE_BYTES) this.slow.delete(latin1(owner));
    else this.slow.add(latin1(owner));
  }

  /** It does not have the first block that it was asked for. */
  lacks(session: Session, target: PeerTip): void {
    if (session !== target.session) this.lacking.add(this.pairOf(target, session));
  }

  private pairOf(target: PeerTip, { owner }: Session): string {
    return latin1(target.id) + latin1(owner);
  }
}
