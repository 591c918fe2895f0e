// The interface for running contracts: tokens, what is served there and from which state.
import t from 'tap';
import { httpListener } from '../../src/adapters/http/listener.ts';
import { base58 } from '../../src/base/base58.ts';
import { parse } from '../../src/base/json/json.ts';
import { contractLimits } from '../../src/base/limits/contract-limits.ts';
import type { KeyFilters } from '../../src/base/ports/patterns.ts';
import {
  createExecutions,
  type RunningExecution,
} from '../../src/contracts/execution/executions.ts';
import { REQUESTS_PER_CALL_MAX } from '../../src/contracts/reads/read-budget.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import { putContract, putContractEntry } from '../../src/ledger/contracts.ts';
import { createOverlay } from '../../src/ledger/overlay.ts';
import { createInternalApi } from '../../src/rest/internal-contracts.ts';
import { refusesTwoLengths } from '../adapters/http/two-lengths.ts';
import { wholeNode } from '../node/in-process.ts';
import { call } from '../rest-cases/runner.ts';
import type { Scope } from '../system/e2e/process.ts';
import { exchangeJson, type JsonAnswer } from './fixtures/exchange-json.ts';
import { headProblems } from './fixtures/head.ts';

const ID = new Uint8Array(32).fill(1);
const OTHER = new Uint8Array(32).fill(2);
const [id, other] = [ID, OTHER].map((bytes) => base58.encode(bytes)) as [string, string];
const LIFETIME_MS = 60_000;

interface Served {
  readonly port: number;
  readonly token: string;
  readonly execution: RunningExecution;
  readonly executions: ReturnType<typeof createExecutions>;
  /** Filters of contracts. */
  readonly filters: KeyFilters;
  pass(ms: number): Promise<void>;
  get(path: string, token?: string): Promise<JsonAnswer>;
  post(path: string, body: unknown, token?: string): Promise<JsonAnswer>;
}

