/**
 * HTTP as two ports: the server that mounts routes, and the client that calls other nodes.
 *
 * They are in `base` because adapters import nothing else of the node. The server passes a request
 * on while its bytes are still in the parser's buffer. So everything except the method is read on
 * demand, and is valid only where the comment says so.
 */
import type { LoopDelay } from './process-readings.ts';

/** A request being served. */
export interface HttpRequest {
  /** In the answer and in all that is logged about the request: the trace that the client names, or made up. */
  readonly id: string;
  readonly method: string;
  /** The path as sent, without the query. */
  readonly path: string;
  /** What follows `?`, as sent; empty without one. */
  readonly query: string;
  /** The segment at the pattern's n-th parameter, percent-decoded once. */
  param(index: number): string;
  /**
   * The value of a header by its lower-case name, '' if absent. In `admit` any header; in `handle`
   * those that the route keeps.
   */
  header(name: string): string;
  /** The values of all headers of this lower-case name, joined by commas. Only in `admit`. */
  headers(name: string): string;
  /** True if any header's lower-case name starts with `prefix`. Only in `admit`. */
  hasHeader(prefix: string): boolean;
  /**
   * Address of the other end as text; '' when the connection is gone. In `admit`, and in `handle` of
   * a route that keeps it.
   */
  remoteAddress(): string;
  /** Aborted where the client goes away before its answer; absent where that is not known. */
  readonly gone?: AbortSignal;
}

export interface HttpReply {
  readonly status: number;
  /** The value of Content-Type; '' where there is no body. */
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** Called once when the server no longer needs the body: it was sent, or its connection ended. */
  readonly sent?: (() => void) | undefined;
  /** Begins once `body` was sent, which is then only the beginning of the answer. */
  readonly stream?: HttpStream | undefined;
}

/** An answer that goes on until one of the two sides ends it. Its functions never throw. */
export interface HttpStream {
  /** A text without meaning. Writing it shows whether the client has taken all before it. */
  readonly filler: string;
  begin(client: HttpStreamClient): void;
  /** The client has taken what `write` could not send at once. */
  ready(): void;
  /** The connection is gone; nothing may be written any more. */
  closed(): void;
}

export interface HttpStreamClient {
  /**
   * False where a part of the text waits for the client; the next text must wait for `ready`. The
   * server ends connections on which nothing was written for ten seconds. Bytes are read before the
   * call returns; the caller may use their memory again.
   */
  write(text: string | Uint8Array): boolean;
  /**
   * The last text. A client that does not take it, and what waits before it, loses its connection.
   * `closed` is not called any more.
   */
  end(text: string): void;
}

/** Longer bodies are never views of the parser's buffer. */
export const BODY_VIEW_BYTES = 1024 * 1024;

/** A request of which another thread has done all that needs no state. */
export interface Offload {
  /** The name of that thread's part. */
  readonly work: string;
  /** Requests whose `Accept` contains this text are for `HttpRoute.handle` alone. */
  readonly unlessAccepts?: string | undefined;
  /**
   * Does the rest with what that thread has sent. `requestId`: `HttpRequest.id`. Undefined: the answer that it has prepared is the
   * right one. Never rejects.
   */
  finish(message: Uint8Array, requestId: string): Promise<HttpReply | undefined>;
}

/** What a thread has made of a request. */
export interface Prepared {
  /** For `Offload.finish`. */
  readonly message: Uint8Array;
  /** The answer that goes out where `finish` gives no other. */
  reply(): HttpReply;
}

/** A request that a thread refused by the rule of access. */
export interface ThreadRefusal {
  readonly reply: HttpReply;
  readonly requestId: string;
  /** Of the client. */
  readonly address: string;
}

/** A thread's part of requests, by their bodies; undefined: `handle` does all. Never throws. */
export type OffloadWork = (
  bodies: readonly Uint8Array[],
) => readonly (Prepared | HttpReply | undefined)[];

/** One method and path pattern. Its functions never throw. */
export interface HttpRoute {
  readonly method: 'GET' | 'POST';
  /** Segments separated by `/`; `:name` matches one non-empty segment. */
  readonly pattern: string;
  /** The most bytes of body that are read; 0: the body is not read. */
  readonly maxBody: number;
  /** True for answers that take a while; they are refused while too many of them are pending. */
  readonly mayWait?: boolean;
  /** Lower-case names of the headers that `handle` reads. */
  readonly keep: readonly string[];
  /** True where `handle` asks for `remoteAddress`. */
  readonly keepsAddress?: boolean | undefined;
  /** Judges the request before its body is read; a reply ends the request there. */
  readonly admit?: ((request: HttpRequest) => HttpReply | undefined) | undefined;
  /** The name of the rule in `admit`, for a server whose threads apply it themselves. */
  readonly access?: string | undefined;
  /** Set where a thread of the server can do a part of the work. */
  readonly offload?: Offload | undefined;
  /**
   * Counts an answer that a thread of the server gave without this route's functions. `refusal`: it
   * was that of the rule `access`.
   */
  readonly answered?: ((status: number, refusal?: ThreadRefusal) => void) | undefined;
  /**
   * `body` is undefined where none was sent or read. One of more than BODY_VIEW_BYTES may be read
   * and changed until the reply is there. A shorter one is a view that the server reuses once this
   * call returns: a caller that needs it longer copies it.
   */
  handle(request: HttpRequest, body: Uint8Array | undefined): HttpReply | Promise<HttpReply>;
}

