/**
 * The Http port on several threads. The main thread accepts connections and gives them to the
 * threads in turn. The threads read requests, print answers, and do what needs no state
 * (connection-thread.ts); the routes run in the main thread.
 *
 * All threads together keep the limits of one server: each has its part, and the bytes of bodies
 * are counted together, because one body may need most of them.
 */
import { assert } from '../../../base/assert.ts';
import type { Http, HttpRoute, HttpServer, HttpServerOptions } from '../../../base/ports/http.ts';
import { sharedCounters } from '../body-tally.ts';
import { type Bounds, bounds } from '../bounds.ts';
import { freePort } from '../free-port.ts';
import { native } from '../listener.ts';
import { checkTlsFiles } from '../tls/tls-files.ts';
import { awaitEnds, sharedCount } from './ended-threads.ts';
import { HttpThread } from './http-thread.ts';
import { RequestQueue } from './request-queue.ts';
import type { HttpThreadData, RouteFacts } from './thread-messages.ts';

export interface ThreadedOptions {
  /** From 1. */
  readonly threads: number;
  /** Module of the thread: src/cli/workers/http-worker.ts. */
  readonly workerUrl: URL;
  /** A thread ended without being asked to; its connections are gone. */
  readonly onDeath: (cause: unknown) => void;
}

export function threadedHttp({ threads: count, workerUrl, onDeath }: ThreadedOptions): Http {
  return {
    async listen(routes, options) {
      assert(native !== undefined, 'only apps of uWebSockets.js pass connections to threads');
      const { host, tls } = options;
      const port = await freePort(host, options.port);
      let ends = tls && checkTlsFiles(tls);
      const data = threadData(routes, { ...options, port }, count);
      // It answers nothing itself.
      const acceptor = native.createApp(tls);
      const atExit = (): void => {
        for (const thread of threads) thread.end();
        awaitEnds(data.ended, count);
      };
      const onOpen = (descriptor: number, before: number | undefined): void => {
        acceptor.addChildAppDescriptor(descriptor);
        if (before !== undefined) acceptor.removeChildAppDescriptor(before);
      };
      const door = native.portDoor(host, port);
      const events = {
        onOpen,
        onDeath(cause: unknown): void {
          // The acceptor must not give a connection to a thread that is gone.
          door.close();
          onDeath(cause);
        },
      };
      const line = new RequestQueue();
      const threads = Array.from(
        { length: count },
        (_, index) => new HttpThread(workerUrl, { ...data, index }, routes, line, events),
      );
      const all = (act: (thread: HttpThread) => Promise<void>) => Promise.all(threads.map(act));
      let closed: Promise<void> | undefined;
      const close = async (): Promise<void> => {
        door.close();
        await all((thread) => thread.close());
        acceptor.close();
        process.off('exit', atExit);
      };
      const server: HttpServer = {
        port,
        delays: options.measured === true ? () => threads.map((one) => one.delay()) : undefined,
        async reload() {
          const next = tls && checkTlsFiles(tls);
          await all((thread) => thread.reload());
          ends = next;
        },
        certificateEnd: () => ends,
        renew(data) {
          for (const thread of threads) thread.renew(data);
        },
        close() {
          closed ??= close();
          return closed;
        },
      };
      process.on('exit', atExit);
      try {
        await all((thread) => thread.start());
        await door.open(acceptor);
      } catch (cause) {
        await server.close();
        throw cause;
      }
      return server;
    },
  };
}

const threadData = (
  routes: readonly HttpRoute[],
  options: HttpServerOptions,
  threads: number,
): Omit<HttpThreadData, 'index'> => ({
  routes: routes.map(factsOf),
  threads,
  options: { ...options, ...partOf({ ...bounds, ...options }, threads) },
  bodyBytes: sharedCounters(),
  ended: sharedCount(),
  program: options.forThreads,
});

function factsOf({ offload, ...route }: HttpRoute): RouteFacts {
  const { method, pattern, maxBody, mayWait = false, keep, keepsAddress, access } = route;
  assert(route.admit === undefined || access !== undefined, `${pattern}: a rule without a name`);
  const { work, unlessAccepts } = offload ?? {};
  return { method, pattern, maxBody, mayWait, keep, keepsAddress, access, work, unlessAccepts };
}

/** What one of so many threads may have; connections are spread evenly over them. */
function partOf(whole: Bounds, threads: number): Bounds {
  const part = (limit: number): number => Math.ceil(limit / threads);
  return {
    ...whole,
    maxInFlight: part(whole.maxInFlight),
    maxConnections: part(whole.maxConnections),
    maxBodies: part(whole.maxBodies),
    maxBodiesPerHost: part(whole.maxBodiesPerHost),
    maxUnsentBytes: part(whole.maxUnsentBytes),
  };
}
