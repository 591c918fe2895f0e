/** Counts and times the requests of routes, those included that are refused or answered elsewhere. */
import type { HttpReply, HttpRoute } from '../base/ports/http.ts';

/** What a program measures of one route. */
export interface RouteMeter {
  /** Begins the time of a request; the returned function ends it. */
  begin(): () => void;
  answered(status: number): void;
}

/** The same routes with their meters. */
export const measuredRoutes = (
  routes: readonly HttpRoute[],
  meterOf: (route: HttpRoute) => RouteMeter,
): HttpRoute[] =>
  routes.map((route) => {
    const { admit, offload } = route;
    const meter = meterOf(route);
    const count = (reply: HttpReply): HttpReply => {
      meter.answered(reply.status);
      return reply;
    };
    return {
      ...route,
      answered(status, refusal) {
        route.answered?.(status, refusal);
        meter.answered(status);
      },
      offload: offload && {
        ...offload,
        async finish(message, requestId) {
          const done = meter.begin();
          const reply = await offload.finish(message, requestId);
          done();
          meter.answered(reply?.status ?? 200);
          return reply;
        },
      },
      admit:
        admit &&
        ((request) => {
          const refusal = admit(request);
          return refusal && count(refusal);
        }),
      handle(request, body) {
        const done = meter.begin();
        const finish = (reply: HttpReply): HttpReply => {
          done();
          return count(reply);
        };
        const reply = route.handle(request, body);
        return reply instanceof Promise ? reply.then(finish) : finish(reply);
      },
    };
  });
