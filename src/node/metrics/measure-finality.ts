/** Metrics of finality. Where nobody votes there are none. */

import { VOTER_STATES } from '../../finality/voter.ts';
import type { FinalityReport } from '../../rest/services.ts';
import type { NodeMetrics } from './observability.ts';

export interface FinalityReadings {
  readonly report: () => FinalityReport | undefined;
  readonly height: () => number;
  /** Address of this node. */
  readonly own: string;
}

export function watchFinality({ report, height, own }: FinalityReadings, metrics: NodeMetrics) {
  let shown: readonly string[] = [];
  metrics.onRead(() => {
    const state = report();
    if (state === undefined) {
      removeAll(metrics, shown);
      shown = [];
      return;
    }
    const { finalHeight, contradictions, voters, next } = state;
    metrics.finalHeight.set(finalHeight);
    metrics.finalLag.set(height() - finalHeight);
    metrics.finalWaits.set(state.waits ? 1 : 0);
    metrics.finalConflict.set(state.conflict === '' ? 0 : 1);
    const lies = contradictions.includes(own) ? 1 : 0;
    metrics.contradictions.set(lies, { own: 'yes' });
    metrics.contradictions.set(contradictions.length - lies, { own: 'no' });
    for (const one of VOTER_STATES) {
      metrics.ownVotes.set(one === state.ownVotes ? 1 : 0, { state: one });
    }
    const all = new Map([...voters, ...next].map((one) => [one.address, one.votedHeight]));
    for (const voter of shown) if (!all.has(voter)) metrics.voterMissing.remove({ voter });
    for (const [voter, voted] of all) {
      metrics.voterMissing.set(voted > finalHeight ? 0 : 1, { voter });
    }
    shown = [...all.keys()];
  });
}

/** A rollback below the activation of feature 1004 ends the votes. */
function removeAll(metrics: NodeMetrics, voters: readonly string[]): void {
  const { finalHeight, finalLag, finalWaits, finalConflict } = metrics;
  for (const one of [finalHeight, finalLag, finalWaits, finalConflict]) one.remove();
  for (const own of ['yes', 'no']) metrics.contradictions.remove({ own });
  for (const state of VOTER_STATES) metrics.ownVotes.remove({ state });
  for (const voter of voters) metrics.voterMissing.remove({ voter });
}
