/** The protocol of votes (finality.md#spread); finality/votes/votes-message.ts has its bytes. */
export const VOTES = 'votes/1';

/** The protocol of proofs of final blocks (finality.md#spread); finality/proofs/final-proof.ts has their bytes. */
export const FINALITY_PROOFS = 'finality-proofs/1';
