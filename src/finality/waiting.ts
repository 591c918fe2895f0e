/**
 * How far a chain goes on without finality (finality.md#waiting), and which branch a node follows. These decide
 * what a node makes and prefers; they make no block invalid.
 */

export interface Progress {
  /** Of the block to be made. */
  readonly height: number;
  /** Highest final block that this node knows. */
  readonly final: number;
  /** `max-rollback`. */
  readonly maxRollback: number;
  /** Of each deciding set a quorum is connected now, this node included. */
  readonly isQuorumConnected: boolean;
  /** Of each deciding set a quorum is known to have voted at the parent's height or above, for whatever. */
  readonly hasQuorumVoted: boolean;
  /** The block carries a justification that its chain lacks. */
  readonly carriesJustification: boolean;
}

export function mayMakeBlock(progress: Progress): boolean {
  const { height, final, maxRollback } = progress;
  if (height <= final + maxRollback) return true;
  const { isQuorumConnected, hasQuorumVoted, carriesJustification } = progress;
  return isQuorumConnected && (hasQuorumVoted || carriesJustification);
}
