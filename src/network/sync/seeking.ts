/** Votes for blocks that this chain does not have (finality.md#fork-choice): a port to what counts them. */
import type { Session } from '../sessions/session.ts';

export interface Seeking {
  /** Some block that is justified, or may be, is not in the own chain, and this peer is to be asked for it. */
  asks(peer: Session): boolean;
  /** The peer is asked for its chain. */
  asked(peer: Session): void;
  onSeeking: () => void;
}
