/**
 * The conformance cases of the REST API on whole nodes: accounts with passwords, a pool that no
 * block empties, both kinds of consensus. Cases that wait for later work are listed with their
 * issues.
 */
import t, { type Test } from 'tap';
import { httpListener } from '../../src/adapters/http/listener.ts';
import type { NodePorts } from '../../src/node/node-ports.ts';
import { sum } from '../contracts/contract-node.ts';
import { family } from '../family.ts';
import { withHttpThreads } from '../http-threads.ts';
import { loadCases } from '../rest-cases/cases.ts';
import { bindBasics, type Made, prepare, type Target } from '../rest-cases/prepare.ts';
import { type Outcome, runCases } from '../rest-cases/runner.ts';
import { hashOfImage, simulatedContainers } from '../simulated/containers.ts';
import { later } from '../system/e2e/later.ts';
import { keepPace } from './fake-clock.ts';
import { type WholeNode, wholeNode } from './in-process.ts';

const PASSWORDS = ['first secret', 'second secret'] as const;
const inBlocks: readonly Made[] = [
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
  'scripted-account',
  'contract',
  'contract-with-key',
];
/** A need that cases of the other family have. */
const standard = 'platform-crypto';
const ALWAYS = [
  'genesis-only',
  'keystore',
  'keystore-with-password',
  ...(family.platformCrypto ? [standard] : []),
];

/** What a case that cannot run yet waits for → the issue that brings it. */
const issues: Readonly<Record<string, string>> = {
  network: later.network,
};

function served(t: Test, set: readonly string[] = []): Promise<WholeNode> {
  const options = { http: httpListener, passwords: PASSWORDS, roundMs: 200, privateData: true };
  return wholeNode(t, { ...options, genesisTime: Date.now(), set, around: withContracts });
}

const CONTRACT = 'sum';

const withContracts = (ports: NodePorts): NodePorts => ({
  ...withHttpThreads(ports),
  containers: simulatedContainers({
    clock: ports.clock,
    programs: { [CONTRACT]: sum },
    startMs: 100,
    timeoutMs: 100,
    callMs: () => 1,
  }),
});

function targetOf(whole: WholeNode): Target {
  return {
    baseUrl: `http://127.0.0.1:${whole.node.rest!.port}`,
    apiKey: whole.apiKey,
    privacyApiKey: whole.privacyApiKey,
    password: PASSWORDS[0],
    password2: PASSWORDS[1],
    secureHash: whole.family.secureHash,
    contractImage: { image: CONTRACT, imageHash: hashOfImage(CONTRACT) },
  };
}

const named = (outcomes: readonly Outcome[], result: Outcome['result']): string[] =>
  outcomes
    .filter((one) => one.result === result)
    .map(({ name, why }) => (why.length === 0 ? name : `${name}: ${why.join('; ')}`));

t.test('cases under proof of authority', async (t) => {
  const whole = await served(t);
  const pace = keepPace(whole.clock);
  const target = targetOf(whole);
  const basics = await bindBasics(target);
  const confirmed = await prepare(target, basics, new Set(inBlocks));
  await pace.pause();
  const bindings = await prepare(target, confirmed, new Set<Made>(['pool-tx']));
  const available = new Set([...ALWAYS, 'poa', 'pool-tx', 'run-last', ...inBlocks]);
  const cases = loadCases();
  const outcomes = await runCases(cases, { baseUrl: target.baseUrl, bindings, available });

  t.strictSame(named(outcomes, 'failed'), []);
  const skipped = outcomes.filter(({ result }) => result === 'skipped');
  const elsewhere = cases.filter(({ needs }) => needs === 'pos' || needs === standard);
  const ofOthers = new Set(elsewhere.map(({ name }) => name));
  const waiting = skipped.filter(({ name }) => !ofOthers.has(name));
  t.strictSame(
    waiting.filter(({ why }) => issueOf(why[0]) === undefined).map(({ name }) => name),
    [],
    'every skipped case names its issue',
  );
  for (const { name, why } of waiting) t.comment(`skipped until ${issueOf(why[0])}: ${name}`);
  t.ok(named(outcomes, 'passed').length >= 230, 'the greater part has run');
});

/** Reasons may say more after the name of the work. */
function issueOf(reason = ''): string | undefined {
  const name = Object.keys(issues).find((known) => reason.startsWith(known));
  return name === undefined ? undefined : issues[name];
}

t.test('cases under proof of stake', async (t) => {
  const whole = await served(t, ['blockchain.consensus.type=pos']);
  const target = targetOf(whole);
  const bindings = await bindBasics(target);
  const available = new Set(['pos']);
  const outcomes = await runCases(loadCases(), { baseUrl: target.baseUrl, bindings, available });
  t.strictSame(named(outcomes, 'failed'), []);
  t.equal(named(outcomes, 'passed').length, 6);
});
