// Whatever is sent to whatever path: an answer, never one that says the node failed (row R7 of the
// goals; FUZZ_REQUESTS makes it long).
import fc from 'fast-check';
import t from 'tap';
import { routes } from '../../src/api/routes/index.ts';
import { Rng } from '../generators/random.ts';
import { call } from '../rest-cases/runner.ts';
import { API_KEY, first, logged, PRIVACY_KEY, serve } from './stub-node.ts';

const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 3000);
const SEED = Number(process.env['SEED'] ?? 7);
const LONG_MS = 3_600_000;
/** Requests under way at a time, and made up at a time. */
const AT_ONCE = 32;
const BATCH = 1000;
const MIB = 1024 * 1024;

const { server, url } = await serve();
if (REQUESTS > 100_000) t.setTimeout(LONG_MS);
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

t.test('any request', { timeout: 300_000 }, async (t) => {
  const request = fc.record({ method: fc.constantFrom('GET', 'POST'), path, query, body, key });
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, query, body, key }) => {
      const headers = { 'X-API-Key': key };
      const { status } = await call(method, url + path + query, headers, body);
      // Health is asked for in order to hear a 503.
      if (status >= 500 && !path.startsWith('/health/'))
        throw new Error(`status ${status}: ${JSON.stringify(logged.at(-1))}`);
    }),
    { numRuns: 1500 },
  );
  t.strictSame(logged, []);
});

t.test('any transaction', { timeout: 300_000 }, async (t) => {
  const paths = fc.constantFrom('broadcast', 'sign', 'signAndBroadcast', 'calculateFee');
  await fc.assert(
    fc.asyncProperty(paths, transaction, async (path, tx) => {
      const headers = { 'X-API-Key': API_KEY };
      const target = `${url}/transactions/${path}`;
      const { status, text } = await call('POST', target, headers, JSON.stringify(tx));
      if (status >= 500) throw new Error(`${text}: ${JSON.stringify(logged.at(-1))}`);
    }),
    { numRuns: 1500 },
  );
  t.strictSame(logged, []);
});

/** A valid text with a few other characters, or without its end. */
function mutated(text: string, rng: Rng): string {
  const bytes = Buffer.from(text);
  for (let i = rng.below(4); i > 0 && bytes.length > 0; i--)
    bytes[rng.below(bytes.length)] = rng.u32();
  return bytes.toString('latin1', 0, rng.chance(4) ? rng.below(bytes.length + 1) : bytes.length);
}

t.test('mutated requests, many at a time', { timeout: LONG_MS }, async (t) => {
  const request = fc.record({ method: fc.constantFrom('GET', 'POST'), path, query, body, key });
  const rng = new Rng(SEED);
  const failed: string[] = [];
  let before = 0;
  for (let done = 0; done < REQUESTS; done += BATCH) {
    if (done === 20 * BATCH) before = process.memoryUsage().rss;
    if (done > 0 && done % (100 * BATCH) === 0) t.comment(`${done} requests`);
    const batch = fc.sample(request, { numRuns: BATCH, seed: SEED + done });
    const send = async (): Promise<void> => {
      for (let next = batch.pop(); next !== undefined; next = batch.pop()) {
        const { method, path, query, key } = next;
        const target = encodeURI(mutated(path + query, rng)).replace(/^\/*/, '/');
        const body = mutated(next.body, rng);
        const { status } = await call(method, url + target, { 'X-API-Key': key }, body);
        if (status >= 500 && !target.startsWith('/health'))
          failed.push(`${status} ${target} ${body}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, send));
  }
  t.strictSame(failed, [], `of ${REQUESTS} requests none fails`);
  t.strictSame(logged, []);
  const grown = before === 0 ? 0 : (process.memoryUsage().rss - before) / MIB;
  t.comment(`${Math.round(grown)} MiB more after the first ${20 * BATCH}`);
  t.ok(grown < 100, 'the memory is as before');
});
