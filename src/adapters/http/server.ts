/**
 * The server of the Http port on an app (app.ts), native or of Node.
 *
 * Routes are bound to native handlers (decision 2: uWebSockets.js), which also pass on the body of a
 * GET, as GET /addresses/balance/details needs it. All limits of connections are here:
 * arriving bodies, unsent answers, pending answers, work in one turn, connections. The apps
 * themselves end idle connections, slow headers and very slow bodies after 10 s.
 *
 * Invariants: a reply is written once and never after an abort; no input makes a handler throw; a
 * complete request to a route that answers at once is never refused, whatever other clients do.
 */

import { apiError } from '../../base/errors.ts';
import type { HttpReply, HttpRoute, HttpServer, HttpServerOptions } from '../../base/ports/http.ts';
import type { App, Door, Handler, HandlerTable, Listener, Request, Response } from './app.ts';
import { BackPressure } from './back-pressure.ts';
import { Bodies, type PendingBody } from './bodies.ts';
import type { BodyTally } from './body-tally.ts';
import type { Bounds } from './bounds.ts';
import { type Cors, corsOf, type HttpHeaders } from './cors.ts';
import { handled } from './handled.ts';
import { IncomingRequest } from './incoming.ts';
import {
  type Client,
  discard,
  errorReply,
  FAILED,
  send,
  TWO_LENGTHS,
  unlessAborted,
} from './reply.ts';
import { headOf, type RequestHead } from './request-head.ts';
import { Serving } from './serving-turns.ts';
import { onlyCertified } from './tls/client-certificates.ts';
import { checkTlsFiles } from './tls/tls-files.ts';
import { Unsent } from './unsent.ts';

const CLOSE_MS = 2_000;
const POLL_MS = 20;
const NO_HEADERS: HttpHeaders = [];
const NOT_FOUND = errorReply(apiError('NotFound'));
const OVERLOADED = errorReply(apiError('Overloaded'), [['retry-after', '1']]);

type Options = HttpServerOptions & Bounds;

/** A request whose body arrives. */
interface Upload {
  readonly route: HttpRoute;
  readonly incoming: IncomingRequest;
  readonly client: Client;
  readonly body: PendingBody;
  readonly pressure: BackPressure;
  isAborted: boolean;
}

export class Server implements HttpServer {
  readonly port: number;
  private readonly routes: readonly HttpRoute[];
  private readonly options: Options;
  private readonly cors: Cors | undefined;
  private readonly bodies: Bodies;
  private readonly unsent: Unsent;
  private readonly serving = new Serving();
  private readonly apps: App[] = [];
  private readonly listener: Listener;
  private readonly door: Door;
  /** Requests whose answer is pending. */
  private pending = 0;
  /** Those of them whose routes may wait. */
  private inFlight = 0;
  /** Complete requests with a body that wait for their turn. */
  private deferred = 0;
  private connections = 0;
  private closing = false;
  private ends: number | undefined;

  /** `bodyBytes`: counts bodies together with other servers. */
  constructor(
    routes: readonly HttpRoute[],
    options: Options,
    listener: Listener,
    door: Door,
    bodyBytes?: BodyTally,
  ) {
    this.routes = routes;
    this.listener = listener;
    this.door = door;
    this.options = options;
    this.port = options.port;
    this.cors = corsOf(options.cors);
    this.bodies = new Bodies(options, bodyBytes);
    this.unsent = new Unsent(options.maxUnsentBytes);
  }

  /** Binds the port; rejects where it is taken or a TLS file is unusable. */
  async open(): Promise<void> {
    if (this.options.tls !== undefined) this.ends = checkTlsFiles(this.options.tls);
    const app = this.build();
    this.apps.push(app);
    await this.door.open(app);
  }

  reload(): Promise<void> {
    return this.open();
  }

  certificateEnd(): number | undefined {
    return this.ends;
  }

  async close(): Promise<void> {
    if (this.closing) return;
    this.closing = true;
    this.door.close();
    for (let waited = 0; this.pending > 0 && waited < CLOSE_MS; waited += POLL_MS) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    this.end();
  }

  /** Ends all connections at once. */
  end(): void {
    this.bodies.close();
    this.unsent.close();
    for (const app of this.apps.splice(0)) app.close();
  }

  private build(): App {
    const app = this.listener.createApp(this.options.tls);
    app.filter((connection, change) => this.countConnection(connection, Number(change)));
    const table = this.options.tls?.clientCa === undefined ? app : this.certified(app);
    for (const route of this.routes) this.bind(table, route);
    const { cors } = this;
    if (cors !== undefined) {
      table.options('/*', (response, request) => this.preflight(cors, response, request));
    }
    table.any('/*', (response, request) => this.refuseUnknown(response, request));
    return app;
  }

