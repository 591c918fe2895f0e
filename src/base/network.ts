/**
 * Connections between nodes as a port: encrypted, authenticated by a transport key, many streams
 * each. `adapters/libp2p.ts` is the real one, `adapters/memory-net.ts` runs a whole network in one
 * process under virtual time.
 */

/** A stream of length-prefixed messages in both directions. */
export interface PeerStream {
  /** Resolves when the message may be forgotten by the caller; rejects when the stream is gone. */
  send(message: Uint8Array): Promise<void>;
  /** The next message, undefined when the other side has ended. Rejects on anything malformed. */
  receive(signal?: AbortSignal): Promise<Uint8Array | undefined>;
  /** No more will be sent. */
  end(): Promise<void>;
  /** Both directions end at once. */
  abort(): void;
}

export interface PeerConnection {
  /** Transport identities, which the handshake binds to owner keys (H-23). */
  readonly localId: Uint8Array;
  readonly remoteId: Uint8Array;
  readonly remoteHost: string;
  readonly remotePort: number;
  readonly outbound: boolean;
  open(protocol: string, signal?: AbortSignal): Promise<PeerStream>;
  close(): Promise<void>;
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
  /** 0: any free port. */
  readonly port: number;
  readonly connectionsMax: number;
}

export interface Network {
  /** Streams that others open. Called before `listen`. */
  handle(
    protocol: string,
    limits: ProtocolLimits,
    handler: (stream: PeerStream, connection: PeerConnection) => void,
  ): void;
  onConnection(action: (connection: PeerConnection) => void): void;
  /** Gives the port in use. */
  listen(options: NetworkOptions): Promise<number>;
  /** Rejects when nobody answers within the signal's time. */
  dial(host: string, port: number, signal: AbortSignal): Promise<PeerConnection>;
  close(): Promise<void>;
}
