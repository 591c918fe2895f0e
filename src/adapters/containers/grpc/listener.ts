/**
 * gRPC over HTTP/2 without TLS: requests of one message, answers of one message or a stream. It
 * knows nothing of contracts. Who asks is settled by the headers, before a byte of a message is
 * kept.
 *
 * Own code on Node's HTTP/2 instead of the package @grpc/grpc-js, which takes twice the processor
 * time a call and does not bound what a client makes it hold.
 */
import {
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { ListenOptions, Socket } from 'node:net';
import { clientOf } from '../../../base/ip-range.ts';
import { MIB } from '../../../base/limits/budget.ts';
import { contractLimits as limits } from '../../../base/limits/contract-limits.ts';
import type { Clock } from '../../../base/ports/clock.ts';
import { listening, portOf } from '../../listening.ts';
import { frame, type HeldBytes, receiveMessage } from './frames.ts';
import { GrpcRefusal, OK_TRAILERS, trailersOf } from './status.ts';

export interface GrpcConnection {
  /** The other end; empty for a socket file. */
  readonly address: string;
  /** Whom limits count it for (ip-range.ts). */
  readonly client: string;
  /** Bytes received so far, of whatever kind, also after its end. */
  received(): number;
  /** Asks the other end for a sign of life, which counts as received. */
  ping(): void;
  /** Ends it at once with all its streams. */
  destroy(): void;
}

/** A stream of answers. */
export interface AnswerStream {
  /** False where a part waits for the client; `onDrain` follows. */
  write(message: Uint8Array): boolean;
  /** Called whenever the client has taken what waited. */
  onDrain(action: () => void): void;
  /** The last message was written; `cause`: why it ends early. */
  end(cause?: unknown): void;
  /** Resets it, whatever waits. */
  destroy(): void;
  /** At most once; at once where the stream has already ended. */
  onEnd(action: () => void): void;
}

/** How a request is answered, whose sender is known. Both may throw what has a status. */
export type Answering = {
  readonly held: HeldBytes;
  readonly messageBytesMax: number;
} & (
  | { readonly unary: (message: Uint8Array) => Uint8Array | Promise<Uint8Array> }
  | { readonly open: (message: Uint8Array, stream: () => AnswerStream) => void }
);

export interface GrpcHandler {
  connected(connection: GrpcConnection): void;
  disconnected(connection: GrpcConnection): void;
  /** Called with the headers of a request; throws what has a status. */
  begin(connection: GrpcConnection, path: string, token: string | undefined): Answering;
}

export interface GrpcListener {
  readonly port: number | undefined;
  /** Ends all connections. */
  close(): Promise<void>;
}

const SETTINGS = {
  maxConcurrentStreams: limits.streams.value,
  maxHeaderListSize: limits.headers.value,
};

export async function listenGrpc(
  where: ListenOptions,
  connectionsMax: number,
  handler: GrpcHandler,
  clock: Pick<Clock, 'after'>,
): Promise<GrpcListener> {
  const sessions = new Set<ServerHttp2Session>();
  let accepted: Socket;
  const server = createServer({
    settings: SETTINGS,
    maxSessionMemory: limits.sessionMemory.value / MIB,
    maxHeaderListPairs: limits.headerPairs.value,
    maxSessionInvalidFrames: limits.invalidFrames.value,
    maxSessionRejectedStreams: limits.streams.value,
    unknownProtocolTimeout: limits.notHttp2.value,
  });
  server.maxConnections = connectionsMax;
  // The socket of a session cannot be asked after the end of the session.
  server.prependListener('connection', (socket: Socket) => {
    accepted = socket;
  });
  server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session);
    const connection = connectionOf(session, accepted);
    handler.connected(connection);
    session.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) =>
      serve(stream, headers, connection, handler, clock),
    );
    // Each is followed by its end.
    session.on('error', () => {});
    session.once('close', () => {
      sessions.delete(session);
      handler.disconnected(connection);
    });
  });
  server.on('sessionError', () => {});
  await listening(server, where);
  return {
    port: portOf(server),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) destroySoon(session);
      await closed;
    },
  };
}

function connectionOf(session: ServerHttp2Session, socket: Socket): GrpcConnection {
  const address = socket.remoteAddress ?? '';
  return {
    address,
    client: clientOf(address),
    received: () => socket.bytesRead,
    ping() {
      if (!session.destroyed && !session.closed) session.ping(() => {});
    },
    destroy: () => destroySoon(session),
  };
}

