// Valid and invalid transactions that reach a whole node over HTTP.
import t, { type Test } from 'tap';
import { httpListener } from '../../src/adapters/http/listener.ts';
import { base58 } from '../../src/base/base58.ts';
import { isObject, type JsonObject } from '../../src/base/json/json.ts';
import { createChainScheme } from '../../src/crypto/chain-scheme.ts';
import { txToJson } from '../../src/tx/json/encode.ts';
import type { Scope } from '../system/e2e/process.ts';
import { type Rest, restOf } from '../system/e2e/rest.ts';
import { type WholeNode, type WholeOptions, wholeNode } from './in-process.ts';

const HOUR = 3_600_000;
const BROADCAST = '/transactions/broadcast';
const OTHER_CHAIN = 'W'.charCodeAt(0);

async function served(t: Scope, options: WholeOptions = {}): Promise<WholeNode & { rest: Rest }> {
  const whole = await wholeNode(t, { ...options, http: httpListener });
  const rest = restOf(`http://127.0.0.1:${whole.node.rest!.port}`, whole.apiKey);
  return { ...whole, rest };
}

/** Sends what must be refused, and makes sure that nothing of it stays. */
async function refused(
  t: Test,
  { rest, node, store, records }: WholeNode & { rest: Rest },
  body: unknown,
  expected: { status: number; error: number; message?: string | RegExp },
): Promise<void> {
  const before = store.dump().length;
  const answer =
    typeof body === 'string' ? await raw(rest, body) : await rest.post(BROADCAST, body);
  const { status, ...json } = expected;
  t.equal(answer.status, status);
  t.match(answer.body, json);
  t.equal(node.pool.size(), 0, 'not in the pool');
  t.equal(records.list.length, 0, 'not in its journal');
  t.equal(store.dump().length, before, 'not in the store');
}

async function raw(rest: Rest, body: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(rest.url + BROADCAST, { method: 'POST', body });
  return { status: response.status, body: await response.json() };
}

t.test('scenario 55: transactions of another network', async (t) => {
  const whole = await served(t);
  const [owner, one] = whole.accounts;
  const id = base58.encode(new Uint8Array(32).fill(7));
  const asset = { assetId: id, quantity: 1, amount: 1, reissuable: true };
  const name = { name: 'Gold', description: '', quantity: 1, decimals: 0, reissuable: true };
  const types = [
    { type: 3, version: 2, ...name },
    { type: 5, version: 2, ...asset },
    { type: 6, version: 2, ...asset },
    { type: 9, version: 2, leaseId: id },
  ];
  for (const fields of types) {
    const good = txToJson(whole.make(owner, fields), whole.scheme);
    await t.test(`type ${fields.type}`, (t) =>
      refused(
        t,
        whole,
        { ...good, chainId: OTHER_CHAIN },
        {
          status: 400,
          error: 199,
          message: /Wrong chainId actual: 87, expected: 84/,
        },
      ),
    );
  }
  const elsewhere = createChainScheme(whole.family, OTHER_CHAIN);
  const recipient = elsewhere.addressToText(elsewhere.addressOf(one.publicKey));
  const good = txToJson(whole.transfer(owner, one, 1), whole.scheme);
  await t.test('type 4', (t) =>
    refused(t, whole, { ...good, recipient }, { status: 400, error: 102 }),
  );
});

t.test('scenario 57: the same request again, and again after it was mined', async (t) => {
  const whole = await served(t);
  const { rest } = whole;
  const [owner, one] = whole.accounts;
  const tx = txToJson(whole.transfer(owner, one, 3), whole.scheme);
  const first = await rest.post(BROADCAST, tx);
  const second = await rest.post(BROADCAST, tx);
  t.equal(first.status, 200);
  t.strictSame(second, first);
  t.strictSame((await rest.get('/transactions/unconfirmed/size')).body, {
    size: 1,
    sizeInBytes: whole.node.pool.bytes(),
  });
  await whole.mine();
  const third = await rest.post(BROADCAST, tx);
  t.equal(third.status, 400);
  t.match(third.body, { error: 112, message: /is already in the state on a height of 2/ });
  t.match((await rest.get(`/transactions/info/${tx['id']}`)).body, { ...tx, height: 2 });
});

