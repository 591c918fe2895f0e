// The conformance cases against a node in memory whose chain is its genesis block: all cases that
// need nothing else. The end-to-end tests run the same cases against a real node.
import t from 'tap';
import { memoryNode } from '../rest/fixtures/memory-node.ts';
import { evaluate, fill, fillText } from './bindings.ts';
import { loadCases } from './cases.ts';
import { mismatches, misshapen } from './matching.ts';
import { bindBasics, prepare } from './prepare.ts';
import { runCases } from './runner.ts';

t.test('cases that need the genesis block only', async (t) => {
  const { url, apiKey, privacyApiKey, family } = await memoryNode(t, { genesisTime: Date.now() });
  const target = {
    baseUrl: url,
    apiKey,
    privacyApiKey,
    secureHash: family.secureHash,
  };
  const made = ['signed-message', 'funded-account', 'pool-tx'] as const;
  const bindings = await prepare(target, await bindBasics(target), new Set(made));
  const standard = family.platformCrypto ? ['platform-crypto'] : [];
  const available = new Set(['genesis-only', 'keystore', 'poa', ...standard, ...made]);
  const outcomes = await runCases(loadCases(), { baseUrl: url, bindings, available });

  const failed = outcomes.filter(({ result }) => result === 'failed');
  t.strictSame(
    failed.map(({ name, why }) => `${name}: ${why.join('; ')}`),
    [],
  );
  const skipped = outcomes.filter(({ result }) => result === 'skipped');
  const reasons = new Map<string, string[]>();
  for (const { name, why } of skipped) {
    reasons.set(why[0]!, [...(reasons.get(why[0]!) ?? []), name]);
  }
  for (const [reason, names] of reasons) t.comment(`skipped, ${reason}: ${names.join(', ')}`);
  t.ok(outcomes.length - skipped.length > 180, `${outcomes.length - skipped.length} cases ran`);
});

t.test('placeholders', async (t) => {
  const bindings = { n: 5n, text: 'x', tx: { a: 1 } };
  t.strictSame(fill({ a: '{{n}}', b: 'is {{n}}', c: ['{{tx}}'] }, bindings), {
    a: 5n,
    b: 'is 5',
    c: [{ a: 1 }],
  });
  t.strictSame(fill({ password: '{{password}}', a: 1 }, bindings), { a: 1 });
  t.strictSame(fill({ $repeat: ['{{text}}', 3] }, bindings), ['x', 'x', 'x']);
  t.equal((fill({ $distinctIds: 4 }, bindings) as string[]).length, 4);
  t.equal(fillText('/a/{{base58:hello}}', bindings), '/a/Cn8eVZg');
  t.throws(() => fillText('{{nobody}}', bindings), { name: 'Unbound' });
  t.equal(evaluate('n + 2*n + 1', bindings), 16n);
});

t.test('matchers', async (t) => {
  const body = { a: 1, big: 9223372036854775807n, list: [{ x: 1, y: 2 }, 7], text: 'abc' };
  const fits = (expected: unknown) => mismatches(body, expected, '', {}).length === 0;
  t.ok(fits({ a: 1, list: [] }));
  t.ok(fits({ list: [{ x: 1 }] }));
  t.notOk(fits({ list: [{ x: 2 }] }));
  t.ok(fits({ big: 9223372036854775807n }));
  t.notOk(fits({ big: 9223372036854775806n }));
  t.ok(fits({ a: { $in: [3, 1] }, text: { $regex: '^a' }, big: { $gte: 1 } }));
  t.notOk(fits({ a: { $lt: 1 } }));
  t.notOk(fits({ missing: { $any: 1 } }));
  t.ok(fits({ $anyOf: [{ a: 2 }, { a: 1 }] }));
  t.strictSame(misshapen(body, { $root: 'object', list: 'array:2', 'list.0.x': 'integer' }), []);
  t.strictSame(misshapen(body, { a: 'string|null', b: 'absent' }).length, 1);
});
