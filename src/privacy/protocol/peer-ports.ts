/**
 * What the exchange of private data needs of the network: sessions with peers that have proved
 * their owner keys. network/sessions/session-registry.ts implements it.
 */
import type { PaceLimits } from '../../base/limits/budget.ts';
import type { PeerStream } from '../../base/ports/network.ts';
import type { Evidence } from '../../codec/evidence.ts';

/** Another node. */
export interface Peer {
  /**
   * The address of the owner, which is a registered participant for as long as the session lasts.
   */
  readonly owner: Uint8Array;
  readonly ownerPublicKey: Uint8Array;
  readonly mode: 'default' | 'watcher';
  /**
   * Opens a stream for `action`; rejects with TooLate, with the error of `action`, or on a closed
   * session.
   */
  converse<T>(
    protocol: string,
    timeoutMs: number,
    action: (stream: PeerStream) => Promise<T>,
  ): Promise<T>;
  notify(protocol: string, message: Uint8Array): boolean;
  offend(offence: 'wrong-private-data' | 'unanswered-request', evidence: Evidence): void;
}

export interface Peers {
  all(): readonly Peer[];
  onOpen(action: (peer: Pick<Peer, 'owner'>) => void): void;
  /**
   * A CodecError of `serve` or `take` counts as an offence of the peer. `charge` counts bytes of
   * work that are not visible in any message.
   */
  handleStreams(
    protocol: string,
    handler: {
      readonly messageBytesMax: number;
      readonly concurrent: number;
      readonly pace?: PaceLimits;
      serve(peer: Peer, stream: PeerStream, charge: (bytes: number) => void): Promise<void>;
    },
  ): void;
  handleNotices(
    protocol: string,
    handler: {
      readonly messageBytesMax: number;
      readonly pace?: PaceLimits;
      take(peer: Pick<Peer, 'owner'>, message: Uint8Array): void;
    },
  ): void;
}
