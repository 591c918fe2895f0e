/**
 * A thread that holds connections of clients: it reads requests, applies the rules of access, and
 * refuses what is too much. What needs no state is done by others beside it (offload/offload-threads.ts); all
 * else it passes on to the main thread.
 *
 * Invariants: every request that was passed on is answered once; an answer that the main thread
 * gives is sent unchanged; nothing is passed on before the rules of access have let it pass.
 */
import type { MessagePort } from 'node:worker_threads';
import { assert } from '../../../base/assert.ts';
import type { HttpReply, HttpRequest, HttpRoute } from '../../../base/ports/http.ts';
import { type Measurement, measureLoopDelay } from '../../loop-delay.ts';
import type { Door } from '../app.ts';
import { sharedTally } from '../body-tally.ts';
import { loadNative, type NativeApp } from '../native.ts';
import { isUndivided, type OffloadResult } from '../offload/offload-messages.ts';
import { Server } from '../server.ts';
import { countEnd } from './ended-threads.ts';
import { Outbox } from './outbox.ts';
import type { FromThread, HttpThreadData, RouteFacts, ToThread } from './thread-messages.ts';

/** What the program does in the thread. */
export interface ThreadParts {
  /** The rule of this name; undefined where every request passes. */
  readonly admit: (access: string) => ((request: HttpRequest) => HttpReply | undefined) | undefined;
  /** The parts of routes that need no state, by their names; each copies the body at once. */
  readonly works: Readonly<Record<string, (body: Uint8Array) => Promise<OffloadResult>>>;
  /** Takes `HttpServer.renew`. */
  readonly renew: (data: unknown) => void;
  /** Called at the end, when nothing waits for a result any more. */
  readonly end?: () => void;
}

export class ConnectionThread {
  private readonly port: MessagePort;
  private readonly data: HttpThreadData;
  private readonly parts: ThreadParts;
  private readonly outbox: Outbox;
  private readonly server: Server;
  private delay: Measurement | undefined;

  constructor(port: MessagePort, data: HttpThreadData, parts: ThreadParts) {
    this.port = port;
    this.data = data;
    this.parts = parts;
    this.outbox = new Outbox(port);
    const routes = data.routes.map((facts, index) => this.routeOf(facts, index));
    const tally = sharedTally(data.bodyBytes);
    const door: Door = {
      open: (app) => this.post({ kind: 'open', descriptor: (app as NativeApp).getDescriptor() }),
      close: () => undefined,
    };
    this.server = new Server(routes, data.options, loadNative(), door, tally);
  }

  start(): void {
    this.port.on('message', (message: ToThread) => this.receive(message));
    // The main thread ends the process in order; a dead thread would still be given connections.
    process.on('uncaughtException', (why) => this.post({ kind: 'failed', why }));
    if (this.data.options.measured === true) {
      this.delay = measureLoopDelay();
      this.post({ kind: 'measured', delays: this.delay.histograms });
    }
    this.open();
  }

  private post(message: FromThread): void {
    this.port.postMessage(message);
  }

  private receive(message: ToThread): void {
    if (message.kind === 'reload') this.open();
    else if (message.kind === 'renew') this.parts.renew(message.data);
    else if (message.kind === 'close') void this.server.close().then(() => this.close());
    else if (message.kind === 'end') this.end();
    else if (message.kind === 'written') this.outbox.write(message.texts);
    else this.outbox.settle(message.done, message.replies);
  }

  private open(): void {
    this.server.open().catch((why) => this.post({ kind: 'unusable', why }));
  }

  private close(): void {
    this.delay?.end();
    this.parts.end?.();
    this.port.close();
  }

  private end(): void {
    this.server.end();
    // Native handles are gone only after the turn in which they were closed.
    setImmediate(() => setImmediate(() => countEnd(this.data.ended)));
  }

  private routeOf(facts: RouteFacts, index: number): HttpRoute {
    const work = facts.work === undefined ? undefined : this.parts.works[facts.work];
    assert(facts.work === undefined || work !== undefined, `no work ${facts.work}`);
    return {
      ...facts,
      admit: facts.access === undefined ? undefined : this.admission(index, facts.access),
      handle: (request, body) => {
        const hasWork = work !== undefined && body !== undefined && body.length > 0;
        if (!hasWork || isUndivided(facts, request))
          return this.passOn(index, facts, request, body);
        return this.finish(index, facts, request, work(body));
      },
    };
  }

  /** The rule of access, which tells the main thread whom it has refused. */
  private admission(index: number, access: string): HttpRoute['admit'] {
    const admit = this.parts.admit(access);
    return (
      admit &&
      ((request) => {
        const reply = admit(request);
        if (reply === undefined) return undefined;
        const { status, type, body } = reply;
        const address = request.remoteAddress();
        const refusal = { reply: { status, type, body }, requestId: request.id, address };
        this.outbox.count({ route: index, status, refusal });
        return reply;
      })
    );
  }

  private async finish(
    index: number,
    facts: RouteFacts,
    request: HttpRequest,
    result: Promise<OffloadResult>,
  ): Promise<HttpReply> {
    const done = await result;
    if ('whole' in done) return this.passOn(index, facts, request, done.whole);
    if ('message' in done) return this.outbox.finish(index, request.id, done);
    this.outbox.count({ route: index, status: done.refusal.status });
    return done.refusal;
  }

  private passOn(
    route: number,
    { keep, keepsAddress, pattern }: RouteFacts,
    request: HttpRequest,
    body: Uint8Array | undefined,
  ): Promise<HttpReply> {
    const count = pattern.split('/:').length - 1;
    return this.outbox.call({
      requestId: request.id,
      route,
      path: request.path,
      query: request.query,
      params: Array.from({ length: count }, (_, i) => request.param(i)),
      headers: keep.map((name) => request.header(name)),
      address: keepsAddress === true ? request.remoteAddress() : '',
      body: body && ownMemory(body),
    });
  }
}

/** Memory that can be transferred: that of a long body itself, or a copy. */
function ownMemory(body: Uint8Array): ArrayBuffer {
  const { buffer, byteOffset } = body;
  if (buffer instanceof ArrayBuffer && buffer.resizable && byteOffset === 0) {
    buffer.resize(body.length);
    return buffer;
  }
  return Uint8Array.from(body).buffer;
}
