/** The protocol of votes (finality.md#spread); finality/votes-message.ts has its bytes. */
export const VOTES = 'votes/1';