/**
 * Not while Node reads frames of this session, as it does when it calls a listener: a request that
 * follows in the same piece of data would end the process with an assertion of Node.
 */
function destroySoon(session: ServerHttp2Session): void {
  setImmediate(() => session.destroy());
}

function serve(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  connection: GrpcConnection,
  handler: GrpcHandler,
  clock: Pick<Clock, 'after'>,
): void {
  // Followed by `close`: the client has reset the stream, or the connection is gone.
  stream.on('error', () => {});
  let answering: Answering;
  try {
    requireGrpc(headers);
    answering = handler.begin(connection, headers[':path'] ?? '', headers.authorization);
  } catch (cause) {
    refuse(stream, cause, clock);
    return;
  }
  const { held, messageBytesMax } = answering;
  receiveMessage(stream, held, messageBytesMax, clock, (message) => {
    if (message instanceof GrpcRefusal) refuse(stream, message, clock);
    else void answer(stream, answering, message, clock);
  });
}

function requireGrpc(headers: IncomingHttpHeaders): void {
  const isGrpc =
    headers[':method'] === 'POST' && headers['content-type']?.startsWith('application/grpc');
  if (!isGrpc) throw new GrpcRefusal('UNIMPLEMENTED', 'Only gRPC is spoken here');
}

/** Rejects where this node is at fault. */
async function answer(
  stream: ServerHttp2Stream,
  answering: Answering,
  message: Uint8Array,
  clock: Pick<Clock, 'after'>,
): Promise<void> {
  try {
    if ('open' in answering) answering.open(message, () => openStream(stream));
    else respond(stream, await answering.unary(message), answering.held, clock);
  } catch (cause) {
    refuse(stream, cause, clock);
  }
}

const HEADERS = { ':status': 200, 'content-type': 'application/grpc' };

/** Throws GrpcRefusal where too much waits for the container to read it. */
function respond(
  stream: ServerHttp2Stream,
  message: Uint8Array,
  held: HeldBytes,
  clock: Pick<Clock, 'after'>,
): void {
  if (stream.destroyed || stream.closed) return;
  if (held.leaving + message.length > limits.leaving.value) {
    throw new GrpcRefusal('RESOURCE_EXHAUSTED', 'Too many answers have not been read');
  }
  held.leaving += message.length;
  closeLater(stream, clock);
  stream.once('close', () => {
    held.leaving -= message.length;
  });
  stream.respond(HEADERS, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers(OK_TRAILERS));
  stream.end(frame(message));
}

/** Status and metadata are the only headers of the answer. */
function refuse(stream: ServerHttp2Stream, cause: unknown, clock: Pick<Clock, 'after'>): void {
  const trailers = trailersOf(cause);
  if (stream.destroyed || stream.closed) return;
  if (stream.headersSent) {
    stream.close();
    return;
  }
  closeLater(stream, clock);
  stream.respond({ ...HEADERS, ...trailers }, { endStream: true });
  drain(stream);
}

/** A stream stays open until the client has sent its part and read ours. */
function closeLater(stream: ServerHttp2Stream, clock: Pick<Clock, 'after'>): void {
  const forget = clock.after(limits.messageTime.value, () => stream.destroy());
  stream.once('close', forget);
}

/**
 * Drops the rest of a message. A client whose stream is reset at once would not see the status, so
 * only one that goes on and on is reset.
 */
function drain(stream: ServerHttp2Stream): void {
  let dropped = 0;
  stream.on('data', (piece: Buffer) => {
    dropped += piece.length;
    if (dropped > limits.message.value) stream.close();
  });
}

function openStream(stream: ServerHttp2Stream): AnswerStream {
  let trailers = OK_TRAILERS;
  stream.respond(HEADERS, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers(trailers));
  return {
    write: (message) => !stream.destroyed && stream.write(frame(message)),
    onDrain: (action) => void stream.on('drain', action),
    end(cause) {
      if (stream.destroyed || stream.closed) return;
      if (cause !== undefined) trailers = trailersOf(cause);
      stream.end();
    },
    destroy: () => void stream.destroy(),
    onEnd(action) {
      if (stream.destroyed) action();
      else stream.once('close', action);
    },
  };
}