/** `keyFiltersOf`: stands before the filters of contracts. */
async function served(
  t: Scope,
  keyFiltersOf: (real: KeyFilters) => KeyFilters = (real) => real,
): Promise<Served> {
  const { node, clock, accounts } = await wholeNode(t, { set: ['miner.enable=no'] });
  const [{ publicKey: creator }] = accounts;
  const view = createOverlay(node.blockchain.view);
  for (const contract of [ID, OTHER]) {
    const record = { creator, image: 'image', imageHash: 'ab'.repeat(32), version: 1 };
    putContract(view, contract, { ...record, active: true });
  }
  for (const key of ['a', 'aa', 'b/c', 'sum']) {
    putContractEntry(view, ID, key, { type: 'integer', value: 2n ** 60n });
  }
  const executions = createExecutions(LIFETIME_MS, {
    clock,
    random: { bytes: (count) => crypto.getRandomValues(new Uint8Array(count)) },
    hash: sha256,
  });
  const execution = {
    ...{ txId: ID, contractId: ID, height: 2, view },
    executedFor: () => undefined,
  } as Partial<RunningExecution> as RunningExecution;
  const contractKeyFilters = keyFiltersOf(node.services.contractKeyFilters);
  const services = { ...node.services, contractKeyFilters };
  const server = await httpListener.listen(createInternalApi(services, executions), {
    host: '127.0.0.1',
    port: 0,
    cors: false,
  });
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${server.port}`;
  const token = executions.begin(execution);
  const headers = (of: string): Record<string, string> =>
    of === '' ? {} : { 'X-Contract-Api-Token': of };
  return {
    port: server.port,
    token,
    execution,
    executions,
    filters: contractKeyFilters,
    pass: (ms) => clock.advance(ms),
    get: (path, of = token) => exchangeJson('GET', url + path, headers(of)),
    post: (path, body, of = token) =>
      exchangeJson('POST', url + path, headers(of), JSON.stringify(body)),
  };
}

t.test('a contract reads the state of its execution', async (t) => {
  const { get, post } = await served(t);
  const value = 2n ** 60n;
  for (const path of ['/internal/contracts', '/internal/contracts/']) {
    const { status, body } = await get(path);
    t.equal(status, 200);
    t.match(body, [{ contractId: id, version: 1, active: true }, { contractId: other }]);
  }
  t.match((await get(`/internal/contracts/${id}`)).body, [
    { key: 'a', type: 'integer', value },
    { key: 'aa' },
    { key: 'b/c' },
    { key: 'sum' },
  ]);
  t.match((await get(`/internal/contracts/${id}?offset=1&limit=1`)).body, [{ key: 'aa' }]);
  const matching = await get(`/internal/contracts/${id}?matches=${encodeURIComponent('^(a|sum)')}`);
  t.match(matching.body, [{ key: 'a' }, { key: 'sum' }]);
  t.equal((parse(matching.text) as unknown[]).length, 2, 'the whole key must match');
  t.match((await get(`/internal/contracts/${id}/sum`)).body, { key: 'sum', value });
  t.match((await get(`/internal/contracts/${id}/b%2Fc`)).body, { key: 'b/c' });
  t.match((await post('/internal/contracts', { contracts: [id, other] })).body, {
    [id]: [{ key: 'a' }, { key: 'aa' }, { key: 'b/c' }, { key: 'sum' }],
    [other]: [],
  });
});

t.test('refusals are those of the routes for clients', async (t) => {
  const { get, post } = await served(t);
  const missing = base58.encode(new Uint8Array(32).fill(3));
  t.match(await get(`/internal/contracts/${missing}`), {
    status: 404,
    body: { error: 600, message: `Contract '${missing}' is not found` },
  });
  t.match(await get(`/internal/contracts/${id}/none`), {
    status: 404,
    body: { error: 304, message: 'no data for this key: none' },
  });
  t.match(await get(`/internal/contracts/${id}?matches=(`), { status: 400, body: { error: 629 } });
  const costly = encodeURIComponent('(a{1000}){1000}');
  t.match(await get(`/internal/contracts/${id}?matches=${costly}`), { body: { error: 629 } });
  t.match(await get(`/internal/contracts/${id}?limit=x`), { status: 400, body: { error: 199 } });
  t.match(await post('/internal/contracts', { contracts: Array(101).fill(id) }), {
    status: 400,
    body: { error: 10 },
  });
  t.match(await get(`/internal/contracts/executed-tx-for/${id}`), {
    status: 404,
    body: { error: 601 },
  });
});

t.test('scenario 86: forged, expired, finished and foreign tokens, and other paths', async (t) => {
  const { get, post, token, execution, executions, pass } = await served(t);
  const path = `/internal/contracts/${id}/sum`;
  t.match(await get(path, ''), {
    status: 401,
    body: { error: 618, message: 'Authorization error. Missing authorization metadata' },
  });
  const refused = {
    status: 401,
    body: { error: 622, message: 'Authorization error. Invalid token' },
  };
  for (const wrong of ['x', 'A'.repeat(43), `${token}x`, token.slice(1), token.toLowerCase()]) {
    t.match(await get(path, wrong), refused, 'a forged one');
  }
  t.match(await post('/internal/contracts', { contracts: [id] }, 'x'), refused);
  const elsewhere = createExecutions(LIFETIME_MS, {
    clock: { monotonic: () => 0 },
    random: { bytes: (count) => new Uint8Array(count).fill(1) },
    hash: sha256,
  }).begin(execution);
  t.match(await get(path, elsewhere), refused, 'one of another node');

  for (const outside of [
    '/',
    '/contracts',
    `/contracts/${id}`,
    '/internal',
    '/internal/other',
    '/internal/contracts/../../node/status',
    '/node/status',
    '/blocks/height',
    '/api-docs/swagger.json',
    '/explorer',
    `/internal/contracts/info/${id}/x`,
  ]) {
    t.equal((await get(outside)).status, 404, outside);
  }
  t.equal((await post('/transactions/broadcast', {})).status, 404);

  const second = executions.begin({ ...execution, height: 9 });
  executions.end(second);
  t.match(await get(path, second), refused, 'one whose execution has ended');
  t.equal((await get(path)).status, 200);
  await pass(LIFETIME_MS);
  t.match(await get(path), refused, 'one whose time is over');
});

t.test('an execution has so many requests', async (t) => {
  const { get, token, execution, executions } = await served(t);
  const path = `/internal/contracts/${id}/sum`;
  for (let i = 1; i < REQUESTS_PER_CALL_MAX; i++) executions.admit(token);
  t.equal((await get(path)).status, 200);
  t.equal((await get(path)).status, 413);
  t.equal((await get(path, executions.begin(execution))).status, 200, 'each has its own');
});

t.test('executions take turns, though all come from one address', async (t) => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  let asked = 0;
  const { get, execution, executions } = await served(t, (real) => ({
    open: real.open,
    inTurn(client, work) {
      asked++;
      return real.inTurn(client, () => gate.then(work));
    },
  }));
  const matching = (token?: string) => get(`/internal/contracts/${id}?matches=a`, token);
  const many = Array.from({ length: 4 + contractLimits.patternsWaitingOfOne.value }, () =>
    matching(),
  );
  while (asked < many.length) await new Promise(setImmediate);
  t.equal((await matching()).status, 503, 'more of one execution than wait');
  const other = matching(executions.begin({ ...execution, txId: OTHER }));
  while (asked < many.length + 2) await new Promise(setImmediate);
  open();
  t.match(await other, { status: 200, body: [{ key: 'a' }] });
  for (const { status } of await Promise.all(many)) t.equal(status, 200);
});

t.test('the work of patterns is that of an execution', async (t) => {
  const { get, filters, execution, executions } = await served(t);
  const spendAll = async (): Promise<void> => {
    for (;;) await filters.open('a{900}', base58.encode(ID));
  };
  await t.rejects(spendAll(), { code: 503 });
  const path = `/internal/contracts/${id}?matches=a`;
  t.equal((await get(path)).status, 503);
  const other = executions.begin({ ...execution, txId: OTHER });
  t.equal((await get(path, other)).status, 200);
});

t.test('HEAD, and a body of two lengths', async (t) => {
  const { port, token } = await served(t);
  const path = `/internal/contracts/${id}/sum`;
  const headers = { 'X-Contract-Api-Token': token };
  const url = `http://127.0.0.1:${port}${path}`;
  t.strictSame(await headProblems((method) => call(method, url, headers)), []);
  await refusesTwoLengths(t, port, 'POST /internal/contracts', [`X-Contract-Api-Token: ${token}`]);
});
