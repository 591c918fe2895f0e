/**
 * What status records need of the network: sessions with peers that have proved their owner keys.
 * network/sessions/session-registry.ts implements it.
 */
import type { Misconduct } from '../../base/faults/misconduct.ts';
import type { PaceLimits } from '../../base/limits/budget.ts';

/** Another node. */
export interface Peer {
  /** Address of the account that makes its blocks, which it has proved. */
  readonly miner: Uint8Array;
  notify(protocol: string, message: Uint8Array): boolean;
  offend(offence: 'forged-status', evidence: Misconduct): void;
}

export interface Peers {
  all(): readonly Peer[];
  onClose(action: (peer: Peer) => void): void;
  /** A CodecError of `take` counts as an offence of the peer. */
  handleNotices(
    protocol: string,
    handler: {
      readonly messageBytesMax: number;
      readonly pace?: PaceLimits;
      take(peer: Peer, message: Uint8Array): void;
    },
  ): void;
}
