/**
 * What the server (server.ts) is built on: an app that takes connections, reads requests and finds
 * the handler of each. The interface is that part of uWebSockets.js which the server uses. It has
 * two implementations: uWebSockets.js itself (native.ts), and one on `node:http` (node-http/app.ts).
 */
import type { TlsFiles } from '../../base/ports/http.ts';

/** Valid only in the call of its handler. Names of methods and headers are lower case. */
export interface Request {
  getMethod(): string;
  /** The path as sent, without the query. */
  getUrl(): string;
  getQuery(): string | undefined;
  /** The segment at the n-th parameter of the pattern, as sent. */
  getParameter(index: number): string | undefined;
  /** The first header of this name; '' where there is none. */
  getHeader(name: string): string;
  forEach(each: (name: string, value: string) => void): void;
}

/** One answer, and the connection on which it goes out. */
export interface Response {
  writeStatus(line: string): unknown;
  writeHeader(name: string, value: string): unknown;
  /** The whole body, or the last piece of one that `write` began. */
  end(body: string, closeConnection?: boolean): unknown;
  /** The answer to HEAD. With a length, that is the Content-Length. */
  endWithoutBody(length?: number, closeConnection?: boolean): unknown;
  /** False where the client takes no more for now. */
  write(piece: string): boolean;
  /** The rest of a body that has `total` bytes in all. */
  tryEnd(rest: string, total: number): [ok: boolean, done: boolean];
  /** Bytes of the body that the connection has taken. */
  getWriteOffset(): number;
  onWritable(ready: (offset: number) => boolean): unknown;
  /** The connection is gone before the end of the answer; nothing may be written any more. */
  onAborted(gone: () => void): unknown;
  /** A piece is valid only in this call. */
  onData(take: (piece: ArrayBuffer | Uint8Array, isLast: boolean) => void): unknown;
  /** Sends what `write` writes in one piece. */
  cork(write: () => void): unknown;
  pause(): unknown;
  resume(): unknown;
  /** Ends the connection at once. */
  close(): unknown;
  /** Bytes of the address; throws where the connection is gone. */
  getRemoteAddress(): ArrayBuffer;
  /**
   * PEM of the certificate that the client has shown, '' where it has shown none. Only in apps with
   * TlsFiles.clientCa, which end connections with a certificate of another authority by themselves.
   */
  getX509Certificate(): string;
}

export type Handler = (response: Response, request: Request) => void;

/** A pattern is a path with parameters (`/a/:b`), or `/*` for every path. */
export interface HandlerTable {
  get(pattern: string, handler: Handler): unknown;
  head(pattern: string, handler: Handler): unknown;
  post(pattern: string, handler: Handler): unknown;
  options(pattern: string, handler: Handler): unknown;
  any(pattern: string, handler: Handler): unknown;
}

export interface App extends HandlerTable {
  /** Called with 1 for every new connection and with -1 for every one that is gone. */
  filter(count: (connection: { close(): unknown }, change: number) => void): unknown;
  /** Ends all connections. */
  close(): unknown;
}

/** How connections come to an app. */
export interface Door {
  /** Leads new connections to this app from now on; fails where that is impossible. */
  open(app: App): void | Promise<void>;
  /** Lets no more connections in. */
  close(): void;
}

/** Makes apps of one kind, and the way to them. */
export interface Listener {
  createApp(tls: TlsFiles | undefined): App;
  /** Listens on a port. */
  portDoor(host: string, port: number): Door;
}
