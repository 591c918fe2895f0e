// Containers that break the protocol, or send more than any call needs.
import { once } from 'node:events';
import { type ClientHttp2Session, connect, constants, type OutgoingHttpHeaders } from 'node:http2';
import { connect as dial } from 'node:net';
import t from 'tap';
import { readProtos } from '../../../../src/adapters/containers/grpc/messages.ts';
import { KIB, MIB } from '../../../../src/base/limits/budget.ts';
import { contractLimits as limits } from '../../../../src/base/limits/contract-limits.ts';
import { ID_BYTES } from '../../../../src/base/sizes.ts';
import { execution, readsOf } from './executions.ts';
import { connected, opened, patient, type Scope } from './opened.ts';
import { addressOf } from './sdk-client.ts';

const protos = readProtos();
const encode = (type: string, message: object): Buffer =>
  Buffer.from(protos.lookupType(`wavesenterprise.${type}`).encode(message).finish());

const framed = (message: Uint8Array, flag = 0, length = message.length): Buffer => {
  const head = Buffer.alloc(5, flag);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
};

/** A container with a call under way, and a bare HTTP/2 connection beside its own. */
async function attacked(scope: Scope) {
  const { session, stream, ...rest } = await connected(scope);
  const entry = { key: 'a', type: 'boolean', value: true } as const;
  const call = execution({}, readsOf([entry]));
  const outcome = session.run(call, patient);
  outcome.catch(() => {});
  await stream.next();
  const path = addressOf(session).slice('unix:'.length);
  const open = () => {
    const http = connect('http://localhost', { createConnection: () => dial(path) });
    http.on('error', () => {});
    scope.teardown(() => http.destroy());
    return http;
  };
  return { ...rest, session, call, outcome, open, path };
}

const commitPath = '/wavesenterprise.ContractService/CommitExecutionSuccess';
const keyPath = '/wavesenterprise.ContractService/GetContractKey';
const headersOf = (path: string, token: string): OutgoingHttpHeaders => ({
  ':method': 'POST',
  ':path': path,
  'content-type': 'application/grpc+proto',
  te: 'trailers',
  authorization: token,
});

/** The status of gRPC, or how the stream ended without one. */
async function send(
  http: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body: Uint8Array,
): Promise<string> {
  if (http.destroyed || http.closed) return 'no connection';
  const stream = http.request(headers);
  let status: string | undefined;
  const take = (got: Record<string, unknown>): void => {
    if (got['grpc-status'] !== undefined) status = String(got['grpc-status']);
  };
  stream
    .on('response', take)
    .on('trailers', take)
    .on('error', () => {})
    .resume();
  stream.end(body);
  await new Promise<void>((resolve) => stream.once('close', resolve));
  return status ?? `reset ${stream.rstCode}`;
}

t.test('messages that are none', async (t) => {
  const { call, open, outcome } = await attacked(t);
  const http = open();
  const headers = headersOf(commitPath, call.token);
  const good = encode('ExecutionSuccessRequest', { txId: call.transaction.id });
  t.equal(await send(http, headers, Buffer.alloc(0)), '3', 'nothing');
  t.equal(await send(http, headers, Buffer.alloc(4)), '3', 'half a length');
  t.equal(await send(http, headers, framed(good, 1)), '12', 'compressed');
  t.equal(await send(http, headers, framed(good, 0, good.length + 1)), '3', 'cut off');
  t.equal(await send(http, headers, Buffer.concat([framed(good), framed(good)])), '3', 'two');
  t.equal(await send(http, headers, framed(Buffer.alloc(40, 255))), '3', 'garbage');
  t.equal(await send(http, { ...headers, ':path': '/' }, framed(good)), '12');
  t.equal(await send(http, { ...headers, ':path': `${commitPath}/` }, framed(good)), '12');
  t.equal(await send(http, { ...headers, 'content-type': 'text/plain' }, framed(good)), '12');
  t.equal(await send(http, { ...headers, ':method': 'PUT' }, framed(good)), '12');
  t.equal(await send(http, headers, framed(good)), '0', 'and the call still counts');
  t.match(await outcome, { kind: 'success' });
});

