/**
 * Keys of configured peers for a node whose chain is old and that has no session: who was registered
 * while it was away is no member in its state, and might be all that it can reach
 * (network.md#return-of-a-node).
 */
import { every } from '../../concurrency/interval.ts';
import type { PeerAddress } from '../messages/peer-address.ts';
import type { IdentityPorts } from './identity-query.ts';
import { askForKey } from './initial-sync.ts';

export interface MissedMembersDeps {
  /** Who asks. */
  readonly identity: IdentityPorts;
  /** Timestamp of the head. */
  readonly headTime: () => number;
  readonly hasSession: () => boolean;
  readonly learn: (keys: readonly Uint8Array[]) => void;
}

/** A network makes blocks all the time, also empty ones. */
const OLD_HEAD_MS = 60_000;
/** After a start the members of the state have time to meet. */
const INTERVAL_MS = 30_000;
const ANSWER_MS = 30_000;

export class MissedMembers {
  private readonly peers: readonly PeerAddress[];
  private readonly deps: MissedMembersDeps;
  stop = (): void => {};

  /** `peers` are those of the configuration. */
  constructor(peers: readonly PeerAddress[], deps: MissedMembersDeps) {
    this.peers = peers;
    this.deps = deps;
  }

  start(): void {
    this.stop = every(this.deps.identity.clock, INTERVAL_MS, () => this.askIfAlone());
  }

  private async askIfAlone(): Promise<void> {
    const { identity, headTime, hasSession, learn } = this.deps;
    if (!hasSession() && identity.clock.now() - headTime() > OLD_HEAD_MS) {
      const answers = await Promise.allSettled(
        this.peers.map((peer) => askForKey(peer, identity, ANSWER_MS)),
      );
      // Peers that do not answer, or do not know this node, leave it with the members of its state.
      const keys = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      if (keys.length > 0 && !hasSession()) learn(keys);
    }
  }
}