export interface OtherOrigins {
  /** These origins, also with credentials; or all of them without credentials. */
  readonly allowed: readonly string[] | '*';
  /** Headers of answers that such pages may read, beside those that all may. */
  readonly exposed: readonly string[];
  /** Headers that such pages may send. */
  readonly accepted: readonly string[];
}

/** Paths of PEM files. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /**
   * Certificates of the authorities of clients. With them nobody is answered who shows no certificate
   * of theirs.
   */
  readonly clientCa?: string | undefined;
}

export interface HttpServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Absent: plain HTTP. */
  readonly tls?: TlsFiles | undefined;
  /**
   * Whether pages of other origins may read answers (rest.md#cors). true: all of them, also with
   * credentials.
   */
  readonly cors: boolean | OtherOrigins;
  /**
   * Complete requests whose answer is pending. Above this number, requests of routes that may wait
   * are refused.
   */
  readonly maxInFlight?: number;
  readonly maxConnections?: number;
  /** Connections of this address; more are closed at once. For servers without TLS and threads. */
  readonly maxConnectionsOfHost?: (host: string) => number;
  /** Bytes of bodies in memory at one time, over all requests. */
  readonly maxBodyBytes?: number;
  /** The part of `maxBodyBytes` that bodies over 1 MiB leave to shorter ones. */
  readonly smallBodyBytes?: number;
  /** Bodies that have begun and not ended; above it the slowest senders lose their connections. */
  readonly maxBodies?: number;
  /** The same for one host. */
  readonly maxBodiesPerHost?: number;
  /**
   * Bytes of answers that wait for their clients; above it the slowest clients lose their
   * connections.
   */
  readonly maxUnsentBytes?: number;
  /** A body that takes longer to arrive ends its connection. */
  readonly bodyTimeoutMs?: number;
  /** Whether `HttpServer.delays` is wanted. */
  readonly measured?: boolean;
  /** What the threads of the server need to know of the program, as plain data. */
  readonly forThreads?: unknown;
}

export interface HttpServer {
  /** The port in use. */
  readonly port: number;
  /**
   * Reads the files of TLS again; open connections keep the old ones. Where the new one is unusable,
   * rejects with TlsFileError and keeps serving the old one.
   */
  reload(): Promise<void>;
  /** When the certificate in use ends, in ms; undefined for plain HTTP. */
  certificateEnd?(): number | undefined;
  /** Gives the threads of the server new data of the program; absent where it has none. */
  renew?(data: unknown): void;
  /**
   * Delay of timers of each thread since the last call; absent for a server without threads or that
   * is not measured.
   */
  readonly delays?: (() => readonly LoopDelay[]) | undefined;
  /** Accepts nothing more, gives pending answers at most 2 s to leave, then closes. */
  close(): Promise<void>;
}

/** A file of the certificate, or of the authorities of clients, cannot be used. */
export class TlsFileError extends Error {
  override name = 'TlsFileError';
  readonly which: keyof TlsFiles;

  constructor(which: keyof TlsFiles, message: string, options: ErrorOptions) {
    super(message, options);
    this.which = which;
  }
}

export interface Http {
  /** Rejects where the address cannot be bound, with TlsFileError where a TLS file is unusable. */
  listen(routes: readonly HttpRoute[], options: HttpServerOptions): Promise<HttpServer>;
}

export interface HttpCall {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  readonly text: string;
}

/** An answer has more bytes than the client takes; the rest was not read. */
export class AnswerTooLong extends Error {
  override name = 'AnswerTooLong';

  constructor(max: number, of: 'bytes' | 'values' = 'bytes') {
    super(`the answer has more than ${max} ${of}`);
  }
}

export interface HttpClient {
  /**
   * Rejects when no complete answer arrives, and with AnswerTooLong. An answer with a status of 400 or more does not
   * reject.
   */
  request(call: HttpCall): Promise<HttpAnswer>;
  close(): Promise<void>;
}
