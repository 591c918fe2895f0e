/** Settings that change answers, each with both values (decision 10; docs/guide/clients.md). */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { httpListener } from '../../src/adapters/http/listener.ts';
import { base58 } from '../../src/base/base58.ts';
import type { StatusRecord } from '../../src/contracts/statuses/status-record.ts';
import { serveApi } from '../rest/fixtures/memory-node.ts';
import type { Scope } from '../system/e2e/process.ts';
import { type Rest, restOf } from '../system/e2e/rest.ts';
import { type WholeNode, wholeNode } from './in-process.ts';

interface Served extends WholeNode {
  readonly rest: Rest;
}

async function served(t: Scope, set: readonly string[]): Promise<Served> {
  const whole = await wholeNode(t, { set, http: httpListener });
  return { ...whole, rest: restOf(`http://127.0.0.1:${whole.node.rest!.port}`, whole.apiKey) };
}

/** The same network with the switch off and on. */
const both = (t: Scope, key: string, set: readonly string[] = []): Promise<Served[]> =>
  Promise.all(['no', 'yes'].map((value) => served(t, [...set, `rest-api.${key}=${value}`])));

t.test('sdk-compatible: balance details', async (t) => {
  const [off, on] = await both(t, 'sdk-compatible');
  const { text } = off!.accounts[0];
  const path = `/addresses/balance/details/${text}`;
  const documented = (await off!.rest.get(path)).body as readonly unknown[];
  t.equal(documented.length, 1);
  t.match(documented[0], { address: text });
  t.ok(Object.keys(documented[0] as object).includes('available'));
  t.strictSame((await on!.rest.get(path)).body, documented[0]);
  for (const { rest } of [off!, on!]) {
    const many = await rest.post('/addresses/balance/details', { addresses: [text] });
    t.strictSame(many.body, documented, 'lists are lists');
  }
});

t.test('sdk-compatible: consensus of blocks', async (t) => {
  const [off, on] = await both(t, 'sdk-compatible', ['blockchain.consensus.type=pos']);
  for (const path of ['/blocks/first', '/blocks/headers/at/1', '/blocks/headers/last']) {
    const documented = (await off!.rest.get(path)).body as Record<string, unknown>;
    t.match(documented, { coreconsensus: Object, 'pos-consensus': Object });
    t.notOk('nxt-consensus' in documented);
    const widened = (await on!.rest.get(path)).body as Record<string, unknown>;
    t.strictSame(widened['nxt-consensus'], documented['pos-consensus'], path);
  }
  const poa = await served(t, ['rest-api.sdk-compatible=yes']);
  t.notOk('nxt-consensus' in ((await poa.rest.get('/blocks/first')).body as object));
});

t.test('sdk-compatible: codes of contract runs', async (t) => {
  const { accounts, scheme, node } = await wholeNode(t);
  const [owner] = accounts;
  const run = (code: number | undefined): StatusRecord => ({
    senderPublicKey: owner.publicKey,
    txId: new Uint8Array(32),
    status: 'Error',
    code,
    message: 'what the contract said',
    timestamp: 1,
    signature: new Uint8Array(64),
  });
  t.equal(scheme.chainId, 84);
  for (const [sdkCompatible, shown] of [
    [false, '3'],
    [true, 3],
  ] as const) {
    const statuses = { of: () => [run(3), run(undefined)], failuresOf: () => [] };
    const settings = { ...node.services.settings, sdkCompatible };
    const rest = restOf(await serveApi(t, { ...node.services, statuses, settings }));
    const { body } = await rest.get(`/contracts/status/${base58.encode(new Uint8Array(32))}`);
    t.match(body, [{ code: shown }, { code: null }]);
  }
});

t.test('sdk-compatible: private data as bare text', async (t) => {
  const hash = base58.encode(createHash('sha256').update('hello').digest());
  const hello = { data: 'aGVsbG8=', hash };
  for (const isCompatible of [false, true]) {
    const set = [`rest-api.sdk-compatible=${isCompatible ? 'yes' : 'no'}`];
    const whole = await wholeNode(t, { set, http: httpListener, privateData: true });
    const [{ text: sender }] = whole.accounts;
    const policy = { policyName: 'p', description: '', recipients: [sender], owners: [sender] };
    const { id } = await whole.send(whole.accounts[0], { type: 112, ...policy });
    await whole.mine();
    const info = { filename: '', size: '5', timestamp: 1, author: '', comment: '' };
    const request = { sender, policyId: base58.encode(id), info, ...hello };
    await whole.node.services.privacy!.send(request, true);
    const read = async (accept: string): Promise<readonly [string | null, string]> => {
      const response = await fetch(
        `http://127.0.0.1:${whole.node.rest!.port}/privacy/getData/${hello.hash}`,
        { headers: { 'X-API-Key': whole.privacyApiKey, accept } },
      );
      return [response.headers.get('content-type'), await response.text()];
    };
    const bare = ['text/plain', hello.data];
    const documented = ['application/json', JSON.stringify(hello.data)];
    t.strictSame(await read('*/*'), isCompatible ? bare : documented);
    t.strictSame(await read('text/plain'), bare, 'for whoever asks for it');
  }
});

t.test('crypto-api-key', async (t) => {
  const [off, on] = await both(t, 'crypto-api-key');
  const text = off!.accounts[0].text;
  const body = JSON.stringify({ sender: text, password: '', recipientsPublicKeys: [], text: 'x' });
  const status = async ({ rest }: Served, key?: string): Promise<number> => {
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(`${rest.url}/crypto/encryptSeparate`, {
      method: 'POST',
      headers: key === undefined ? headers : { ...headers, 'X-API-Key': key },
      body,
    });
    await response.arrayBuffer();
    return response.status;
  };
  t.not(await status(off!), 403);
  t.equal(await status(on!), 403);
  t.not(await status(on!, on!.apiKey), 403);
});

t.test('the guide names every place', async (t) => {
  const guide = readFileSync(new URL('../../docs/guide/clients.md', import.meta.url), 'utf8');
  for (const name of [
    'sdk-compatible',
    'crypto-api-key',
    'nxt-consensus',
    '/contracts/status/{id}',
    '/addresses/balance/details/{address}',
    'getData',
  ]) {
    t.match(guide, name);
  }
});

t.test('utx.allow-transactions-from-smart-accounts', async (t) => {
  const key = 'utx.allow-transactions-from-smart-accounts';
  for (const value of ['no', 'yes']) {
    const whole = await wholeNode(t, { set: [`${key}=${value}`] });
    const from = whole.accounts[1]!;
    const about = { name: 'open', description: '', script: 'base64:AQa3b8tH' };
    await whole.send(from, { type: 13, version: 1, fee: 50_000_000, ...about });
    await whole.mine();
    const next = whole.make(from, { type: 13, version: 1, fee: 50_400_000, ...about, name: 'x' });
    if (value === 'yes') await whole.node.pool.submit(next);
    else {
      t.match(await whole.refusal(next), {
        code: 112,
        message: /transactions from scripted accounts are denied from UTX pool/,
      });
    }
    t.equal(whole.node.pool.size(), value === 'yes' ? 1 : 0);
  }
});
