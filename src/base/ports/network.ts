/**
 * Connections between nodes as a port: encrypted, authenticated by a transport key, many streams
 * each. `adapters/libp2p/transport.ts` is the production transport. `test/simulated/memory-net.ts`
 * runs a whole network in one process under virtual time.
 */
import { Misconduct } from '../faults/misconduct.ts';

/** The other side broke the rules of the framing: a message over its limit. */
export class MalformedStream extends Misconduct {
  override name = 'MalformedStream';
}

/** A stream of length-prefixed messages in both directions. */
export interface PeerStream {
  /** Resolves when the caller may reuse the message; rejects when the stream is gone. */
  send(message: Uint8Array): Promise<void>;
  /**
   * The next message, undefined when the other side has ended. Rejects with MalformedStream on bad
   * framing and with any other error when the stream breaks, also in the middle of a message. One
   * call at a time.
   */
  receive(): Promise<Uint8Array | undefined>;
  /** Ends the sending direction. */
  end(): Promise<void>;
  /** Ends both directions at once; pending calls reject. */
  abort(): void;
}

export interface PeerConnection {
  /** Transport identities; the handshake binds them to owner keys (H-23). */
  readonly localId: Uint8Array;
  readonly remoteId: Uint8Array;
  /** The IP address as text. */
  readonly remoteHost: string;
  readonly remotePort: number;
  readonly outbound: boolean;
  /** `messageBytesMax` limits the messages that come back on the stream. */
  open(protocol: string, messageBytesMax: number, signal?: AbortSignal): Promise<PeerStream>;
  /** Waits up to a second for sent messages to arrive, then closes. */
  close(): Promise<void>;
  abort(): void;
  /** Calls `action` once; immediately on a connection that is already closed. */
  onClose(action: () => void): void;
}

export interface ProtocolLimits {
  /** A longer message ends the connection before it is read. */
  readonly messageBytesMax: number;
  /** Streams of one connection at a time; more are reset. */
  readonly inboundStreamsMax: number;
}

export interface NetworkOptions {
  readonly host: string;
  /** 0: any free port; undefined: peers cannot connect, this node only dials. */
  readonly port: number | undefined;
  readonly connectionsMax: number;
  /**
   * True for an IP address that the configuration names: it gets a place even when others do not.
   */
  readonly isKept?: (host: string) => boolean;
}

export interface Network {
  /** Handles streams that other nodes open. Call it before `listen`. */
  handle(
    protocol: string,
    limits: ProtocolLimits,
    handler: (stream: PeerStream, connection: PeerConnection) => void,
  ): void;
  /** Called for connections that other nodes open. */
  onConnection(action: (connection: PeerConnection) => void): void;
  /** Starts the network; gives the port in use, or undefined when it does not listen. */
  listen(options: NetworkOptions): Promise<number | undefined>;
  /** Rejects when the signal aborts before an answer comes. */
  dial(host: string, port: number, signal: AbortSignal): Promise<PeerConnection>;
  /** The IP address of a host. */
  resolve(host: string): Promise<string>;
  close(): Promise<void>;
}
