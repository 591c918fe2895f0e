/**
 * The Http port on the calling thread, beside threads that do the part of requests that needs no
 * state (offload-threads.ts).
 */
import { availableParallelism } from 'node:os';
import type { Http, HttpReply, HttpRequest, HttpRoute } from '../../../base/ports/http.ts';
import { isUndivided } from './offload-messages.ts';
import { OffloadThreads } from './offload-threads.ts';

export interface OffloadOptions {
  /** What serves the routes. */
  readonly http: Http;
  /** For each name of a part, the module of the thread that does it. */
  readonly workers: Readonly<Record<string, URL>>;
  /** A thread ended without being asked to; some requests will have no answer. */
  readonly onDeath: (cause: unknown) => void;
}

export function offloadHttp({ http, workers, onDeath }: OffloadOptions): Http {
  return {
    async listen(routes, options) {
      const all = new Map<string, OffloadThreads>();
      const threadsFor = (work: string): OffloadThreads => {
        const workerUrl = workers[work]!;
        const known = all.get(work);
        if (known !== undefined) return known;
        const threadsMax = availableParallelism();
        const data = { workerUrl, workerData: options.forThreads, threadsMax, onDeath };
        const threads = new OffloadThreads(data);
        all.set(work, threads);
        return threads;
      };
      const server = await http.listen(
        routes.map((route) => withThreads(route, threadsFor)),
        options,
      );
      return {
        port: server.port,
        delays: server.delays,
        reload: () => server.reload(),
        certificateEnd: () => server.certificateEnd?.(),
        async close() {
          await server.close();
          for (const threads of all.values()) threads.end();
        },
      };
    },
  };
}

function withThreads(route: HttpRoute, threadsFor: (work: string) => OffloadThreads): HttpRoute {
  const { offload } = route;
  if (offload === undefined) return route;
  const threads = threadsFor(offload.work);

  async function handle(request: HttpRequest, body: Uint8Array): Promise<HttpReply> {
    const done = await threads.run(body);
    if ('whole' in done) return route.handle(request, done.whole);
    if ('message' in done) return (await offload!.finish(done.message, request.id)) ?? done.reply;
    route.answered?.(done.refusal.status);
    return done.refusal;
  }

  return {
    ...route,
    handle(request, body) {
      const isWhole = body === undefined || body.length === 0 || isUndivided(offload, request);
      return isWhole ? route.handle(request, body) : handle(request, body);
    },
  };
}
