/**
 * Apps on Node's own server, for releases of Node for which uWebSockets.js has no addon. They keep
 * the promises of the native ones: the same bounds of a head, the same times, one pending request on
 * a connection, and heads of answers with the same bytes.
 *
 * Node reads requests and frames answers. The sockets come from a door (door.ts), so that another
 * app with a new certificate can take over its port.
 */
import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { TlsFiles } from '../../../base/ports/http.ts';
import type { Handler, Listener } from '../app.ts';
import { createServer, STATUS_CODES } from '../node-own.ts';
import { TWO_LENGTHS } from '../reply.ts';
import { Connection } from './connection.ts';
import { portDoor, type SocketApp } from './door.ts';
import { httpDate } from './http-date.ts';
import { NodeRequest, targetOf } from './request.ts';
import { NodeResponse } from './response.ts';
import { Router } from './router.ts';

const SWEEP_MS = 1_000;
const HANDSHAKE_MS = 10_000;

type Filter = Parameters<SocketApp['filter']>[0];

class NodeApp implements SocketApp {
  private readonly server: Server;
  private readonly routers = new Map<string, Router<Handler>>();
  /** Handlers of every path by method, and that of any other method under ''. */
  private readonly everyPath = new Map<string, Handler>();
  private count: Filter = () => {};
  /** All that came through the door. */
  private readonly sockets = new Set<Socket>();
  /** By the socket that carries HTTP; with TLS, that is another one. */
  private readonly connections = new Map<Socket, Connection>();
  private readonly sweeper: NodeJS.Timeout;

  constructor(tls: TlsFiles | undefined) {
    // The connections have their own times.
    const options = {
      maxHeaderSize: HEAD_BYTES_MAX,
      requireHostHeader: false,
      keepAliveTimeout: 0,
      headersTimeout: 0,
      requestTimeout: 0,
    };
    this.server =
      tls === undefined
        ? createServer(options)
        : createTlsServer({
            ...options,
            cert: readFileSync(tls.cert),
            key: readFileSync(tls.key),
            ...clientFiles(tls),
            handshakeTimeout: HANDSHAKE_MS,
          });
    // The size of a head limits their number; Node would drop what is over this limit.
    this.server.maxHeadersCount = 0;
    const ready = tls === undefined ? 'connection' : 'secureConnection';
    const asksClients = tls?.clientCa !== undefined;
    this.server.on(ready, (socket: Socket) => {
      if (asksClients) this.beginWithCertificate(socket as TLSSocket);
      else this.begin(socket, '');
    });
    const take = (request: IncomingMessage, reply: ServerResponse): void =>
      this.take(request, reply);
    this.server.on('request', take);
    this.server.on('checkExpectation', take);
    this.server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, stream) => {
      const connection = this.connections.get(stream as Socket);
      const refusal = parserRefusal(code);
      if (connection === undefined || refusal === undefined) stream.destroy();
      else connection.refuse(refusal);
    });
    // After a pause of the process, what has arrived meanwhile is read first.
    this.sweeper = setInterval(() => void setImmediate(() => this.sweep()), SWEEP_MS);
    this.sweeper.unref();
  }

  get(pattern: string, handler: Handler): void {
    this.add('GET', pattern, handler);
  }

  head(pattern: string, handler: Handler): void {
    this.add('HEAD', pattern, handler);
  }

  post(pattern: string, handler: Handler): void {
    this.add('POST', pattern, handler);
  }

  options(_pattern: '/*', handler: Handler): void {
    this.everyPath.set('OPTIONS', handler);
  }

  any(_pattern: '/*', handler: Handler): void {
    this.everyPath.set('', handler);
  }

  filter(count: Filter): void {
    this.count = count;
  }

  accept(socket: Socket): void {
    this.sockets.add(socket);
    socket.once('close', () => {
      this.sockets.delete(socket);
      this.count({ close: () => {} }, -1);
    });
    this.count({ close: () => socket.destroy() }, 1);
    if (!socket.destroyed) this.server.emit('connection', socket);
  }

  close(): void {
    clearInterval(this.sweeper);
    for (const connection of this.connections.values()) connection.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private add(method: string, pattern: string, handler: Handler): void {
    const router = this.routers.get(method) ?? new Router<Handler>();
    this.routers.set(method, router);
    router.add(pattern, handler);
  }

  /** A client without a certificate hears why it is refused; a wrong certificate ends here. */
  private beginWithCertificate(socket: TLSSocket): void {
    const shown = socket.getPeerX509Certificate();
    if (shown === undefined || socket.authorized) this.begin(socket, shown?.toString() ?? '');
    else socket.destroy();
  }

  private begin(socket: Socket, certificate: string): void {
    const connection = new Connection(socket, certificate);
    this.connections.set(socket, connection);
    socket.once('close', () => this.connections.delete(socket));
  }

  private take(request: IncomingMessage, reply: ServerResponse): void {
    const connection = this.connections.get(request.socket);
    connection?.serve(() => this.serve(connection, request, reply));
  }

  private serve(connection: Connection, request: IncomingMessage, reply: ServerResponse): void {
    const refusal = headRefusal(request);
    if (refusal !== undefined) {
      connection.refuse(refusal);
      return;
    }
    const response = new NodeResponse(connection, request, reply);
    connection.begin(response);
    const { method = '', url = '' } = request;
    const target = targetOf(url);
    const found = this.routers.get(method)?.find(target.path);
    const handler = found?.value ?? this.everyPath.get(method) ?? this.everyPath.get('');
    handler?.(response, new NodeRequest(request, target, found?.params ?? []));
  }

  private sweep(): void {
    const now = performance.now();
    for (const connection of this.connections.values()) connection.sweep(now);
  }
}

