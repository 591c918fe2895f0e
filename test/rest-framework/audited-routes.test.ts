// Each request to a method that needs a key is recorded once, with its outcome and without secrets.
import t from 'tap';
import type { AuditEntry } from '../../src/base/ports/audit-log.ts';
import type { HttpReply, HttpRequest, HttpRoute } from '../../src/base/ports/http.ts';
import { answer } from '../../src/rest-framework/answer.ts';
import { auditedRoutes } from '../../src/rest-framework/audited-routes.ts';

const request = (path: string) =>
  ({
    id: 'r7',
    method: 'POST',
    path,
    query: 'secret=1',
    remoteAddress: () => '10.0.0.7',
  }) as HttpRequest;
const keyed: HttpRoute = {
  method: 'POST',
  pattern: '/things/:id',
  maxBody: 0,
  keep: [],
  access: 'adminKey',
  admit: () => undefined,
  handle: () => answer(200, {}),
};
const refusal: HttpReply = answer(403, { error: 2, message: 'The API key billing has expired' });

function audited(own: Partial<HttpRoute>) {
  const entries: AuditEntry[] = [];
  let ms = 0;
  const clock = { monotonic: () => ms };
  const log = { record: (entry: AuditEntry) => void entries.push(entry) };
  const [route] = auditedRoutes([{ ...keyed, ...own }], log, () => 'billing', clock);
  return { route: route!, entries, pass: (more: number) => (ms += more) };
}

t.test('a request that is handled, now and later', async (t) => {
  const who = {
    request: 'r7',
    key: 'billing',
    address: '10.0.0.7',
    method: 'POST',
    path: '/things/7',
  };
  const { route, entries } = audited({});
  t.equal(route.keepsAddress, true);
  route.handle(request('/things/7'), undefined);
  t.strictSame(entries, [{ ...who, status: 200 }]);
  const later = audited({ handle: async () => answer(404, {}) });
  await later.route.handle(request('/things/7'), undefined);
  t.strictSame(later.entries, [{ ...who, status: 404 }]);
  const long = audited({});
  long.route.handle(request(`/things/${'7'.repeat(10_000)}`), undefined);
  t.equal(long.entries[0]?.path.length, 256);
});

t.test('a request that its guard refuses, here and in a thread', async (t) => {
  const why = 'The API key billing has expired';
  const entry = {
    request: 'r7',
    address: '10.0.0.7',
    method: 'POST',
    path: '/things/:id',
    status: 403,
    why,
  };
  const here = audited({ admit: () => refusal });
  t.equal(here.route.admit?.(request('/things/7')), refusal);
  t.strictSame(here.entries, [entry]);
  const counted: number[] = [];
  const there = audited({ answered: (status) => counted.push(status) });
  there.route.answered?.(403, { reply: refusal, requestId: 'r7', address: '10.0.0.7' });
  there.route.answered?.(503);
  t.strictSame(there.entries, [entry], 'others are not about keys');
  t.strictSame(counted, [403, 503], 'counted all the same');
});

t.test('refusals without end do not push out what keys have done', async (t) => {
  let why = 'for the first reason';
  const { route, entries, pass } = audited({
    admit: () => answer(403, { error: 2, message: why }),
  });
  for (let i = 0; i < 1000; i++) route.admit?.(request('/things/7'));
  t.equal(entries.length, 100);
  route.handle(request('/things/7'), undefined);
  t.match(
    entries[100],
    { key: 'billing', status: 200, unrecorded: 900 },
    'the next one counts them',
  );
  why = 'for another reason';
  route.admit?.(request('/things/7'));
  t.match(entries[101], { status: 403, why }, 'nobody hides the tries of another key');
  why = 'for the first reason';
  route.admit?.(request('/things/7'));
  t.equal(entries.length, 102);
  pass(100);
  route.admit?.(request('/things/7'));
  t.match(entries[102], { status: 403, why, unrecorded: 1 });
});

t.test('a route that needs no key', async (t) => {
  const { route, entries } = audited({ access: undefined, admit: undefined });
  route.handle(request('/things/7'), undefined);
  t.strictSame(entries, []);
});
