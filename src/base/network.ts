/**
 * Connections between nodes as a port: encrypted, authenticated by a transport key, many streams
 * each. `adapters/libp2p/transport.ts` is the real one, `test/simulated/memory-net.ts` runs a whole network in one
 * process under virtual time.
 */

/** The other side broke the rules of the framing: a message over its limit. */
export class MalformedStream extends Error {
  override name = 'MalformedStream';
}

/** A stream of length-prefixed messages in both directions. */
export interface PeerStream {
  /** Resolves when the message may be forgotten by the caller; rejects when the stream is gone. */
  send(message: Uint8Array): Promise<void>;
  /**
   * The next message, undefined when the other side has ended. Rejects with MalformedStream on bad
   * framing and with any other error when the stream breaks, be it in the middle of a message. One
   * call at a time.
   */
  receive(): Promise<Uint8Array | undefined>;
  /** No more will be sent. */
  end(): Promise<void>;
  /** Both directions end at once; what waits is rejected. */
  abort(): void;
}

export interface PeerConnection {
  /** Transport identities, which the handshake binds to owner keys (H-23). */
  readonly localId: Uint8Array;
  readonly remoteId: Uint8Array;
  /** Address in digits. */
  readonly remoteHost: string;
  readonly remotePort: number;
  readonly outbound: boolean;
  /** `messageBytesMax` bounds what comes back on the stream. */
  open(protocol: string, messageBytesMax: number, signal?: AbortSignal): Promise<PeerStream>;
  /** Lets what was sent arrive, within about a second, then closes. */
  close(): Promise<void>;
  abort(): void;
  /** Called once; at once on a connection that is closed already. */
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
  /** True for a host, in digits, that the configuration names: it finds a place where others do not. */
  readonly isKept?: (host: string) => boolean;
}

export interface Network {
  /** Streams that others open. Called before `listen`. */
  handle(
    protocol: string,
    limits: ProtocolLimits,
    handler: (stream: PeerStream, connection: PeerConnection) => void,
  ): void;
  /** Connections that others open. */
  onConnection(action: (connection: PeerConnection) => void): void;
  /** Starts the network; gives the port in use, undefined when it was not to listen. */
  listen(options: NetworkOptions): Promise<number | undefined>;
  /** Rejects when no answer comes within the signal's time. */
  dial(host: string, port: number, signal: AbortSignal): Promise<PeerConnection>;
  /** The address of a host in digits. */
  resolve(host: string): Promise<string>;
  close(): Promise<void>;
}
