/** What a node says can become neither a header nor a page of the service, nor lead a client elsewhere. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { DatabaseError } from '../../../src/base/ports/database.ts';
import { ask } from '../../adapters/http/raw-socket.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { served } from '../served.ts';
import { migratedDatabase } from '../stores.ts';

const noDatabase = (): Promise<never> => Promise.reject(new DatabaseError('away', 'there is none'));

/** A node that answers everything so. */
async function answering(
  t: Test,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test('a signature that would end a header', async (t) => {
  const chain = madeChain({ seed: 'hostile', txsPerBlock: 2, accounts: 5 });
  chain.grow(3);
  const ends = 'abc\r\nset-cookie: a=b\r\n\r\n<script>';
  const hostile: MadeChain = {
    ...chain,
    block: (height) => {
      const block = chain.block(height);
      return block && (height === 4 ? { ...block, signature: ends } : block);
    },
  };
  const node = await madeNode(t, () => hostile);
  const service = await served(t, node.url, migratedDatabase);
  const { state } = service.service;
  while (service.log.of('crawl.failed').length === 0 && state.height < 4) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  t.not(state.height, 4, 'the block is none');
  const answer = await service.get('/transactions');
  t.not(answer.headers.get('x-tip-signature'), ends);
  t.equal(answer.headers.get('set-cookie'), null);
  t.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  t.notMatch((await service.get('/blocks')).text, /script/);
});

t.test('only JSON of a node is passed on', async (t) => {
  let type = 'text/html';
  const url = await answering(t, (_request, response) => {
    response.writeHead(200, { 'content-type': type, 'set-cookie': 'a=b' });
    response.end('{"height":1}');
  });
  const service = await served(t, url, noDatabase, { crawl: undefined });
  for (type of ['text/html', 'text/html, application/json', 'application/json2', '']) {
    const answer = await service.get('/node-api/blocks/height');
    t.match(answer, { status: 503, json: { error: 503 } }, type);
  }
  for (type of ['application/json', 'Application/JSON; charset=utf-8']) {
    const answer = await service.get('/node-api/blocks/height');
    t.match(answer, { status: 200, json: { height: 1 } }, type);
    t.equal(answer.headers.get('content-type'), 'application/json');
    t.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    t.equal(answer.headers.get('set-cookie'), null);
  }
});

t.test('an answer of a node without an end', async (t) => {
  let isGone = false;
  const piece = ' '.repeat(1 << 20);
  const url = await answering(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.on('close', () => {
      isGone = true;
    });
    const more = (): void => {
      while (!isGone && response.write(piece));
    };
    response.on('drain', more);
    more();
  });
  const service = await served(t, url, noDatabase, { crawl: undefined });
  t.match(await service.get('/node-api/blocks/height'), { status: 503, json: { error: 503 } });
  while (!isGone) await new Promise((resolve) => setTimeout(resolve, 5));
});

t.test('a client reaches declared paths of the node alone', async (t) => {
  const asked: string[] = [];
  const url = await answering(t, (request, response) => {
    asked.push(String(request.url));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{}');
  });
  const service = await served(t, url, noDatabase, { crawl: undefined });
  const { port } = new URL(service.url);
  const reached = async (path: string): Promise<readonly string[]> => {
    asked.length = 0;
    // A client of HTTP would resolve the path itself.
    await ask(Number(port), `GET /node-api${path} HTTP/1.1\nHost: h`);
    return asked.filter((one) => one !== '/blocks/height');
  };
  t.strictSame(await reached('/blocks/at/5'), ['/blocks/at/5']);
  t.strictSame(await reached('/addresses/data/a%2Fb?x=1'), ['/addresses/data/a%2Fb?x=1']);
  for (const up of ['..\\..\\debug', '..%5C..%5Cdebug', '..%2F..%2Fdebug', '%252e%252e']) {
    for (const one of await reached(`/blocks/at/${up}`))
      t.match(one, /^\/blocks\/at\/[^/\\]+$/, up);
  }
  for (const up of ['..', '.', '%2e%2e', '%2E', '.%2e']) {
    t.strictSame(await reached(`/blocks/at/${up}`), [], up);
    t.strictSame(await reached(`/addresses/data/${up}/key`), [], up);
  }
});
