/**
 * A thread that holds connections of clients: it reads requests, applies the rules of access, and
 * refuses what is too much. What needs no state is done by others beside it (offload-threads.ts); all
 * else it passes on to the main thread.
 *
 * Invariants: every request that was passed on is answered once; an answer that the main thread
 * gives is sent unchanged; nothing is passed on before the rules of access have let it pass.
 */
import type { MessagePort } from 'node:worker_threads';
import { assert } from '../../base/assert.ts';
import type { HttpReply, HttpRequest, HttpRoute } from '../../base/http.ts';
import { measureLoopDelay } from '../loop-delay.ts';
import type { Door } from './app.ts';
import { sharedTally } from './body-tally.ts';
import { countEnd } from './ended-threads.ts';
import { loadNative, type NativeApp } from './native.ts';
import type { OffloadResult } from './offload-messages.ts';
import { Outbox } from './outbox.ts';
import { Server } from './server.ts';
import type { FromThread, HttpThreadData, RouteFacts, ToThread } from './thread-messages.ts';

/** What the program does in the thread. */
export interface ThreadParts {
  /** The rule of this name; undefined where every request passes. */
  readonly admit: (access: string) => ((request: HttpRequest) => HttpReply | undefined) | undefined;
  /** The parts of routes that need no state, by their names; each copies the body at once. */
  readonly works: Readonly<Record<string, (body: Uint8Array) => Promise<OffloadResult>>>;
  /** Called at the end, when nothing waits for a result any more. */
  readonly end?: () => void;
}

export function serveConnections(
  port: MessagePort,
  { routes, options, bodyBytes, ended }: HttpThreadData,
  parts: ThreadParts,
): void {
  const outbox = new Outbox(port);
  const delay = options.measured === true ? measureLoopDelay() : undefined;

  function passOn(
    route: number,
    { keep, pattern }: RouteFacts,
    request: HttpRequest,
    body: Uint8Array | undefined,
  ): Promise<HttpReply> {
    const count = pattern.split('/:').length - 1;
    return outbox.call({
      route,
      path: request.path,
      query: request.query,
      params: Array.from({ length: count }, (_, i) => request.param(i)),
      headers: keep.map((name) => request.header(name)),
      body: body && ownMemory(body),
    });
  }

  function routeOf(facts: RouteFacts, index: number): HttpRoute {
    const work = facts.work === undefined ? undefined : parts.works[facts.work];
    assert(facts.work === undefined || work !== undefined, `no work ${facts.work}`);
    async function offload(request: HttpRequest, result: Promise<OffloadResult>) {
      const done = await result;
      if ('whole' in done) return passOn(index, facts, request, done.whole);
      if ('message' in done) return outbox.finish(index, done);
      outbox.count(index, done.refusal.status);
      return done.refusal;
    }
    return {
      ...facts,
      admit: facts.access === undefined ? undefined : parts.admit(facts.access),
      handle(request, body) {
        const hasWork = work !== undefined && body !== undefined && body.length > 0;
        return hasWork ? offload(request, work(body)) : passOn(index, facts, request, body);
      },
    };
  }

  const door: Door = {
    open(app) {
      const descriptor = (app as NativeApp).getDescriptor();
      port.postMessage({ kind: 'open', descriptor } satisfies FromThread);
    },
    close: () => undefined,
  };
  const tally = sharedTally(bodyBytes);
  const server = new Server(routes.map(routeOf), options, loadNative(), door, tally);

  function open(): void {
    server.open().catch((why) => port.postMessage({ kind: 'unusable', why } satisfies FromThread));
  }

  function close(): void {
    delay?.disable();
    parts.end?.();
    port.close();
  }

  function end(): void {
    server.end();
    // Native handles are gone only after the turn in which they were closed.
    setImmediate(() => setImmediate(() => countEnd(ended)));
  }

  port.on('message', (message: ToThread) => {
    if (message.kind === 'reload') open();
    else if (message.kind === 'close') void server.close().then(close);
    else if (message.kind === 'end') end();
    else outbox.settle(message.done, message.replies);
  });

  // The main thread ends the process in order; a dead thread would still be given connections.
  process.on('uncaughtException', (why) =>
    port.postMessage({ kind: 'failed', why } satisfies FromThread),
  );
  if (delay !== undefined) port.postMessage({ kind: 'measured', delay } satisfies FromThread);
  open();
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