t.test('results at the limit of size, and above', async (t) => {
  const { call, open, outcome } = await attacked(t);
  const http = open();
  const { id: txId } = call.transaction;
  const results = (bytes: number) => {
    const fill = (length: number) =>
      encode('ExecutionSuccessRequest', {
        txId,
        results: [{ key: 'k', binaryValue: Buffer.alloc(length) }],
      });
    return framed(fill(bytes - (fill(bytes).length - bytes)));
  };
  const headers = headersOf(commitPath, call.token);
  t.equal(await send(http, headers, results(limits.results.value + 1)), '8');
  const empty = Buffer.alloc(2 * (limits.fields.value + 1)).fill(Uint8Array.of(0x12, 0));
  t.equal(await send(http, headers, framed(empty)), '8', 'more entries than a 105 holds');
  const read = headersOf(keyPath, call.token);
  t.equal(await send(http, read, framed(Buffer.alloc(limits.message.value + 1))), '8');
  t.equal(await send(http, headers, results(limits.results.value)), '0');
  t.match(await outcome, { kind: 'success' });
});

t.test('elements at any depth cost', async (t) => {
  const { call, open, session, outcome } = await attacked(t);
  const spent: number[] = [];
  call.reads.spend = (rows) => void spent.push(rows);
  const http = open();
  const ask = (name: string, bytes: Uint8Array) =>
    send(http, headersOf(`/wavesenterprise.ContractService/${name}`, call.token), framed(bytes));
  const keys = (count: number) =>
    encode('ContractKeysRequest', { keysFilter: { keys: Array<string>(count).fill('') } });
  t.equal(
    await ask('GetContractKeys', keys(limits.requestFields.value)),
    '8',
    'one more with its list',
  );
  t.equal(await ask('GetContractKeys', keys(limits.requestFields.value - 1)), '0');
  const ids = Array<object>(9000).fill({ value: '' });
  t.equal(
    await ask('GetContractBalances', encode('ContractBalancesRequest', { assetsIds: ids })),
    '0',
  );
  t.same(spent, [9000]);
  const rejected = t.rejects(outcome);
  await session.close();
  await rejected;
});

t.test('an end by its own doing is no outage', async (t) => {
  const { open } = await opened(t);
  const { session } = await open();
  const ready = session.ready('container', patient);
  const failed = ready.catch((cause: unknown) => cause);
  const path = addressOf(session).slice('unix:'.length);
  const http = connect('http://localhost', { createConnection: () => dial(path) });
  http.on('error', () => {});
  t.teardown(() => http.destroy());
  const request = framed(encode('ContractKeyRequest', { key: 'a' }));
  for (let i = 0; i <= limits.refusals.value; i++)
    await send(http, headersOf(keyPath, 'forged'), request);
  const own = { failure: { system: false, recoverable: true } };
  t.match(await failed, own);
  t.match(await session.run(execution(), patient).catch((cause: unknown) => cause), own);
});

t.test('a Connect that is long', async (t) => {
  const { open, token, session, outcome } = await attacked(t);
  const headers = headersOf('/wavesenterprise.ContractService/Connect', token);
  t.equal(await send(open(), headers, framed(Buffer.alloc(limits.connect.value + 1))), '8');
  const rejected = t.rejects(outcome);
  await session.close();
  await rejected;
});

