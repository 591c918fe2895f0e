// Small things that clients read: heights, names of the native token, headers, versions of contracts.
import t from 'tap';
import { hyperExpress } from '../../src/adapters/http/hyper-express.ts';
import { refusal } from '../../src/api/answer.ts';
import { createApi } from '../../src/api/api.ts';
import { base58 } from '../../src/base/base58.ts';
import { apiError } from '../../src/base/errors.ts';
import { createChainScheme } from '../../src/crypto/chain-scheme.ts';
import { peerReads } from '../../src/node/reads/peers.ts';
import { txFromJson } from '../../src/tx/json/encode.ts';
import { restOf } from '../e2e/rest.ts';
import { wholeNode } from './in-process.ts';
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
  const whole = await wholeNode(t);
  const [owner] = whole.accounts;
  const contractId = base58.encode(new Uint8Array(32).fill(7));
  const contract = {
    contractId: base58.decode(contractId),
    creator: owner.publicKey,
    image: 'sum:1',
    imageHash: 'ab'.repeat(32),
    version: 3,
    active: true,
  };
  const contracts = { ...whole.node.services.contracts, get: () => contract };
  const server = await hyperExpress.listen(createApi({ ...whole.node.services, contracts }), {
    host: '127.0.0.1',
    port: 0,
    cors: true,
  });
  t.teardown(() => server.close());
  const rest = restOf(`http://127.0.0.1:${server.port}`, whole.apiKey);
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
  const { config, scheme } = await wholeNode(t);
  const [here, away] = [new Uint8Array(26).fill(1), new Uint8Array(26).fill(2)];
  const known = (host: string, owner?: Uint8Array) => ({
    address: { host, port: 6864 },
    owner,
    lastSeen: 5,
    configured: true,
  });
  const peering = {
    scheme,
    book: {
      known: () => [known('10.0.0.9'), known('a.example', here), known('b.example', away)],
    },
    sessions: {
      of: (owner: Uint8Array) => (owner === here ? { remoteHost: '10.0.0.1' } : undefined),
    },
    penalties: {
      suspended: () => [
        { place: '10.0.0.9:6864', since: 7 },
        { place: '[::1]:6864', since: 8 },
        { place: 'b.example:6864', since: 9 },
      ],
    },
  } as unknown as Parameters<typeof peerReads>[0];
  const peers = peerReads(peering, config);
  t.strictSame(
    peers.all().map(({ address }) => address),
    ['/10.0.0.9:6864', 'a.example/10.0.0.1:6864', 'b.example/<unresolved>:6864'],
  );
  t.strictSame(peers.suspended(), [
    { hostname: '/10.0.0.9', timestamp: 7 },
    { hostname: '/::1', timestamp: 8 },
    { hostname: 'b.example/<unresolved>', timestamp: 9 },
  ]);
});
