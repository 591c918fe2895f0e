// The conformance cases against a real node: all cases that this release supports.
import t from 'tap';
import { createFamily } from '../../src/crypto/families.ts';
import { startDevNode } from '../system/e2e/dev-node.ts';
import { loadCases } from './cases.ts';
import { bindBasics, type Made, prepare } from './prepare.ts';
import { runCases } from './runner.ts';

const made: readonly Made[] = [
  'signed-message',
  'funded-account',
  'funded-account-without-role',
  'two-confirmed-transfers',
  'active-lease',
  'asset',
  'sponsored-asset',
  'alias',
  'data-entry',
  'policy',
  'privacy-data',
  // Not pool-tx: a block may take it at any time. test/node/rest-cases.test.ts stops the clock.
];

t.test('conformance cases on a node', { timeout: 120_000 }, async (t) => {
  const node = await startDevNode(t, { round: '500ms' });
  const target = {
    baseUrl: node.rest.url,
    apiKey: node.apiKey,
    privacyApiKey: node.privacyApiKey,
    secureHash: createFamily('curve25519').secureHash,
  };
  const bindings = await prepare(target, await bindBasics(target), new Set(made));
  const always = ['genesis-only', 'keystore', 'poa', 'platform-crypto', 'run-last'];
  const suite = {
    baseUrl: target.baseUrl,
    bindings,
    available: new Set<string>([...always, ...made]),
  };
  const outcomes = await runCases(loadCases(), suite);

  for (const { name, result, why } of outcomes) {
    if (result === 'failed') t.fail(name, { why });
    if (result === 'skipped') t.comment(`skipped, waits for ${why[0]}: ${name}`);
  }
  const passed = outcomes.filter(({ result }) => result === 'passed');
  t.ok(passed.length >= 230, `${passed.length} of ${outcomes.length} cases passed`);
});
