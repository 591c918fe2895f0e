/**
 * Each malformed request gets the code of rest.md#errors and transactions.md#json, the same in
 * every form.
 */
import t from 'tap';
import { ApiError } from '../../src/base/errors.ts';
import { parse } from '../../src/base/json/json.ts';
import { base58 } from '../../src/codec/text.ts';
import { broadcastFromJson, txFromJson } from '../../src/tx/json/encode.ts';
import { addresses, publicKeys, scheme } from '../generators/network.ts';

type Json = Record<string, unknown>;

const address = scheme.addressToText(addresses[1]!);
const key = base58.encode(publicKeys[0]!);
const id = base58.encode(new Uint8Array(32).fill(9));
const common = { senderPublicKey: key, fee: 1, timestamp: 1574240400000, proofs: [] };
const zeros = (bytes: number): string => base58.encode(new Uint8Array(bytes));

const order = (orderType: unknown, change: Json = {}): Json => ({
  ...{ senderPublicKey: key, matcherPublicKey: key, orderType, amount: 1, price: 10 ** 8 },
  ...{ assetPair: { amountAsset: id, priceAsset: null }, matcherFee: 1, signature: zeros(64) },
  ...{ timestamp: common.timestamp, expiration: common.timestamp + 1, ...change },
});

const call = { ...common, type: 104, version: 1, contractId: id, params: [] };

const requests = {
  issue: {
    ...{ type: 3, version: 2, name: 'Token', description: '', quantity: 1, decimals: 0 },
    reissuable: true,
  },
  transfer: { type: 4, version: 2, recipient: address, amount: 1 },
  reissue: { type: 5, version: 2, assetId: id, quantity: 1, reissuable: true },
  burn: { type: 6, version: 2, assetId: id, amount: 1 },
  lease: { type: 8, version: 2, recipient: address, amount: 1 },
  leaseCancel: { type: 9, version: 2, leaseId: id },
  alias: { type: 10, version: 2, alias: 'some.alias' },
  mass: { type: 11, version: 1, transfers: [{ recipient: address, amount: 1 }] },
  data: { type: 12, version: 1, data: [{ key: 'k', type: 'integer', value: 1 }] },
  script: { type: 13, version: 1, name: 'n', script: null },
  sponsor: { type: 14, version: 1, assetId: id, minSponsoredAssetFee: 1 },
  assetScript: { type: 15, version: 1, assetId: id, script: 'base64:AQa3b8tH' },
  permit: { type: 102, version: 1, target: address, opType: 'add', role: 'miner' },
  create: {
    ...{ type: 103, version: 1, image: 'r/i:1', imageHash: 'a'.repeat(64) },
    ...{ contractName: 'c', params: [] },
  },
  createLater: {
    ...{ type: 103, version: 4, image: 'r/i:1', imageHash: 'a'.repeat(64) },
    ...{ contractName: 'c', params: [], validationPolicy: { type: 'any' }, apiVersion: '1.0' },
  },
  call: { type: 104, version: 1, contractId: id, params: [] },
  trade: {
    ...{ type: 7, version: 1, amount: 1, price: 10 ** 8, buyMatcherFee: 1, sellMatcherFee: 1 },
    ...{ order1: order('buy'), order2: order('sell'), signature: zeros(64) },
  },
  executed: {
    ...{ type: 105, version: 1, results: [] },
    tx: call,
  },
  register: { type: 111, version: 1, targetPubKey: key, nodeName: 'n', opType: 'add' },
  policy: { type: 112, version: 1, policyName: 'p', description: '', recipients: [], owners: [] },
} as const satisfies Record<string, Json>;

const param = (name: unknown, type: unknown, value: unknown): Json => ({ key: name, type, value });
const many = (count: number): Json[] =>
  Array.from({ length: count }, (_, i) => param(`k${i}`, 'boolean', true));

