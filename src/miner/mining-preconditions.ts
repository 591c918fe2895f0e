/** The reasons for which a miner makes no block. */
import type { Clock } from '../base/ports/clock.ts';
import type { LogFields } from '../base/ports/log.ts';

export interface MissingPrecondition {
  readonly state:
    | 'no-time'
    | 'no-disk'
    | 'no-journal'
    | 'no-signer'
    | 'shut-out'
    | 'stale-tip'
    | 'no-quorum'
    | 'no-votes';
  /** The pause before the miner checks again. */
  readonly pauseMs: number;
  readonly fields?: LogFields;
}

const NODE_PAUSE_MS = 1000;

/**
 * A node without the time, or with an old head, is probably behind. A node that was removed would
 * make a chain of its own, which becomes too long to give up once the node is registered again.
 */
export function missingOnNode(
  clock: Pick<Clock, 'now' | 'synchronized'>,
  tip: { readonly height: number; readonly timestamp: number },
  staleTipMs: number,
  isRemovedFromNetwork: boolean,
): MissingPrecondition | undefined {
  if (!clock.synchronized()) return { state: 'no-time', pauseMs: NODE_PAUSE_MS };
  if (isRemovedFromNetwork) {
    return { state: 'shut-out', pauseMs: NODE_PAUSE_MS, fields: { height: tip.height } };
  }
  if (tip.height === 1 || clock.now() - tip.timestamp <= staleTipMs) return undefined;
  return { state: 'stale-tip', pauseMs: NODE_PAUSE_MS, fields: { height: tip.height } };
}

/**
 * The turn of a block that the disk does not take is lost. A block whose turn is not noted in the journal is
 * not signed, and without the signer nobody signs it.
 */
export const missingPart = (
  state: 'no-disk' | 'no-journal' | 'no-signer',
  lacks: (() => boolean) | undefined,
): MissingPrecondition | undefined =>
  lacks?.() === true ? { state, pauseMs: NODE_PAUSE_MS } : undefined;

/** Votes, in a chain that grows without final blocks, and connections to other miners. */
export const missingOthers = (
  ports: { readonly lacksVotes?: () => boolean; readonly connectedMiners: () => number },
  height: number,
  quorum: number,
  noQuorumDelayMs: number,
): MissingPrecondition | undefined =>
  ports.lacksVotes?.() === true
    ? { state: 'no-votes', pauseMs: NODE_PAUSE_MS, fields: { height } }
    : missingQuorum(ports.connectedMiners(), quorum, noQuorumDelayMs);

/** A miner without connections to other miners would make a chain of its own. */
function missingQuorum(
  connected: number,
  quorum: number,
  noQuorumDelayMs: number,
): MissingPrecondition | undefined {
  if (connected >= quorum) return undefined;
  const why = `Quorum not available '${connected}/${quorum}', not forging block`;
  return { state: 'no-quorum', pauseMs: noQuorumDelayMs, fields: { why } };
}