/** The handlers refuse who shows no certificate, as those of the native app do. */
const clientFiles = ({ clientCa }: TlsFiles): object =>
  clientCa === undefined
    ? {}
    : { ca: readFileSync(clientCa), requestCert: true, rejectUnauthorized: false };

export const nodeListener: Listener = { createApp: (tls) => new NodeApp(tls), portDoor };

/** Bytes of the request line and of all headers. */
const HEAD_BYTES_MAX = 4096;
const HEADERS_MAX = 98;
/** A colon, a space and the end of the line. */
const HEADER_EXTRA_BYTES = 4;

const BAD_REQUEST = page(400);
const TOO_LARGE = page(431);
const OTHER_VERSION = page(505, '<p>This server does not support HTTP/1.0.</p>');

/** The whole answer to a request with such a head, with the bounds and words of the native app; undefined where a handler may see it. */
function headRefusal(request: IncomingMessage): string | undefined {
  const { httpVersion, url = '', rawHeaders } = request;
  if (httpVersion !== '1.1' || !url.startsWith('/')) return OTHER_VERSION;
  let bytes = url.length;
  for (const text of rawHeaders) bytes += text.length;
  const count = rawHeaders.length / 2;
  bytes += count * HEADER_EXTRA_BYTES;
  if (bytes > HEAD_BYTES_MAX || count > HEADERS_MAX) return TOO_LARGE;
  return request.headers.host === undefined ? BAD_REQUEST : undefined;
}

/**
 * The whole answer to what Node cannot read: '' where the client has said before that nothing
 * follows, undefined where the connection has failed.
 */
function parserRefusal(code: string): string | undefined {
  if (code === 'HPE_CLOSED_CONNECTION') return '';
  if (code === 'HPE_HEADER_OVERFLOW') return TOO_LARGE;
  if (code === 'HPE_UNEXPECTED_CONTENT_LENGTH') return twoLengths();
  return code.startsWith('HPE_') ? BAD_REQUEST : undefined;
}

function page(status: number, more = ''): string {
  const text = STATUS_CODES[status];
  return `HTTP/1.1 ${status} ${text}\r\nConnection: close\r\n\r\n<h1>${text}</h1>${more}`;
}

function twoLengths(): string {
  const { status, type, body } = TWO_LENGTHS;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${type}`,
    'x-content-type-options: nosniff',
    'Connection: close',
    `Date: ${httpDate()}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
