/** Why a peer is no longer followed. */
import { Refusal } from '../../base/errors.ts';
import type { Misconduct } from '../../base/faults/misconduct.ts';
import { CodecError } from '../../codec/codec.ts';
import type { Evidence } from '../../codec/evidence.ts';
import type { Session } from '../sessions/session.ts';
import type { PeerTip, PeerTips } from './peer-tips.ts';

/**
 * The peer is at fault; another peer may do better; or its chain cannot be used at present.
 */
type Reason = 'blamed' | 'elsewhere' | 'later';

/** The peer is no longer followed. */
export class GivenUp extends Error {
  readonly reason: Reason;
  constructor(why: string, reason: Reason) {
    super(why);
    this.reason = reason;
  }
}

/** The peer is no longer followed, because of what it did. */
export class Blamed extends GivenUp {
  readonly evidence: Evidence;
  /** The peer at fault, if it is a helper and not the followed peer. */
  readonly culprit: Session | undefined;
  constructor(evidence: Evidence, culprit?: Session) {
    super(evidence.message, 'blamed');
    this.evidence = evidence;
    this.culprit = culprit;
  }
}

/** A peer does not give what it has announced. That is its fault, unless it has rolled back since. */
export async function notGiven(
  target: PeerTip,
  what: Misconduct,
  peerTips: Pick<PeerTips, 'rollsBack'>,
): Promise<GivenUp> {
  const hasRolledBack = await peerTips.rollsBack(target);
  return hasRolledBack ? new GivenUp(what.message, 'elsewhere') : new Blamed(what);
}

/** What was sent by the session; a refusal is its fault. Throws Blamed. */
export function read<T>(session: Session, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    const isRefusal = error instanceof Refusal || error instanceof CodecError;
    if (!isRefusal) throw error;
    session.offend('malformed-message', error);
    throw new Blamed(error, session);
  }
}