  private certified(app: App): HandlerTable {
    return onlyCertified(app, (response, request, refusal) => {
      const client = this.clientOf(response, headOf(request), request.getMethod() === 'head');
      this.refuse(client, refusal, true);
    });
  }

  private countConnection(connection: { close(): unknown }, change: number): void {
    this.connections += change;
    if (change > 0 && this.connections > this.options.maxConnections) connection.close();
  }

  private refuseUnknown(response: Response, request: Request): void {
    const head = headOf(request);
    const client = this.clientOf(response, head, request.getMethod() === 'head');
    if (head.hasTwoLengths) this.refuseLengths(client);
    else this.refuse(client, NOT_FOUND, this.closing);
  }

  /**
   * Refuses at once while the turn has time: a connection may send thousands of such requests in
   * one piece.
   */
  private refuse(client: Client, reply: HttpReply, close: boolean): void {
    const { response } = client;
    const answer = (): void => this.send(client, reply, close);
    if (this.serving.openToRefuse()) answer();
    else this.serving.deferRefusal(unlessAborted(response, () => response.cork(answer)));
  }

  /**
   * The answer comes in a later turn: while it is pending, the parser takes no request out of what
   * may be a body, but ends the connection.
   */
  private refuseLengths(client: Client): void {
    const { response } = client;
    const answer = (): void => void response.cork(() => this.send(client, TWO_LENGTHS, true));
    setImmediate(unlessAborted(response, answer));
  }

  private send(client: Client, reply: HttpReply, close: boolean): void {
    send(client, reply, this.unsent, close);
  }

  private preflight(cors: Cors, response: Response, request: Request): void {
    const { id, origin, hasTwoLengths, isLast } = headOf(request);
    const client = { response, id, shared: NO_HEADERS, isHead: false, isLast };
    if (hasTwoLengths) this.refuseLengths(client);
    else this.refuse(client, cors.preflight(origin), this.closing);
  }

  private clientOf(response: Response, head: RequestHead, isHead: boolean): Client {
    const { cors } = this;
    const shared = cors === undefined ? NO_HEADERS : cors.answer(head.origin);
    return { response, id: head.id, shared, isHead, isLast: head.isLast };
  }

  private bind(app: HandlerTable, route: HttpRoute): void {
    if (route.method === 'POST') {
      app.post(route.pattern, this.handler(route, false));
      return;
    }
    app.get(route.pattern, this.handler(route, false));
    app.head(route.pattern, this.handler(route, true));
  }

  private handler(route: HttpRoute, isHead: boolean): Handler {
    const takesBody = route.maxBody > 0;
    return (response, request) => {
      const head = headOf(request);
      const client = this.clientOf(response, head, isHead);
      const incoming = new IncomingRequest(client.id, route, response, request);
      if (head.hasTwoLengths) this.refuseLengths(client);
      else if (takesBody) this.serveWithBody(route, incoming, client, request);
      else this.serve(route, incoming, client);
    };
  }

  /** Serves a request without body; a synchronous handler is answered in this call. */
  private serve(route: HttpRoute, incoming: IncomingRequest, client: Client): void {
    const refusal = this.refused(route, incoming);
    if (refusal !== undefined) {
      incoming.release();
      this.refuse(client, refusal, this.closing);
      return;
    }
    if (!this.serving.open(0)) {
      incoming.detach();
      this.serveLater(route, incoming, client);
      return;
    }
    const reply = handled(route, incoming, undefined);
    incoming.release();
    if (reply instanceof Promise) this.answerLater(route, incoming, client, reply);
    else this.send(client, reply, this.closing);
  }

  private serveLater(route: HttpRoute, incoming: IncomingRequest, client: Client): void {
    const { response } = client;
    const answer = (): void => {
      const reply = handled(route, incoming, undefined);
      if (reply instanceof Promise) this.answerLater(route, incoming, client, reply);
      else response.cork(() => this.send(client, reply, this.closing));
    };
    this.serving.defer(0, unlessAborted(response, answer));
  }

  /** A refusal before the body is read: overload, or the route's own judgement. */
  private refused(route: HttpRoute, incoming: IncomingRequest): HttpReply | undefined {
    return (this.isBusy(route) ? OVERLOADED : undefined) ?? route.admit?.(incoming);
  }