t.test('messages of many streams that never end', async (t) => {
  const { call, open, outcome, session } = await attacked(t);
  const http = open();
  const piece = Buffer.alloc(limits.message.value / 8);
  const statuses = Array.from({ length: 30 }, (_, i) => {
    // Fifteen connections, which the container may have.
    const stream = (i % 2 === 0 ? open() : http).request(headersOf(keyPath, call.token));
    stream.on('error', () => {});
    stream.write(piece);
    return new Promise((resolve) => {
      stream.on('response', (headers) => resolve(headers['grpc-status']));
    });
  });
  t.equal(await Promise.race(statuses), '8');
  const rejected = t.rejects(outcome);
  await session.close();
  await rejected;
});

t.test('headers above the limit', async (t) => {
  const { call, open, outcome, client } = await attacked(t);
  const headers = { ...headersOf(keyPath, call.token), long: 'x'.repeat(9000) };
  const request = framed(encode('ContractKeyRequest', { key: 'a' }));
  const http = open();
  await once(http, 'remoteSettings');
  t.equal(await send(http, headersOf(keyPath, call.token), request), '0', 'settings are known');
  t.match(await send(http, headers, request), /^reset/);
  const results = framed(encode('ExecutionSuccessRequest', { txId: call.transaction.id }));
  t.equal(await send(open(), headersOf(commitPath, call.token), results), '0');
  t.match(await outcome, { kind: 'success' });
  t.ok(client);
});

t.test('bytes that are no HTTP/2', async (t) => {
  const { call, open, path, outcome } = await attacked(t);
  for (const bytes of [Buffer.alloc(100_000, 255), Buffer.from('GET / HTTP/1.1\r\n\r\n')]) {
    const socket = dial(path);
    socket.on('error', () => {});
    socket.end(bytes);
    socket.resume();
    await once(socket, 'close');
  }
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  const socket = dial(path);
  socket.on('error', () => {});
  socket.resume();
  socket.write(Buffer.concat([preface, Buffer.alloc(100_000, 255)]));
  await once(socket, 'close');
  const results = framed(encode('ExecutionSuccessRequest', { txId: call.transaction.id }));
  t.equal(await send(open(), headersOf(commitPath, call.token), results), '0');
  t.match(await outcome, { kind: 'success' });
});

t.test('forged tokens without end', async (t) => {
  const { open, outcome, session } = await attacked(t);
  const http = open();
  const request = framed(encode('ContractKeyRequest', { key: 'a' }));
  const answers = new Map<string, number>();
  for (let round = 0; !http.destroyed && !http.closed && round < 100; round++) {
    const sent = Array.from({ length: 20 }, () =>
      send(http, headersOf(keyPath, 'forged'), request),
    );
    for (const status of await Promise.all(sent)) {
      answers.set(status, (answers.get(status) ?? 0) + 1);
    }
  }
  await session.ended;
  await session.close();
  await t.rejects(outcome);
  t.ok((answers.get('16') ?? 0) <= limits.refusals.value + 1);
});

t.test('requests without end', { timeout: 60_000 }, async (t) => {
  const { open, call, outcome, session } = await attacked(t);
  const http = open();
  const request = framed(encode('ContractKeyRequest', { key: 'a' }));
  let answered = 0;
  while (!http.destroyed && !http.closed && answered <= limits.requests.value) {
    const sent = Array.from({ length: 50 }, () =>
      send(http, headersOf(keyPath, call.token), request),
    );
    for (const status of await Promise.all(sent)) if (status === '0') answered++;
  }
  t.equal(answered <= limits.requests.value, true);
  await session.ended;
  await session.close();
  await t.rejects(outcome);
});

