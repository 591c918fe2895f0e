// Listeners that ask clients for a certificate answer nobody else: Node's own, the native one, and
// the one on threads.
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import t, { type Test } from 'tap';
import { Agent, request } from 'undici';
import { threadedHttp } from '../../../../src/adapters/http/connection-threads/threaded.ts';
import { httpOn, native, nodeHttp } from '../../../../src/adapters/http/listener.ts';
import { ClientCertificates } from '../../../../src/adapters/http/tls/client-certificates.ts';
import {
  type Http,
  type HttpRoute,
  type HttpServer,
  TlsFileError,
  type TlsFiles,
} from '../../../../src/base/ports/http.ts';
import { Authority, type Pair, withoutOpenssl } from './authority.ts';

t.setTimeout(600_000);

const skip = withoutOpenssl();
const certificates = new URL('.', import.meta.url).pathname;

const threads = (): Http =>
  threadedHttp({
    threads: 2,
    workerUrl: new URL('../connection-threads/threaded-worker.ts', import.meta.url),
    onDeath: (cause) => t.fail(String(cause)),
  });
const listeners: Readonly<Record<string, () => Http>> = {
  'node:http': () => nodeHttp,
  ...(native === undefined
    ? {}
    : { 'uWebSockets.js': () => httpOn(native!), '2 threads': threads }),
};

interface Seen {
  readonly calls: string[];
}

function routes({ calls }: Seen): HttpRoute[] {
  const answer: HttpRoute['handle'] = ({ method, path }) => {
    calls.push(`${method} ${path}`);
    return { status: 200, type: 'text/plain', body: 'answered' };
  };
  const stream: HttpRoute['handle'] = ({ path }) => {
    calls.push(path);
    const begin = (client: { end(text: string): void }): void => client.end('streamed');
    const made = { filler: ':\n\n', begin, ready: () => {}, closed: () => {} };
    return { status: 200, type: 'text/event-stream', body: '', stream: made };
  };
  const admit: HttpRoute['admit'] = undefined;
  return [
    { method: 'GET', pattern: '/plain', maxBody: 0, keep: [], admit, handle: answer },
    { method: 'GET', pattern: '/stream', maxBody: 0, keep: [], admit, handle: stream },
    { method: 'POST', pattern: '/body', maxBody: 1000, keep: [], admit, handle: answer },
  ];
}

/** What a client hears: status and body, or that the connection ends without an answer. */
async function hears(
  { port }: HttpServer,
  pair: Pair | undefined,
  method = 'GET',
  path = '/plain',
): Promise<string> {
  const files = pair && { cert: readFileSync(pair.cert), key: readFileSync(pair.key) };
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false, ...files } });
  const body = method === 'POST' ? '{"some":"body"}' : null;
  try {
    const answer = await request(`https://127.0.0.1:${port}${path}`, {
      method: method as 'GET',
      body,
      dispatcher,
    });
    return `${answer.statusCode} ${await answer.body.text()}`;
  } catch {
    return 'no answer';
  } finally {
    await dispatcher.destroy();
  }
}

const NONE = /^403 .*"error":2.*No client certificate was shown/;

function made(t: Test): {
  ours: Authority;
  other: Authority;
  tls: TlsFiles & { clientCa: string };
} {
  const dir = t.testdir();
  const ours = new Authority(join(dir, 'ours'), 'ours');
  const other = new Authority(join(dir, 'other'), 'other');
  const clientCa = join(dir, 'clients.pem');
  copyFileSync(ours.cert, clientCa);
  const own = (name: string): string => join(certificates, `test-only-${name}.pem`);
  return { ours, other, tls: { cert: own('cert'), key: own('key'), clientCa } };
}