/** Request, members to change, code, and what the message or the one path must be. */
const cases: readonly (readonly [keyof typeof requests, Json, number, string | RegExp])[] = [
  ['transfer', { type: undefined }, 1, 'obj'],
  ['transfer', { type: 'x' }, 1, 'obj.type'],
  ['transfer', { type: 99 }, 199, 'Bad transaction type (99) and version (2)'],
  ['transfer', { version: 9 }, 199, 'Bad transaction type (4) and version (9)'],
  ['transfer', { version: 'x' }, 1, 'obj.version'],
  ['transfer', { recipient: undefined }, 1, 'obj.recipient'],
  ['transfer', { recipient: 5 }, 1, 'obj.recipient'],
  ['transfer', { recipient: 'bad' }, 102, /^invalid address: /],
  ['transfer', { recipient: '3P7ahmLnuN4uRUKYW6G1UjpiRCRuD2HjuZc' }, 102, /other network/],
  ['transfer', { recipient: 'alias:W:someone' }, 199, /network char doesn't match/],
  ['transfer', { recipient: 'alias:someone' }, 199, /^Alias string pattern is/],
  ['transfer', { recipient: 'alias:T:abc' }, 199, /^Alias 'abc' length should be between 4/],
  ['transfer', { recipient: 'alias:T:ABCDE' }, 199, /^Alias should contain only/],
  ['transfer', { amount: 'x' }, 1, 'obj.amount'],
  ['transfer', { amount: 1.5 }, 1, 'obj.amount'],
  ['transfer', { amount: 2n ** 63n }, 1, 'obj.amount'],
  ['transfer', { amount: null }, 1, 'obj.amount'],
  ['transfer', { amount: 0 }, 111, 'negative amount: 0 of WEST'],
  ['transfer', { amount: -5, assetId: id }, 111, `negative amount: -5 of ${id}`],
  ['transfer', { amount: 2n ** 63n - 1n }, 113, 'overflow error'],
  ['transfer', { fee: -1 }, 199, 'InsufficientFee(insufficient fee)'],
  ['transfer', { fee: undefined }, 1, 'obj.fee'],
  ['transfer', { timestamp: undefined }, 1, 'obj.timestamp'],
  ['transfer', { timestamp: -1 }, 1, 'obj.timestamp'],
  ['transfer', { assetId: 'x' }, 118, /^Asset id 'x' is invalid/],
  ['transfer', { assetId: '0OIl' }, 118, /^Asset id '0OIl' is invalid/],
  ['transfer', { attachment: zeros(141) }, 10, /^Too big sequences requested/],
  ['transfer', { attachment: 'l' }, 199, /Base58/],
  ['transfer', { senderPublicKey: undefined }, 1, 'obj.senderPublicKey'],
  ['transfer', { senderPublicKey: 5 }, 1, 'obj.senderPublicKey'],
  ['transfer', { senderPublicKey: 'abc' }, 108, /^invalid public key: Can't create public key/],
  ['transfer', { senderPublicKey: zeros(33) }, 108, /^invalid public key/],
  ['transfer', { sender: address }, 102, /is not the address of senderPublicKey/],
  ['transfer', { proofs: undefined }, 1, 'obj.proofs'],
  ['transfer', { proofs: 'x' }, 1, 'obj.proofs'],
  ['transfer', { proofs: [5] }, 1, 'obj.proofs[0]'],
  ['transfer', { proofs: ['0OIl'] }, 199, /^invalid proof/],
  ['transfer', { proofs: [zeros(65)] }, 199, /^invalid proof/],
  ['transfer', { proofs: Array(9).fill('1') }, 199, /^Too many proofs/],
  ['transfer', { version: 1, signature: '1' }, 199, 'invalid.signature'],
  ['issue', { name: 'abc' }, 116, 'invalid name'],
  ['issue', { name: 'яяяяяяяяя' }, 116, 'invalid name'],
  ['issue', { name: 'abc\ud800' }, 199, /not valid Unicode/],
  ['issue', { description: 'я'.repeat(501) }, 10, /^Too big/],
  ['issue', { quantity: 0 }, 111, 'negative amount: 0 of assets'],
  ['issue', { decimals: 9 }, 10, /^Too big/],
  ['issue', { decimals: 300 }, 1, 'obj.decimals'],
  ['issue', { reissuable: 'yes' }, 1, 'obj.reissuable'],
  ['issue', { script: 'base64:###' }, 199, /base64/],
  ['issue', { script: 'base64:Aw==' }, 199, "Bad script version '3'"],
  ['issue', { chainId: 87 }, 199, 'Wrong chainId actual: 87, expected: 84'],
  ['reissue', { quantity: 0 }, 111, 'negative amount: 0 of assets'],
  ['burn', { amount: -1 }, 111, 'negative amount: -1 of assets'],
  ['lease', { amount: 0 }, 111, 'negative amount: 0 of WEST'],
  ['leaseCancel', { leaseId: zeros(31) }, 199, /^Lease transaction id is invalid/],
  ['alias', { alias: 5 }, 1, 'obj.alias'],
  ['alias', { alias: 'UPPER' }, 199, /^Alias should contain only/],
  ['alias', { alias: 'abc' }, 199, /length should be between 4 and 30/],
  [
    'mass',
    { transfers: Array(101).fill({ recipient: address, amount: 1 }) },
    199,
    'Number of transfers 101 is greater than 100',
  ],
  ['mass', { transfers: [{ recipient: address, amount: -1 }] }, 199, /has negative amount/],
  ['mass', { transfers: [{ recipient: address }] }, 1, 'obj.transfers[0].amount'],
  [
    'mass',
    { transfers: Array(2).fill({ recipient: address, amount: 2n ** 62n }) },
    113,
    'overflow error',
  ],
  ['data', { data: many(101) }, 10, /^Too big/],
  ['data', { data: [param('k'.repeat(101), 'integer', 1)] }, 10, /^Too big/],
  ['data', { data: [param('k', 'string', 'x'.repeat(32768))] }, 10, /^Too big/],
  ['data', { data: [param('', 'integer', 1)] }, 199, 'Empty key found'],
  ['data', { data: [...many(2), ...many(1)] }, 199, 'Duplicate keys found'],
  ['data', { data: [param(undefined, 'integer', 1)] }, 1, 'obj.data[0].key'],
  ['data', { data: [param('k', undefined, 1)] }, 1, 'obj.data[0].type'],
  ['data', { data: [param('k', 'float', 1)] }, 1, 'obj.data[0].type'],
  ['data', { data: [param('k', 'integer', 1.5)] }, 1, 'obj.data[0].value'],
  ['data', { data: [param('k', 'boolean', 1)] }, 1, 'obj.data[0].value'],
  ['data', { data: [param('k', 'string', undefined)] }, 1, 'obj.data[0].value'],
  ['data', { data: [param('k', 'binary', 'base64:#')] }, 199, /base64/],
  ['script', { name: '' }, 199, 'name field length must be between 1 and 128'],
  ['sponsor', { minSponsoredAssetFee: -1 }, 114, `negative fee per: ${id}`],
  ['sponsor', { isEnabled: false }, 199, /contradict/],
  ['sponsor', { isEnabled: 'x' }, 1, 'obj.isEnabled'],
  ['assetScript', { script: 'base64:Aw==' }, 199, "Bad script version '3'"],
  ['assetScript', { script: null }, 199, 'Cannot set empty script'],
  ['permit', { role: 5 }, 1, 'obj.role'],
  ['permit', { opType: 5 }, 1, 'obj.opType'],
  ['permit', { role: 'king' }, 199, /^Permission\.fromStr failure: unknown role name 'king'$/],
  ['permit', { opType: 'swap' }, 199, 'OpType.fromStr failure: unknown operation string swap'],
  ['create', { image: '' }, 199, /^Incorrect image length: 0/],
  ['create', { image: 'i'.repeat(201) }, 199, /^Incorrect image length: 201/],
  ['create', { imageHash: 'a'.repeat(63) }, 199, /is not valid SHA-256 hex string$/],
  ['create', { params: [...many(2), ...many(1)] }, 199, 'Params with duplicate keys were found'],
  ['create', { params: [param('', 'boolean', true)] }, 199, 'Param with empty key was found'],
  ['create', { params: [param('k', 'string', 'x'.repeat(128_000))] }, 604, /^Contract transaction/],
  ['createLater', { validationPolicy: 5 }, 1, 'obj.validationPolicy'],
  ['createLater', { validationPolicy: { type: 'x' } }, 199, 'unknown validation policy'],
  ['createLater', { apiVersion: 5 }, 1, 'obj.apiVersion'],
  ['createLater', { apiVersion: '1' }, 199, "Bad version '1'"],
  ['createLater', { apiVersion: '65536.0' }, 199, "Bad version '65536.0'"],
  ['createLater', { apiVersion: '0.65536' }, 199, "Bad version '0.65536'"],
  ['trade', { order1: 5 }, 1, 'obj.order1'],
  ['trade', { order2: order('sell', { assetPair: 5 }) }, 1, 'obj.order2.assetPair'],
  ['trade', { order1: order(5) }, 1, 'obj.order1.orderType'],
  ['trade', { order1: order('swap') }, 199, 'Bad order type swap'],
  ['trade', { order1: order('buy', { version: 3 }) }, 199, 'Bad order version'],
  ['trade', { order1: order('buy', { version: 2 }) }, 199, /takes orders of version 1$/],
  ['trade', { order2: order('sell', { version: 2 }) }, 199, /takes orders of version 1$/],
  ['call', { contractId: 5 }, 1, 'obj.contractId'],
  ['call', { contractId: 'x' }, 600, "Contract 'x' is not found"],
  ['executed', { tx: 5 }, 1, 'obj.tx'],
  ['executed', { tx: { ...common, type: 4, version: 2 } }, 199, /^Bad transaction type \(4\)/],
  ['executed', { tx: { ...call, params: undefined } }, 1, 'obj.tx.params'],
  ['executed', { tx: { ...call, contractId: 'x' }, results: 5 }, 1, 'obj.results'],
  ['executed', { tx: { ...call, contractId: 'x' } }, 600, "Contract 'x' is not found"],
  ['register', { nodeName: null }, 199, 'NodeName should not be empty'],
  ['register', { nodeName: 'n'.repeat(100) }, 199, 'NodeName length should be less than 100'],
  ['policy', { policyName: 'p'.repeat(101) }, 199, 'policy name is too long'],
  ['policy', { owners: ['x'] }, 102, /^invalid address/],
];

function refusal(json: unknown): ApiError {
  try {
    txFromJson(json, scheme);
  } catch (cause) {
    if (cause instanceof ApiError) return cause;
    throw cause;
  }
  throw new Error(
    `accepted ${JSON.stringify(json, (_, v) => (typeof v === 'bigint' ? `${v}` : v))}`,
  );
}

for (const [name, change, code, expected] of cases) {
  const label = JSON.stringify(change, (_, v) => (typeof v === 'bigint' ? `${v}` : v));
  t.test(`${name} with ${label?.slice(0, 80)}`, (t) => {
    const error = refusal({ ...common, ...requests[name], ...change });
    t.equal(error.code, code, error.message);
    if (code === 1) {
      const { validationErrors } = error.body as { validationErrors: Json };
      t.same(Object.keys(validationErrors), [expected]);
    } else {
      t.match(error.message, expected);
    }
    t.end();
  });
}

t.test('the untouched requests are right', (t) => {
  for (const request of Object.values(requests)) {
    t.equal(txFromJson({ ...common, ...request }, scheme).type, request.type);
  }
  t.end();
});

t.test('what is wrong with an entry is said', (t) => {
  const said = (entry: unknown): unknown =>
    refusal({ ...common, ...requests.data, data: [entry] }).body['validationErrors'];
  const wrong: readonly (readonly [unknown, string, string])[] = [
    [5, 'obj.data[0]', 'error.expected.jsobject'],
    [param(5, 'integer', 1), 'obj.data[0].key', 'key is missing'],
    [param('k', 5, 1), 'obj.data[0].type', 'type is missing'],
    [param('k', 'integer', 'x'), 'obj.data[0].value', 'value is missing or is not an integer'],
    [param('k', 'boolean', 1), 'obj.data[0].value', 'value is missing or is not a boolean'],
    [param('k', 'string', undefined), 'obj.data[0].value', 'value is missing or is not a string'],
    [param('k', 'binary', 5), 'obj.data[0].value', 'value is missing or is not a binary'],
  ];
  for (const [entry, path, why] of wrong) t.match(said(entry), { [path]: [{ msg: [why] }] });
  t.end();
});

t.test('a body that is no object', (t) => {
  for (const body of [[], 5, 'x', null, undefined]) {
    const { validationErrors } = refusal(body).body as { validationErrors: Json };
    t.same(Object.keys(validationErrors), ['obj']);
  }
  t.same(refusal([]).body, {
    error: 1,
    message: 'failed to parse json message',
    cause: null,
    validationErrors: { obj: [{ msg: ['error.expected.jsobject'], args: [] }] },
  });
  const missing = refusal({ senderPublicKey: key }).body['validationErrors'] as {
    obj: [{ msg: [string] }];
  };
  t.match(missing.obj[0].msg[0], /^'type' is undefined on object:/);
  t.end();
});

t.test('wrong shapes are told together and before broken rules', (t) => {
  const error = refusal({ type: 4, version: 2, recipient: 'bad', amount: 'x', fee: -1 });
  const { validationErrors } = error.body as { validationErrors: Json };
  t.same(Object.keys(validationErrors).sort(), [
    'obj.amount',
    'obj.proofs',
    'obj.senderPublicKey',
    'obj.timestamp',
  ]);
  t.match(validationErrors['obj.amount'], [{ msg: ['error.expected.jsnumber'] }]);
  t.match(validationErrors['obj.timestamp'], [{ msg: ['error.path.missing'] }]);
  t.end();
});

t.test('types that clients may not submit', (t) => {
  const attempt = (json: Json): string => {
    try {
      broadcastFromJson(json, scheme);
      return 'accepted';
    } catch (cause) {
      return `${(cause as ApiError).code} ${(cause as ApiError).message}`;
    }
  };
  for (const type of [1, 2, 101, 110]) {
    t.equal(attempt({ type }), `199 Bad transaction type (${type}) and version (1)`);
  }
  t.equal(
    attempt({ type: 105 }),
    '199 ExecutedContract transaction is not allowed to be broadcasted',
  );
  t.end();
});

t.test('integers are read exactly, whatever their spelling', (t) => {
  const amount = (text: string): bigint => {
    const json = { ...common, fee: 0, ...requests.transfer };
    const body = JSON.stringify({ ...json, amount: null }).replace('"amount":null', text);
    return txFromJson(parse(body), scheme).fields['amount'] as bigint;
  };
  t.equal(amount('"amount":9223372036854775807'), 9223372036854775807n);
  t.equal(amount('"amount":"9223372036854775807"'), 9223372036854775807n);
  t.equal(amount('"amount":9007199254740993'), 9007199254740993n);
  t.equal(amount('"amount":1e8'), 100000000n);
  t.equal(amount('"amount":100.0'), 100n);
  t.end();
});
