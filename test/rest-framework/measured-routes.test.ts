// Every answer of a route is counted once, wherever it was made.
import t from 'tap';
import type { HttpRequest, HttpRoute } from '../../src/base/ports/http.ts';
import { answer } from '../../src/rest-framework/answer.ts';
import { measuredRoutes } from '../../src/rest-framework/measured-routes.ts';

const request = {} as HttpRequest;
const plain: HttpRoute = {
  method: 'GET',
  pattern: '/things/:id',
  maxBody: 0,
  keep: [],
  handle: () => answer(200, {}),
};

/** The route as it is served, and what was measured of it. */
function measured(own: Partial<HttpRoute>) {
  const seen: (string | number)[] = [];
  const meter = {
    begin: () => {
      seen.push('begin');
      return () => void seen.push('end');
    },
    answered: (status: number) => void seen.push(status),
  };
  const [route] = measuredRoutes([{ ...plain, ...own }], () => meter);
  return { route: route!, seen };
}

t.test('a request that is handled', async (t) => {
  const { route, seen } = measured({});
  route.handle(request, undefined);
  t.strictSame(seen, ['begin', 'end', 200]);
  const later = measured({ handle: async () => answer(404, {}) });
  await later.route.handle(request, undefined);
  t.strictSame(later.seen, ['begin', 'end', 404], 'later');
});

t.test('a request that its guard refuses, and one that it lets pass', async (t) => {
  let refusal: ReturnType<NonNullable<HttpRoute['admit']>> = answer(403, {});
  const { route, seen } = measured({ admit: () => refusal });
  t.equal(route.admit?.(request)?.status, 403);
  t.strictSame(seen, [403]);
  refusal = undefined;
  t.equal(route.admit?.(request), undefined);
  t.strictSame(seen, [403], 'its answer is counted when it is made');
  t.equal(measured({}).route.admit, undefined);
});

t.test('an answer that another thread has made, or prepared', async (t) => {
  const { route, seen } = measured({ offload: { work: 'thing', finish: async () => undefined } });
  route.answered?.(503);
  await route.offload?.finish(new Uint8Array(0), 'r');
  t.strictSame(seen, [503, 'begin', 'end', 200]);
});
