/**
 * The sockets between a node and its signer: a Unix socket that the user of the signer alone may use, or TLS in
 * which both sides show a certificate of the given authority.
 */
import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import type { Line, LineEvents } from '../../base/signer/signer-line.ts';
import { listening, portOf } from '../listening.ts';

export interface SignerTls {
  /** PEM texts. */
  readonly cert: Uint8Array;
  readonly key: Uint8Array;
  /** The authority whose certificates the other side may show. */
  readonly ca: Uint8Array;
}

export type SignerPlace =
  | { readonly socket: string }
  | { readonly host: string; readonly port: number; readonly tls: SignerTls };

const CONNECTIONS_MAX = 8;
const HANDSHAKE_MS_MAX = 10_000;
const KEEP_ALIVE_MS = 15_000;
const TLS_VERSION = 'TLSv1.3';

export interface SignerListener {
  /** The port of TLS; undefined for a Unix socket. */
  readonly port: number | undefined;
  close(): Promise<void>;
}

export interface Taken {
  take(chunk: Uint8Array): void;
  closed(): void;
}

/** Rejects where the place is taken or cannot be used. */
export async function listenSigner(
  place: SignerPlace,
  onLine: (line: Line) => Taken,
): Promise<SignerListener> {
  const open = new Set<Socket>();
  const accept = (socket: Socket): void => {
    open.add(socket);
    const taken = onLine(lineOf(socket));
    socket.on('data', (chunk: Buffer) => taken.take(chunk));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      open.delete(socket);
      taken.closed();
    });
  };
  const server = serverFor(place, accept);
  server.maxConnections = CONNECTIONS_MAX;
  await listeningAt(place, server);
  return {
    port: portOf(server),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}

function serverFor(place: SignerPlace, accept: (socket: Socket) => void): Server {
  if ('socket' in place) return createServer(accept);
  const server = createTlsServer({
    cert: Buffer.from(place.tls.cert),
    key: Buffer.from(place.tls.key),
    ca: Buffer.from(place.tls.ca),
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: TLS_VERSION,
    handshakeTimeout: HANDSHAKE_MS_MAX,
  });
  server.on('tlsClientError', (_cause, socket) => socket.destroy());
  return server.on('secureConnection', accept);
}

const OWNER_ONLY = 0o600;
const NOBODY_ELSE = 0o177;

async function listeningAt(place: SignerPlace, server: Server): Promise<void> {
  if (!('socket' in place)) return listening(server, { host: place.host, port: place.port });
  removeOld(place.socket);
  // From its first moment on nobody else may connect.
  const mask = process.umask(NOBODY_ELSE);
  let bound: Promise<void>;
  try {
    bound = listening(server, { path: place.socket });
  } finally {
    process.umask(mask);
  }
  await bound;
  chmodSync(place.socket, OWNER_ONLY);
}

/** One that a dead signer has left; the lock of its folder says that it is dead. */
function removeOld(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true) rmSync(path);
}

/** For `RemoteKeysPorts.connect`. */
export const signerConnector =
  (place: SignerPlace) =>
  (events: LineEvents, opened: (line: Line) => void): Pick<Line, 'close'> => {
    const socket = socketTo(place);
    let why = 'the signer has closed the connection';
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.once('socket' in place ? 'connect' : 'secureConnect', () => opened(lineOf(socket)));
    socket.on('data', (chunk: Buffer) => events.data(chunk));
    socket.on('error', (cause) => {
      why = cause.message;
    });
    socket.on('close', () => events.closed(why));
    return { close: () => void socket.destroy() };
  };

function socketTo(place: SignerPlace): Socket {
  if ('socket' in place) return connect(place.socket);
  const { host, port, tls } = place;
  return connectTls({
    host,
    port,
    cert: Buffer.from(tls.cert),
    key: Buffer.from(tls.key),
    ca: Buffer.from(tls.ca),
    minVersion: TLS_VERSION,
  });
}

const lineOf = (socket: Socket): Line => ({
  waitingBytes: () => socket.writableLength,
  send: (bytes) => void socket.write(bytes),
  // What was said before is still sent.
  close: () => void socket.destroySoon(),
});