t.test('streams that are opened and reset', async (t) => {
  const { open, outcome, session } = await attacked(t);
  const http = open();
  let opened = 0;
  while (!http.destroyed && !http.closed && opened < 100_000) {
    for (let i = 0; i < limits.streams.value / 2; i++, opened++) {
      if (http.destroyed) break;
      const stream = http.request(headersOf(keyPath, 'forged'));
      stream.on('error', () => {});
      stream.close(constants.NGHTTP2_CANCEL);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.ok(opened < 100_000, `ended after ${opened}`);
  await session.ended;
  await session.close();
  await t.rejects(outcome);
});

t.test('a container that never reads', async (t) => {
  const value = Buffer.alloc(1000);
  const entries = Array.from({ length: 1000 }, (_, i) => ({
    key: `k${i}`,
    type: 'binary' as const,
    value,
  }));
  const { session, stream, token } = await connected(t);
  t.ok(token);
  const call = execution({}, readsOf(entries));
  const outcome = session.run(call, patient);
  await stream.next();
  const path = addressOf(session).slice('unix:'.length);
  const http = connect('http://localhost', { createConnection: () => dial(path) });
  http.on('error', () => {});
  t.teardown(() => http.destroy());
  const before = process.memoryUsage.rss();
  const statuses: Promise<unknown>[] = [];
  for (let i = 0; i < 50; i++) {
    const asked = http.request(
      headersOf('/wavesenterprise.ContractService/GetContractKeys', call.token),
    );
    asked.on('error', () => {});
    statuses.push(once(asked, 'response').then(([headers]) => headers['grpc-status']));
    asked.pause();
    asked.end(framed(encode('ContractKeysRequest', {})));
  }
  const refused = (await Promise.all(statuses)).filter((status) => status === '8').length;
  const rise = (process.memoryUsage.rss() - before) / MIB;
  t.ok(rise < 200, `memory of both sides rises by ${rise.toFixed(0)} MiB`);
  t.equal(refused, 50 - Math.floor(limits.leaving.value / MIB), 'what is not read is not made');
  const rejected = t.rejects(outcome);
  await session.close();
  await rejected;
});

t.test('an address of many bytes', async (t) => {
  const { call, open, session, outcome } = await attacked(t);
  const headers = headersOf('/wavesenterprise.AddressService/GetAssetBalance', call.token);
  const ask = (address: Buffer, assetId?: object) =>
    send(open(), headers, framed(encode('AssetBalanceRequest', { address, assetId })));
  t.equal(await ask(Buffer.alloc(ID_BYTES + 1)), '3');
  t.equal(await ask(Buffer.alloc(26), { value: Buffer.alloc(64 * KIB) }), '3');
  t.equal(await ask(Buffer.alloc(26), { value: Buffer.alloc(ID_BYTES) }), '0');
  const rejected = t.rejects(outcome);
  await session.close();
  await rejected;
});

t.test('an error whose message is long', async (t) => {
  const { call, open, outcome } = await attacked(t);
  const message = { txId: call.transaction.id, code: 3, message: 'x'.repeat(MIB) };
  const path = '/wavesenterprise.ContractService/CommitExecutionError';
  const body = framed(encode('ExecutionErrorRequest', message));
  t.equal(await send(open(), headersOf(path, call.token), body), '0');
  t.strictSame(await outcome, { kind: 'error', code: 3, message: 'x'.repeat(1_000) });
});

t.test('what a container does is no outage', async (t) => {
  const { open: openSession } = await opened(t);
  const { session, token } = await openSession();
  const ready = session.ready('container', patient);
  const told = ready.catch((cause: unknown) => cause);
  const path = addressOf(session).slice('unix:'.length);
  const http = connect('http://localhost', { createConnection: () => dial(path) });
  http.on('error', () => {});
  t.teardown(() => http.destroy());
  for (let i = 0; i <= limits.refusals.value; i++) {
    await send(http, headersOf('/none', token), framed(Buffer.alloc(0)));
  }
  t.match(await told, { failure: { system: false, recoverable: true } });
  const { session: other, stream } = await connected(t);
  const first = other.run(execution(), patient);
  await stream.next();
  const ended = t.rejects(first);
  stream.cancel();
  await other.ended;
  const late = await other.run(execution(), patient).catch((cause: unknown) => cause);
  t.match(late, { failure: { system: false } }, 'a later call');
  await other.close();
  await ended;
});
