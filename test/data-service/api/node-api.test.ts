/** A node that hangs takes a few places of the interface, and no client keeps the crawler waiting. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { undiciClient } from '../../../src/adapters/http/undici.ts';
import { ipRange } from '../../../src/base/ip-range.ts';
import { DatabaseError } from '../../../src/base/ports/database.ts';
import { NODE_PLACES } from '../../../src/data-service/api/forward.ts';
import { madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { OPEN_TO_ALL, served } from '../served.ts';
import { migratedDatabase } from '../stores.ts';

const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
/** Some twenty seconds at most: what never comes is found by the assertion that follows. */
const until = async (holds: () => boolean): Promise<void> => {
  for (let tries = 0; tries < 1000 && !holds(); tries++) await later();
};
/** Longer than the test. */
const NEVER_MS = 600_000;
/** Of the server; a fifth of what it takes by default. */
const IN_FLIGHT_MAX = 100;
const noDatabase = (): Promise<never> => Promise.reject(new DatabaseError('away', 'there is none'));
const HUNG = '/node-api/blocks/last';
const ACCESS = { ...OPEN_TO_ALL, trustedProxies: [ipRange('127.0.0.0/8')!] };

/** A made chain behind a node that begins the answer `/blocks/last`, and never ends it. */
async function hangingNode(t: Test) {
  const chain = madeChain({ seed: 'hung', txsPerBlock: 2, accounts: 5 });
  chain.grow(3);
  const made = await madeNode(t, () => chain);
  const client = undiciClient();
  let [hung, left] = [0, 0];
  const hang = (response: ServerResponse): void => {
    hung++;
    response.on('close', () => left++);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{');
  };
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { status, text } = await client.request({
      method: request.method === 'POST' ? 'POST' : 'GET',
      url: made.url + request.url,
      headers: { 'content-type': 'application/json' },
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    });
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(text);
  };
  const server = createServer((request, response) => {
    if (request.url === '/blocks/last') hang(response);
    else pass(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    server.close();
    await client.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { chain, url, hung: () => hung, left: () => left };
}

/** Questions of many clients that a proxy passes on. */
function begin(url: string, count: number, clients: number) {
  const leaving = new AbortController();
  const state = { answered: 0, leave: () => leaving.abort() };
  for (let i = 0; i < count; i++) {
    const headers = { 'x-forwarded-for': `10.0.0.${i % clients}` };
    fetch(url + HUNG, { headers, signal: leaving.signal })
      .then((answer) => answer.text())
      .then(() => state.answered++)
      .catch(() => undefined);
  }
  return state;
}

t.test('clients that ask a hung node leave the interface to others', async (t) => {
  const node = await hangingNode(t);
  const service = await served(t, node.url, migratedDatabase, {
    access: ACCESS,
    listen: { host: '127.0.0.1', port: 0, cors: false, maxInFlight: IN_FLIGHT_MAX },
    nodeAnswerMsMax: NEVER_MS,
  });
  await service.reached(node.chain.height());
  const asked = begin(service.url, 2 * IN_FLIGHT_MAX, IN_FLIGHT_MAX);
  t.teardown(asked.leave);
  // A server that takes all it can would be full, too, once it refuses some.
  await until(() => asked.answered >= IN_FLIGHT_MAX / 2);
  t.ok(asked.answered >= IN_FLIGHT_MAX / 2, 'most are refused');
  t.equal((await service.get('/transactions?limit=1')).status, 200);
  t.equal((await service.get('/health/ready')).status, 200);
  const more = await fetch(service.url + HUNG);
  t.match([more.status, await more.json()], [503, { error: 503 }], 'it is told at once');
});

t.test('clients that ask a hung node leave the crawler its connections', async (t) => {
  const node = await hangingNode(t);
  const service = await served(t, node.url, migratedDatabase, {
    access: ACCESS,
    nodeAnswerMsMax: NEVER_MS,
  });
  await service.reached(node.chain.height());
  const asked = begin(service.url, 2 * NODE_PLACES, 2 * NODE_PLACES);
  t.teardown(asked.leave);
  await until(() => node.hung() >= NODE_PLACES);
  node.chain.grow(3);
  await service.reached(node.chain.height());
  t.equal(asked.answered, 0);
  t.equal(node.hung(), NODE_PLACES);
});

t.test('a client that goes away leaves the node, too', async (t) => {
  const node = await hangingNode(t);
  const service = await served(t, node.url, noDatabase, {
    crawl: undefined,
    nodeAnswerMsMax: NEVER_MS,
  });
  const asked = begin(service.url, 1, 1);
  await until(() => node.hung() === 1);
  asked.leave();
  await until(() => node.left() === 1);
  t.equal(node.left(), 1, 'the node is told');
});

t.test('an answer of the node that takes too long', async (t) => {
  const node = await hangingNode(t);
  const service = await served(t, node.url, noDatabase, {
    crawl: undefined,
    nodeAnswerMsMax: 50,
  });
  const answer = await service.get(HUNG).catch((cause: unknown) => cause);
  t.match(answer, { status: 503, json: { error: 503 } });
  await until(() => node.left() === 1);
  t.equal(node.left(), 1, 'it is asked no longer');
});