for (const [name, http] of Object.entries(listeners)) {
  t.test(`on ${name}`, { skip }, async (t) => {
    const { ours, other, tls } = made(t);
    const [good, expired] = [ours.sign('good', 5), ours.sign('expired', -1)];
    const foreign = other.sign('foreign', 5);
    const calls: string[] = [];
    const options = { host: '127.0.0.1', port: 0, cors: true, tls };
    const server = await http().listen(routes({ calls }), options);
    t.teardown(() => server.close());

    for (const [method, path] of [
      ['GET', '/plain'],
      ['GET', '/stream'],
      ['POST', '/body'],
      ['OPTIONS', '/plain'],
      ['GET', '/nowhere'],
    ] as const) {
      t.match(await hears(server, undefined, method, path), NONE, `none: ${method} ${path}`);
    }
    t.equal(await hears(server, foreign), 'no answer', 'of another authority');
    t.equal(await hears(server, foreign, 'POST', '/body'), 'no answer');
    t.equal(await hears(server, expired), 'no answer', 'one that has expired');
    t.match(await hears(server, undefined, 'HEAD'), /^403 $/);
    t.strictSame(calls, [], 'no route has run');

    t.equal(await hears(server, good), '200 answered');
    t.match(await hears(server, good, 'GET', '/stream'), /^200 .*streamed/s);
    t.equal(await hears(server, good, 'POST', '/body'), '200 answered');
    t.match(await hears(server, good, 'GET', '/nowhere'), /^404/);
    t.equal(calls.length, 3);

    await t.test('a session that is resumed', () => resumes(t, server, good));

    copyFileSync(other.cert, tls.clientCa);
    await server.reload();
    t.equal(await hears(server, good), 'no answer', 'another authority, without a stop');
    t.equal(await hears(server, foreign), '200 answered');
    writeFileSync(tls.clientCa, 'nothing of use');
    await t.rejects(server.reload(), { name: TlsFileError.name, which: 'clientCa' });
    t.equal(await hears(server, foreign), '200 answered', 'the old ones stay in use');
    t.match(await hears(server, undefined), NONE);
  });
}

/** It has the certificate of the first handshake, and none where there was none. */
async function resumes(t: Test, { port }: HttpServer, good: Pair): Promise<void> {
  const files = { cert: readFileSync(good.cert), key: readFileSync(good.key) };
  const ask = (more: object): Promise<{ text: string; session: Buffer | undefined }> =>
    new Promise((resolve) => {
      let text = '';
      let session: Buffer | undefined;
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...more });
      socket.on('session', (given) => {
        session = given;
      });
      socket.on('data', (chunk) => {
        text += chunk;
        // The session of TLS 1.3 comes before the answer.
        socket.destroy();
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve({ text, session }));
      socket.write('GET /plain HTTP/1.1\r\nhost: h\r\n\r\n');
    });
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3']) {
    const first = await ask({ ...files, maxVersion });
    t.match(first.text, /answered/);
    t.match((await ask({ ...files, maxVersion, session: first.session })).text, /answered/);
    const none = await ask({ maxVersion });
    t.match(none.text, /403 /);
    t.match((await ask({ maxVersion, session: none.session })).text, /403 /);
  }
}

t.test('a certificate that ends while its connection is open', { skip }, async (t) => {
  const { ours } = made(t);
  const pem = readFileSync(ours.sign('short', 1).cert, 'utf8');
  const shown = new ClientCertificates();
  const response = { getX509Certificate: () => pem };
  const DAY_MS = 86_400_000;
  t.equal(shown.refusal(response, Date.now()), undefined);
  t.equal(shown.refusal(response, Date.now() + DAY_MS - 60_000), undefined);
  t.match(shown.refusal(response, Date.now() + DAY_MS + 1000), { status: 403, body: /expired/ });
});

t.test('files that are no authorities', { skip }, async (t) => {
  const { ours, tls } = made(t);
  const listen = (): Promise<HttpServer> =>
    nodeHttp.listen([], { host: '127.0.0.1', port: 0, cors: false, tls });
  const client = ours.sign('client', 5).cert;
  const damaged = readFileSync(ours.cert, 'utf8').replace(/\n(.{8})/, '\nAAAAAAAA');
  for (const [text, why] of [
    ['', /holds no PEM certificate/],
    [readFileSync(client, 'utf8'), /number 1 is not that of an authority/],
    [`${readFileSync(ours.cert)}${damaged}`, /2 certificates, of which number 2 cannot be read/],
  ] as const) {
    writeFileSync(tls.clientCa, text);
    await t.rejects(listen(), { name: TlsFileError.name, which: 'clientCa', message: why });
  }
  await t.rejects(
    nodeHttp.listen([], {
      host: '127.0.0.1',
      port: 0,
      cors: false,
      tls: { ...tls, clientCa: `${tls.clientCa}-absent` },
    }),
    /cannot be read/,
  );
});

t.test('a key of a kind that the native server does not take', { skip }, async (t) => {
  const folder = t.testdir();
  const tls = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  const subject = ['-x509', '-nodes', '-days', '9', '-subj', '/CN=localhost'];
  const files = ['-keyout', tls.key, '-out', tls.cert];
  execFileSync('openssl', ['req', ...subject, '-newkey', 'ed448', ...files], { stdio: 'ignore' });
  for (const [name, http] of Object.entries(listeners)) {
    if (name === 'node:http') continue;
    const listening = http().listen([], { host: '127.0.0.1', port: 0, cors: false, tls });
    await t.rejects(
      listening,
      { name: TlsFileError.name, which: 'key', message: /RSA or P-256/ },
      name,
    );
  }
});
