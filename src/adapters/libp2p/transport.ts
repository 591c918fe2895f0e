/**
 * The network port over libp2p: TCP, noise, yamux. Loading takes most of a second, so only commands
 * that run a node import this file.
 *
 * Limits: connections; connections of one host, and in all, that are not yet encrypted, and their
 * time (new-connections.ts); streams of a connection and of a protocol; frames of the multiplexer
 * (frame-guard.ts); unread bytes of a stream and the length of a message (framed-stream.ts). libp2p
 * never discovers, dials, reconnects or announces by itself.
 */
import { lookup } from 'node:dns/promises';
import { isIPv6 } from 'node:net';
import { privateKeyFromRaw } from '@libp2p/crypto/keys';
import { tcp } from '@libp2p/tcp';
import { multiaddr } from '@multiformats/multiaddr';
import { createLibp2p, type Libp2p } from 'libp2p';
import type { Network, NetworkOptions, PeerConnection } from '../../base/ports/network.ts';
import { guardedYamux } from './frame-guard.ts';
import { FramedStream } from './framed-stream.ts';
import { gatheredNoise } from './gathered-noise.ts';
import { createArrivals, PENDING_MAX, placeOf } from './new-connections.ts';

type Connection = Awaited<ReturnType<Libp2p['dial']>>;
type Handle = Parameters<Network['handle']>;

const UPGRADE_MS = 10_000;
const NEGOTIATION_MS = 10_000;
const DIAL_MS = 30_000;
/** A socket without any traffic, even keep-alive, is dead. */
const SILENT_MS = 90_000;

/** `key`: the raw Ed25519 transport key of 64 bytes, see libp2p/node-key.ts. */
export function libp2pNetwork(key: Uint8Array): Network {
  const protocols: Handle[] = [];
  const listeners: ((connection: PeerConnection) => void)[] = [];
  const known = new WeakMap<Connection, Libp2pConnection>();
  let libp2p: Libp2p | undefined;

  function running(): Libp2p {
    if (libp2p === undefined) throw new Error('the network has not started');
    return libp2p;
  }

  function portOf(connection: Connection): Libp2pConnection {
    const found = known.get(connection);
    if (found !== undefined) return found;
    const made = new Libp2pConnection(connection, running().peerId.toMultihash().bytes);
    known.set(connection, made);
    return made;
  }

  return {
    handle: (...args) => void protocols.push(args),
    onConnection: (action) => void listeners.push(action),

    async listen(options) {
      libp2p = await create(key, { ...options, host: await address4or6(options.host) });
      for (const [protocol, limits, handler] of protocols) {
        await libp2p.handle(
          protocol,
          (stream, connection) => {
            const port = portOf(connection);
            handler(new FramedStream(stream, limits.messageBytesMax, port), port);
          },
          { maxInboundStreams: limits.inboundStreamsMax, maxOutboundStreams: STREAMS_MAX },
        );
      }
      libp2p.addEventListener('connection:open', ({ detail }) => {
        if (detail.direction === 'outbound') return;
        for (const listener of listeners) listener(portOf(detail));
      });
      try {
        await libp2p.start();
      } catch (cause) {
        // libp2p gives the system's error code only in the text.
        const code = /\bE[A-Z]{4,}\b/.exec(String(cause))?.[0];
        const failed = new Error(`cannot listen on ${options.host}:${options.port}`, { cause });
        throw Object.assign(failed, { code });
      }
      if (options.port === undefined) return undefined;
      const [, , , , port] = libp2p.getMultiaddrs()[0]?.toString().split('/') ?? [];
      return Number(port);
    },

    async dial(host, port, signal) {
      const address = multiaddr(place(await address4or6(host), port));
      // `force`: this node judges two connections to one address; libp2p must not.
      const connection = await running().dial(address, { signal, force: true });
      return portOf(connection);
    },

    resolve: address4or6,
    close: async () => void (await libp2p?.stop()),
  };
}

/** Streams of one connection in each direction, of all protocols together. */
const STREAMS_MAX = 256;

async function create(key: Uint8Array, options: NetworkOptions): Promise<Libp2p> {
  const { host, port, connectionsMax, isKept = () => false } = options;
  const arrivals = createArrivals(isKept);
  const libp2p = await createLibp2p({
    start: false,
    privateKey: privateKeyFromRaw(key),
    addresses: { listen: port === undefined ? [] : [place(host, port)] },
    transports: [
      tcp({
        maxConnections: connectionsMax + 2 * PENDING_MAX,
        inboundSocketInactivityTimeout: SILENT_MS,
        outboundSocketInactivityTimeout: SILENT_MS,
      }),
    ],
    connectionEncrypters: [gatheredNoise()],
    streamMuxers: [guardedYamux(STREAMS_MAX)],
    connectionMonitor: { enabled: false },
    connectionGater: {
      denyDialMultiaddr: () => false,
      denyInboundConnection: (socket) => arrivals.isRefused(socket),
      denyInboundUpgradedConnection(_peer, socket) {
        arrivals.settled(socket);
        return false;
      },
    },
    connectionManager: {
      maxConnections: connectionsMax,
      // The limits of new-connections.ts are lower, and distinguish hosts.
      maxIncomingPendingConnections: 4 * PENDING_MAX,
      inboundConnectionThreshold: Number.MAX_SAFE_INTEGER,
      inboundUpgradeTimeout: UPGRADE_MS,
      inboundStreamProtocolNegotiationTimeout: NEGOTIATION_MS,
      outboundStreamProtocolNegotiationTimeout: NEGOTIATION_MS,
      dialTimeout: DIAL_MS,
      addressDialTimeout: DIAL_MS,
      reconnectRetries: 0,
    },
  });
  // The peer store would remember every unknown peer and record the protocol of each new stream.
  // That took a tenth of the time of a node at 200 transfers a second.
  libp2p.peerStore.merge = async (id) => ({
    id,
    addresses: [],
    protocols: [],
    metadata: new Map(),
    tags: new Map(),
  });
  return libp2p;
}

const place = (host: string, port: number): string =>
  `/${isIPv6(host) ? 'ip6' : 'ip4'}/${host}/tcp/${port}`;

const address4or6 = async (host: string): Promise<string> => (await lookup(host)).address;

/** A connection of libp2p as the port describes it. */
class Libp2pConnection implements PeerConnection {
  readonly localId: Uint8Array;
  readonly remoteId: Uint8Array;
  readonly remoteHost: string;
  readonly remotePort: number;
  readonly outbound: boolean;
  private readonly connection: Connection;

  constructor(connection: Connection, localId: Uint8Array) {
    const { host, port } = placeOf(connection.remoteAddr);
    this.connection = connection;
    this.localId = localId;
    this.remoteId = connection.remotePeer.toMultihash().bytes;
    this.remoteHost = host;
    this.remotePort = port;
    this.outbound = connection.direction === 'outbound';
  }

  async open(protocol: string, messageBytesMax: number, signal?: AbortSignal) {
    const stream = await this.connection.newStream(protocol, {
      maxOutboundStreams: STREAMS_MAX,
      ...(signal === undefined ? {} : { signal }),
    });
    return new FramedStream(stream, messageBytesMax, this);
  }

  async close(): Promise<void> {
    try {
      await this.connection.close();
    } catch {
      // The connection could not be closed properly in time.
      this.abort();
    }
  }

  abort(): void {
    this.connection.abort(new Error('closed by this node'));
  }

  onClose(action: () => void): void {
    if (this.connection.status !== 'open') action();
    else this.connection.addEventListener('close', () => action(), { once: true });
  }
}
