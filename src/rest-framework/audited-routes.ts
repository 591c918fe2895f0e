/**
 * Routes that need a key, with a record of each request: whose key, from where, what, and how it
 * ended. Bodies, queries and secrets are not recorded.
 */
import { parse } from '../base/json/json.ts';
import type { AuditEntry, AuditLog } from '../base/ports/audit-log.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { HttpReply, HttpRequest, HttpRoute, ThreadRefusal } from '../base/ports/http.ts';
import { BoundedCache } from '../concurrency/bounded-cache.ts';
import { TokenBucket } from '../concurrency/token-bucket.ts';

const PATH_CHARS_MAX = 256;
/** Refusals for one reason that are recorded in a second, and at once. */
const REFUSALS_PER_SECOND = 10;
const REFUSALS_AT_ONCE = 100;
const REASONS_MAX = 256;

/** `holderOf`: the name of the key of a request. */
export function auditedRoutes(
  routes: readonly HttpRoute[],
  log: AuditLog,
  holderOf: (request: HttpRequest) => string | undefined,
  clock: Pick<Clock, 'monotonic'>,
): HttpRoute[] {
  // By reason: who has no key must not hide the tries of a key that has a name.
  const buckets = new BoundedCache<string, TokenBucket>(REASONS_MAX);
  let unrecorded = 0;

  const record = (entry: AuditEntry): void => {
    log.record(unrecorded === 0 ? entry : { ...entry, unrecorded });
    unrecorded = 0;
  };
  const mayRecord = (why: string): boolean => {
    const known = buckets.get(why);
    const bucket = known ?? new TokenBucket(REFUSALS_AT_ONCE, REFUSALS_PER_SECOND, clock);
    if (known === undefined) buckets.set(why, bucket);
    return bucket.tryTake();
  };
  const recordRefusal = (route: HttpRoute, { requestId, reply, address }: ThreadRefusal): void => {
    const why = whyOf(reply);
    const { method, pattern: path } = route;
    const { status } = reply;
    if (mayRecord(why)) record({ request: requestId, address, method, path, status, why });
    else unrecorded += 1;
  };

  const audited = (route: HttpRoute): HttpRoute => ({
    ...route,
    keepsAddress: true,
    answered(status, refusal) {
      route.answered?.(status, refusal);
      if (refusal !== undefined) recordRefusal(route, refusal);
    },
    admit(request) {
      const reply = route.admit?.(request);
      if (reply !== undefined) {
        const address = request.remoteAddress();
        recordRefusal(route, { reply, requestId: request.id, address });
      }
      return reply;
    },
    handle(request, body) {
      // Before the handler waits for something: nothing of the request is there afterwards.
      const { id, method } = request;
      const path = request.path.slice(0, PATH_CHARS_MAX);
      const key = holderOf(request);
      const who = { request: id, key, address: request.remoteAddress(), method, path };
      const finish = (reply: HttpReply): HttpReply => {
        record({ ...who, status: reply.status });
        return reply;
      };
      const reply = route.handle(request, body);
      return reply instanceof Promise ? reply.then(finish) : finish(reply);
    },
  });
  return routes.map((route) => (route.access === undefined ? route : audited(route)));
}

/** The message of a refusal by a guard, which names the key where it has a name. */
function whyOf({ body }: HttpReply): string {
  return (parse(String(body)) as { readonly message: string }).message;
}
