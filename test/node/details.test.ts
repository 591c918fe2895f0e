// Small things that clients read: heights, names of the native token, headers, versions of contracts.
import t from 'tap';
import { hyperExpress } from '../../src/adapters/http/hyper-express.ts';
import { refusal } from '../../src/api/answer.ts';
import { hostText, knownJson } from '../../src/api/peer-json.ts';
import { base58 } from '../../src/base/base58.ts';
import { apiError } from '../../src/base/errors.ts';
import { createChainScheme } from '../../src/crypto/chain-scheme.ts';
import { txFromJson, txToJson } from '../../src/tx/json/encode.ts';
import { restOf } from '../e2e/rest.ts';
import { ROUND_MS, type TxFields, wholeNode } from './in-process.ts';
import { memoryLog } from './memory-ports.ts';

t.test('confirmed transactions inside other answers have their height', async (t) => {
  const whole = await wholeNode(t, { http: hyperExpress });
  const rest = restOf(`http://127.0.0.1:${whole.node.rest!.port}`, whole.apiKey);
  const [owner, other] = whole.accounts;
  const asset = { name: 'asset', description: '', quantity: 5, decimals: 0, reissuable: false };
  const issue = await whole.send(owner, { type: 3, version: 2, script: null, ...asset });
  const lease = await whole.send(owner, { type: 8, version: 2, recipient: other.text, amount: 5 });
  await whole.mine();
  const leaseId = base58.encode(lease.id);
  const cancel = await whole.send(owner, { type: 9, version: 2, leaseId });
  await whole.mine();
  t.match((await rest.get(`/assets/balance/${owner.text}`)).body, {
    balances: [{ issueTransaction: { height: whole.heightOf(issue) } }],
  });
  t.match((await rest.get(`/transactions/info/${base58.encode(cancel.id)}`)).body, {
    height: whole.heightOf(cancel),
    lease: { id: leaseId, height: whole.heightOf(lease) },
  });
});

t.test('a call without a contract version gets the present one when signed', async (t) => {
  const whole = await wholeNode(t, { http: hyperExpress, set: ['miner.enable=no'] });
  const [owner] = whole.accounts;
  async function execute(fields: TxFields): Promise<string> {
    const image = { image: 'sum:1', imageHash: 'ab'.repeat(32) };
    const tx = txToJson(whole.make(owner, { ...image, ...fields }), whole.scheme);
    await whole.clock.advance(ROUND_MS);
    await whole.forge(whole.make(owner, { type: 105, tx, results: [], fee: 0 }));
    return String(tx['id']);
  }
  const contractId = await execute({ type: 103, contractName: 'sum', params: [] });
  await execute({ type: 107, contractId });
  await execute({ type: 107, contractId });
  const rest = restOf(`http://127.0.0.1:${whole.node.rest!.port}`, whole.apiKey);
  const sign = (more: object) =>
    rest.post('/transactions/sign', {
      type: 104,
      version: 2,
      sender: owner.text,
      contractId,
      params: [],
      ...more,
    });
  t.match((await sign({})).body, { contractVersion: 3 });
  t.match((await sign({ contractVersion: 2 })).body, { contractVersion: 2 });
});

t.test('messages and order pairs name the native token as the network does', async (t) => {
  const { family, accounts, clock } = await wholeNode(t);
  const [owner, other] = accounts;
  const scheme = createChainScheme(family, 'T'.charCodeAt(0), 'GOLD');
  const common = {
    version: 2,
    senderPublicKey: base58.encode(owner.publicKey),
    fee: 1,
    timestamp: clock.now(),
    proofs: [base58.encode(new Uint8Array(64))],
  };
  for (const fields of [
    { type: 4, recipient: other.text, amount: -1, attachment: '' },
    { type: 8, recipient: other.text, amount: -1 },
  ]) {
    t.throws(() => txFromJson({ ...common, ...fields }, scheme), { message: /-1 of GOLD/ });
  }
  const order = (priceAsset: string) => ({
    version: 2,
    senderPublicKey: common.senderPublicKey,
    matcherPublicKey: common.senderPublicKey,
    assetPair: { amountAsset: base58.encode(new Uint8Array(32).fill(1)), priceAsset },
    orderType: 'buy',
    price: 100_000_000,
    amount: 1,
    timestamp: clock.now(),
    expiration: clock.now() + 60_000,
    matcherFee: 300_000,
    proofs: common.proofs,
  });
  const exchange = (priceAsset: string) =>
    txFromJson(
      {
        ...common,
        type: 7,
        order1: order(priceAsset),
        order2: { ...order(priceAsset), orderType: 'sell' },
        price: 100_000_000,
        amount: 1,
        buyMatcherFee: 1,
        sellMatcherFee: 1,
      },
      scheme,
    );
  t.equal(exchange('GOLD').type, 7);
  t.throws(() => exchange('WEST'), 'another network calls its token so');
});

t.test('a refusal that may pass says when to come back', async (t) => {
  const log = memoryLog();
  const headers = (error: Error) => refusal(error, log, 'a test').headers;
  t.strictSame(headers(apiError('Overloaded')), [['retry-after', '1']]);
  t.strictSame(headers(apiError('StatusCheckFailed', 'why')), [['retry-after', '1']]);
  t.strictSame(headers(apiError('Invalid', 'why')), []);
});

t.test('peers are listed as name, stroke, digits', async (t) => {
  const [here, away] = [new Uint8Array(26).fill(1), new Uint8Array(26).fill(2)];
  const known = (host: string, owner?: Uint8Array) => ({
    address: { host, port: 6864 },
    owner,
    lastSeen: 5,
    configured: true,
  });
  const peers = {
    sessions: {
      of: (owner: Uint8Array) => (owner === here ? { remoteHost: '10.0.0.1' } : undefined),
    },
  } as unknown as Parameters<typeof knownJson>[1];
  t.strictSame(
    [known('10.0.0.9'), known('a.example', here), known('b.example', away)].map((place) =>
      knownJson(place, peers),
    ),
    [
      { address: '/10.0.0.9:6864', lastSeen: 5 },
      { address: 'a.example/10.0.0.1:6864', lastSeen: 5 },
      { address: 'b.example/<unresolved>:6864', lastSeen: 5 },
    ],
  );
  t.strictSame(['10.0.0.9:6864', '[::1]:6864', 'b.example:6864'].map(hostText), [
    '/10.0.0.9',
    '/::1',
    'b.example/<unresolved>',
  ]);
});
