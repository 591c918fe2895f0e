/**
 * The most that one request may cost, whether a REST client or a peer sends it.
 *
 * Each route and each message declares its budget. The server enforces the budget before it does
 * the work. docs/limits.md, the interface description and the cost program (test/system/cost/) come from
 * the same declarations.
 */
export interface Budget {
  /** Bytes received: the body of a request, the whole of a message. */
  readonly bytesIn: number;
  /** Elements of all lists in the request together, at any depth. */
  readonly elements: number;
  /** Rows of the store or of the mempool that the request reads. */
  readonly rows: number;
  /** Bytes of the answer. */
  readonly bytesOut: number;
  /** True where the work yields to the rest of the event loop every few milliseconds. */
  readonly streamed: boolean;
}

export const KIB = 1024;
export const MIB = 1024 * KIB;

/** Of an ordinary message between nodes. */
const ORDINARY: Budget = {
  bytesIn: 0,
  elements: 0,
  rows: 100,
  bytesOut: 64 * KIB,
  streamed: false,
};

/** The cost of a message between nodes, and how often one peer may send it. */
export interface PeerBudget extends Budget {
  /** Requests of one peer that are served at a time. */
  readonly concurrent: number;
  readonly pace: PaceLimits;
}

/**
 * Limits a second for one peer. Faster messages are read later, which slows down their sender
 * alone.
 */
export interface PaceLimits {
  readonly messages: number;
  /** Of messages and answers together. */
  readonly bytes: number;
}

/** A budget in the form that the handlers of sessions take. */
export const limitsOf = ({ bytesIn, bytesOut, concurrent, pace }: PeerBudget) => ({
  messageBytesMax: bytesIn,
  answerBytesMax: bytesOut,
  concurrent,
  pace,
});

export const peerBudget = (
  special: Partial<Budget> & Pick<PeerBudget, 'concurrent' | 'pace'>,
): PeerBudget => ({ ...ORDINARY, ...special });
