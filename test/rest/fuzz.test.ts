// Any request to any path gets an answer, and never one that reports a failure of the node (row R7
// of the goals; FUZZ_REQUESTS makes it long).
import fc from 'fast-check';
import t from 'tap';
import { Rng } from '../generators/random.ts';
import { call } from '../rest-cases/runner.ts';
import { mutated, nearlyRight } from './fixtures/fuzz-requests.ts';
import { memoryNode } from './fixtures/memory-node.ts';

const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 3000);
const SEED = Number(process.env['SEED'] ?? 7);
const LONG_MS = 3_600_000;
/** Requests under way at a time, and made up at a time. */
const AT_ONCE = 32;
const BATCH = 1000;
const MIB = 1024 * 1024;

const { url, log, apiKey, privacyApiKey, accounts } = await memoryNode(t);
const { request, transaction } = nearlyRight(accounts[0].text, [apiKey, privacyApiKey, 'x']);
const failures = () => log.of('http.failed');
if (REQUESTS > 100_000) t.setTimeout(LONG_MS);

t.test('any request', { timeout: 300_000 }, async (t) => {
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, query, body, key }) => {
      const headers = { 'X-API-Key': key };
      const { status } = await call(method, url + path + query, headers, body);
      // Health is asked for in order to hear a 503.
      if (status >= 500 && !path.startsWith('/health/'))
        throw new Error(`status ${status}: ${JSON.stringify(failures().at(-1))}`);
    }),
    { numRuns: 1500 },
  );
  t.strictSame(failures(), []);
});

t.test('any transaction', { timeout: 300_000 }, async (t) => {
  const paths = fc.constantFrom('broadcast', 'sign', 'signAndBroadcast', 'calculateFee');
  await fc.assert(
    fc.asyncProperty(paths, transaction, async (path, tx) => {
      const headers = { 'X-API-Key': apiKey };
      const target = `${url}/transactions/${path}`;
      const { status, text } = await call('POST', target, headers, JSON.stringify(tx));
      if (status >= 500) throw new Error(`${text}: ${JSON.stringify(failures().at(-1))}`);
    }),
    { numRuns: 1500 },
  );
  t.strictSame(failures(), []);
});

t.test('mutated requests, many at a time', { timeout: LONG_MS }, async (t) => {
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
  t.strictSame(failures(), []);
  const grown = before === 0 ? 0 : (process.memoryUsage().rss - before) / MIB;
  t.comment(`${Math.round(grown)} MiB more after the first ${20 * BATCH}`);
  t.ok(grown < 100, 'the memory is as before');
});