  private isBusy(route: HttpRoute): boolean {
    return route.mayWait === true && this.inFlight + this.deferred >= this.options.maxInFlight;
  }

  private began(route: HttpRoute): void {
    this.pending++;
    if (route.mayWait === true) this.inFlight++;
  }

  private ended(route: HttpRoute): void {
    this.pending--;
    if (route.mayWait === true) this.inFlight--;
  }

  private answerLater(
    route: HttpRoute,
    incoming: IncomingRequest,
    client: Client,
    reply: Promise<HttpReply>,
  ): void {
    const { response } = client;
    this.began(route);
    response.onAborted(() => incoming.abandon());
    const finish = (result: HttpReply): void => {
      this.ended(route);
      if (incoming.isAbandoned) discard(result);
      else response.cork(() => this.send(client, result, this.closing));
    };
    reply.then(finish, () => finish(FAILED));
  }

  private serveWithBody(
    route: HttpRoute,
    incoming: IncomingRequest,
    client: Client,
    request: Request,
  ): void {
    const length = request.getHeader('content-length');
    if (length === '' && request.getHeader('transfer-encoding') === '') {
      this.serve(route, incoming, client);
      return;
    }
    const reply = this.refused(route, incoming) ?? tooBig(Number(length), route.maxBody);
    if (reply !== undefined) {
      // The parser skips the rest of the body, unless it is extremely long.
      const close = this.closing || Number(length) > 4 * route.maxBody;
      this.refuse(client, reply, close);
      return;
    }
    incoming.detach();
    const bytesMax = length === '' ? route.maxBody : Number(length);
    this.receive(route, incoming, client, bytesMax);
  }

  private receive(
    route: HttpRoute,
    incoming: IncomingRequest,
    client: Client,
    bytesMax: number,
  ): void {
    const { response } = client;
    const body = this.bodies.begin(
      bytesMax,
      () => incoming.remoteAddress(),
      () => response.close(),
    );
    if (body === undefined) {
      this.send(client, OVERLOADED, true);
      return;
    }
    const pressure = new BackPressure(response, this.serving);
    const upload: Upload = { route, incoming, client, body, pressure, isAborted: false };
    response.onAborted(() => {
      upload.isAborted = true;
      incoming.abandon();
      pressure.abandon();
      if (!body.ended) this.bodies.release(body);
    });
    response.onData((chunk, last) => this.take(upload, chunk, last));
  }

  private take(upload: Upload, chunk: ArrayBuffer | Uint8Array, last: boolean): void {
    const { route, body, pressure } = upload;
    if (body.ended) return;
    const refusal = this.judge(body, chunk.byteLength, route.maxBody);
    if (refusal !== undefined) {
      this.finish(upload, refusal, true);
      return;
    }
    const bytes = body.add(chunk, last);
    pressure.arrive(chunk.byteLength);
    if (bytes === undefined) return;
    pressure.release();
    this.bodies.complete(body);
    if (this.isBusy(route)) {
      this.finish(upload, OVERLOADED, this.closing);
      return;
    }
    if (this.serving.open(bytes.length)) {
      this.answer(upload, bytes);
      return;
    }
    // The parser reuses its buffer after this call.
    const own = body.isOwn ? bytes : Uint8Array.from(bytes);
    this.deferred++;
    this.serving.defer(own.length, () => {
      this.deferred--;
      if (upload.isAborted) this.bodies.release(body);
      else this.answer(upload, own);
    });
  }

  private answer(upload: Upload, bytes: Uint8Array): void {
    const { route, incoming } = upload;
    const reply = handled(route, incoming, bytes);
    if (!(reply instanceof Promise)) {
      this.finish(upload, reply, this.closing);
      return;
    }
    this.began(route);
    const later = (result: HttpReply): void => {
      this.ended(route);
      this.finish(upload, result, this.closing);
    };
    reply.then(later, () => later(FAILED));
  }

  private finish(upload: Upload, reply: HttpReply, close: boolean): void {
    this.bodies.release(upload.body);
    upload.pressure.release();
    if (upload.isAborted) discard(reply);
    else upload.client.response.cork(() => this.send(upload.client, reply, close));
  }

  private judge(body: PendingBody, more: number, max: number): HttpReply | undefined {
    if (body.size + more > max) return tooBig(body.size + more, max);
    return this.bodies.reserve(body, more) ? undefined : OVERLOADED;
  }
}

function tooBig(actual: number, max: number): HttpReply | undefined {
  return actual > max ? errorReply(apiError('BodyTooBig', actual, max)) : undefined;
}