t.test('scenario 77: types that only blocks may carry', async (t) => {
  const whole = await served(t);
  const [owner] = whole.accounts;
  const genesis = ((await whole.rest.get('/blocks/first')).body as { transactions: JsonObject[] })
    .transactions;
  const ofType = (type: number) => genesis.find((tx) => tx['type'] === type)!;
  for (const type of [1, 101, 110]) {
    await t.test(`type ${type}`, (t) =>
      refused(t, whole, ofType(type), {
        status: 400,
        error: 199,
        message: new RegExp(`^Bad transaction type \\(${type}\\)`),
      }),
    );
  }
  const image = { image: 'app:1', imageHash: '0'.repeat(64), contractName: 'app', params: [] };
  const inner = txToJson(whole.make(owner, { type: 103, ...image }), whole.scheme);
  const executed = { type: 105, version: 1, tx: inner, results: [], fee: 0 };
  const { timestamp, senderPublicKey, proofs } = inner;
  await t.test('type 105', (t) =>
    refused(
      t,
      whole,
      { ...executed, timestamp, senderPublicKey, proofs },
      {
        status: 400,
        error: 199,
        message: 'ExecutedContract transaction is not allowed to be broadcasted',
      },
    ),
  );
});

t.test('bad input is refused as the catalogue says, and nothing of it stays', async (t) => {
  const whole = await served(t);
  const [owner, one] = whole.accounts;
  const funds = whole.balance(one);
  const { clock, scheme } = whole;
  const json = (tx: Parameters<typeof txToJson>[0]): JsonObject => txToJson(tx, scheme);
  const good = json(whole.transfer(owner, one, 1));
  const { proofs, ...unsigned } = good;
  const at = (timestamp: number) => json(whole.transfer(owner, one, 1, { timestamp }));
  const bad: Record<string, [body: unknown, status: number, error: number]> = {
    'malformed JSON': ['{"type":4,', 400, 1],
    'no JSON at all': ['hello', 400, 1],
    'an array': [[good], 400, 1],
    'a wrong type of a field': [{ ...good, amount: 'much' }, 400, 1],
    'an amount with a fraction': [{ ...good, amount: 1.5 }, 400, 1],
    'an amount beyond 64 bits': [{ ...good, amount: 2n ** 63n }, 400, 1],
    'an unknown type of transaction': [{ ...good, type: 99 }, 400, 199],
    'an unknown version': [{ ...good, version: 9 }, 400, 199],
    'bad Base58': [{ ...good, recipient: '0OIl' }, 400, 102],
    'a body that is too large': [' '.repeat(9 * 1024 * 1024), 400, 611],
    'no proofs': [{ ...unsigned, proofs: [] }, 400, 112],
    'a signature of something else': [{ ...good, amount: 2 }, 400, 112],
    'nine proofs': [{ ...good, proofs: new Array(9).fill((proofs as string[])[0]) }, 400, 199],
    'more than there is': [json(whole.transfer(one, owner, funds)), 400, 112],
    'a fee below the minimum': [json(whole.transfer(owner, one, 1, { fee: 999_999 })), 400, 112],
    'a negative amount': [{ ...good, amount: -1 }, 400, 111],
    'too old': [at(clock.now() - 2 * HOUR - 60_000), 400, 303],
    'from the future': [at(clock.now() + 2 * HOUR), 400, 303],
  };
  for (const [what, [body, status, error]] of Object.entries(bad)) {
    await t.test(what, (t) => refused(t, whole, body, { status, error }));
  }
  t.equal((await whole.mine()).length, 0);
  t.ok(isObject((await whole.rest.post(BROADCAST, at(clock.now()))).body), 'a good one is taken');
  t.equal(whole.node.pool.size(), 1);
});
