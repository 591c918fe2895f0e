/** Why a peer is no longer followed. */
import { ApiError } from '../../base/errors.ts';
import { CodecError } from '../../codec/codec.ts';
import type { Session } from '../sessions/session.ts';

/**
 * The peer is at fault; another peer may do better; or its chain cannot be used at present.
 */
type Reason = 'blamed' | 'elsewhere' | 'later';

/** The peer is no longer followed. */
export class GivenUp extends Error {
  readonly reason: Reason;
  /** The peer at fault, if it is a helper and not the followed peer. */
  readonly culprit: Session | undefined;
  constructor(why: string, reason: Reason, culprit?: Session) {
    super(why);
    this.reason = reason;
    this.culprit = culprit;
  }
}

/** What was sent by the session; a refusal is its fault. Throws GivenUp. */
export function read<T>(session: Session, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    const refusal = error instanceof ApiError || error instanceof CodecError;
    if (!refusal) throw error;
    session.offend('malformed-message', error.message);
    throw new GivenUp(error.message, 'blamed', session);
  }
}
