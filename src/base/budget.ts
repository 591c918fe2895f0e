/**
 * What one request may cost at most, be it of a REST client or of a peer.
 *
 * The route or the message that takes the request declares its budget; the machinery that serves it
 * enforces the budget before it spends the work; docs/limits.md, the interface description and the
 * cost program (test/cost/) are made from the same declarations.
 */
export interface Budget {
  /** Bytes that come in: the body of a request, the whole of a message. */
  readonly bytesIn: number;
  /** Elements of all lists in it together, wherever they stand. */
  readonly elements: number;
  /** Rows of the store or of the mempool that are read for it. */
  readonly rows: number;
  /** Bytes of the answer. */
  readonly bytesOut: number;
  /** True where the work gives way to the rest of the event loop every few milliseconds. */
  readonly inTurns: boolean;
}

export const KIB = 1024;
export const MIB = 1024 * KIB;

/** A budget for an ordinary request, with what is special about this one. */
export const budget = (special: Partial<Budget> = {}): Budget => ({ ...ORDINARY, ...special });

const ORDINARY: Budget = {
  bytesIn: 0,
  elements: 0,
  rows: 100,
  bytesOut: 64 * KIB,
  inTurns: false,
};

/** What a message between nodes may cost, and how often one peer may send it. */
export interface PeerBudget extends Budget {
  /** Requests of one peer that are answered at a time, and asked of it; 0 for notices. */
  readonly concurrent: number;
  readonly pace: PaceLimits;
}

/** In a second, of one peer. What comes faster is read later, which holds back its sender alone. */
export interface PaceLimits {
  readonly messages: number;
  /** Of messages and answers together. */
  readonly bytes: number;
}

/** A declaration as the handlers of sessions take it. */
export const limitsOf = ({ bytesIn, bytesOut, concurrent, pace }: PeerBudget) => ({
  messageBytesMax: bytesIn,
  answerBytesMax: bytesOut,
  concurrent,
  pace,
});

export const peerBudget = (
  special: Partial<Budget> & Pick<PeerBudget, 'concurrent' | 'pace'>,
): PeerBudget => ({ ...ORDINARY, ...special });
