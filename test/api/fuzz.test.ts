// Whatever is sent to whatever path: an answer, never one that says the node failed.
import fc from 'fast-check';
import t from 'tap';
import { routes } from '../../src/api/routes/index.ts';
import { call } from '../rest-cases/runner.ts';
import { API_KEY, first, logged, PRIVACY_KEY, serve } from './stub-node.ts';

const { server, url } = await serve();
t.teardown(() => server.close());

const segment = fc.oneof(
  fc.constantFrom(first.text, `address:${first.text}`, '0', '1', '-1', '99999999999', 'abc', '%ZZ'),
  fc.constantFrom(
    '%00',
    '%2F',
    '..',
    '0OIl',
    '1'.repeat(100),
    'alias:T:name',
    '__proto__',
    '%F0%9F',
  ),
  fc.string({ maxLength: 40 }).map(encodeURIComponent),
  fc
    .string({ unit: 'binary', maxLength: 20 })
    .map((text) => encodeURIComponent(text.toWellFormed())),
);
const path = fc
  .constantFrom(...routes.flatMap((route) => [route.path, ...(route.also ?? [])]))
  .chain((pattern) => {
    const parts = pattern.split('/');
    const filled = parts.map((part) => (part.startsWith('{') ? segment : fc.constant(part)));
    return fc.tuple(...filled).map((texts) => texts.join('/'));
  });
const query = fc.oneof(
  fc.constant(''),
  fc
    .tuple(fc.constantFrom('after', 'limit', 'offset', 'matches', 'full', 'x'), segment)
    .map(([name, value]) => `?${name}=${value}`),
);
const fields = [
  'type',
  'version',
  'sender',
  'senderPublicKey',
  'addresses',
  'timestamp',
  'message',
  'signature',
  'publicKey',
  'recipient',
  'amount',
  'fee',
  'proofs',
  'transfers',
  'data',
  'contracts',
  'keys',
  'password',
  'host',
  'port',
  'addressesOrAliases',
  'recipientsPublicKeys',
  'assetId',
  '__proto__',
];
const leaf = fc.oneof(
  fc.constantFrom(null, 0, -1, 4, 1.5, 1e300, true, '', 'x', first.text, '1'.repeat(44), '5'),
  fc.string(),
  fc.integer(),
);
const value = fc.oneof(
  leaf,
  fc.array(leaf, { maxLength: 4 }),
  fc.array(fc.dictionary(fc.constantFrom(...fields, 'key', 'value'), leaf), { maxLength: 3 }),
);
const object = fc.dictionary(fc.constantFrom(...fields), value);
const types = fc.constantFrom(1, 2, 3, 4, 7, 8, 10, 11, 12, 13, 14, 102, 103, 105, 111, 112, 114);
const transaction = fc.tuple(types, object).map(([type, rest]) => ({
  sender: first.text,
  senderPublicKey: '4WnvQPit2Di1iYXDgDcXnJZ5yroKW54vauNoxdNeMi2g',
  timestamp: 1_600_000_000_000,
  fee: 1,
  ...rest,
  type,
}));
const body = fc.oneof(
  fc.constantFrom('', '{', '[]', 'null', '0', '"x"', '{"a":', '\0', '[[[[[[[['),
  fc.string(),
  object.map((json) => JSON.stringify(json)),
  transaction.map((json) => JSON.stringify(json)),
);
const key = fc.constantFrom(API_KEY, PRIVACY_KEY, 'x');

t.test('any request', { timeout: 60_000 }, async (t) => {
  const request = fc.record({ method: fc.constantFrom('GET', 'POST'), path, query, body, key });
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, query, body, key }) => {
      const headers = { 'X-API-Key': key };
      const { status } = await call(method, url + path + query, headers, body);
      // Health is asked for in order to hear a 503.
      if (status >= 500 && !path.startsWith('/health/'))
        throw new Error(`status ${status}: ${JSON.stringify(logged.at(-1))}`);
    }),
    { numRuns: 3000 },
  );
  t.strictSame(logged, []);
});

t.test('any transaction', { timeout: 60_000 }, async (t) => {
  const paths = fc.constantFrom('broadcast', 'sign', 'signAndBroadcast', 'calculateFee');
  await fc.assert(
    fc.asyncProperty(paths, transaction, async (path, tx) => {
      const headers = { 'X-API-Key': API_KEY };
      const target = `${url}/transactions/${path}`;
      const { status, text } = await call('POST', target, headers, JSON.stringify(tx));
      if (status >= 500) throw new Error(`${text}: ${JSON.stringify(logged.at(-1))}`);
    }),
    { numRuns: 3000 },
  );
  t.strictSame(logged, []);
});
