// Contracts in real containers: one written with the unmodified SDK for JavaScript, and bare ones.
import t, { type Test } from 'tap';
import { grpcInterface } from '../../../../src/adapters/containers/grpc/interface.ts';
import { systemClock, systemRandom } from '../../../../src/adapters/system.ts';
import type { ContractOutcome, DataEntry } from '../../../../src/base/ports/containers.ts';
import { containersWith, engineCall } from '../../../containers/api.ts';
import { type Engine, sharedEngine } from '../../../containers/engine.ts';
import { sdkImage } from '../../../containers/sdk-image.ts';
import { leftOut } from '../../../left-out.ts';
import { opened, prepared, until } from '../opened.ts';
import { execution, readsOf } from './executions.ts';

const shared = await sharedEngine();
const skip = typeof shared === 'string' && leftOut(shared);
const engine = shared as Engine;
const GRPC = 2;
const LIMITS = { memoryMb: 256, memorySwapMb: 0, cpus: 1, pids: 64, cgroupParent: undefined };

/** What TypeScript makes of the decorators of the SDK. */
const CONTRACT = `
Object.defineProperty(exports, '__esModule', { value: true });
require('reflect-metadata');
const { Action, Contract, Param, State } = require('@wavesenterprise/contract-core');
class Echo {
  init(text) { this.state.set('text', text); }
  async read(text) {
    this.state.set('before', await this.state.get('text'));
    this.state.set('text', text);
  }
  async types() {
    for (const key of ['int', 'bool', 'bytes', 'text']) {
      this.state.set(key + '2', await this.state.get(key));
    }
  }
  async missing() { this.state.set('found', (await this.state.tryGet('nothing')) !== undefined); }
  async several() { this.state.set('several', (await this.state.get(['a', 'b'])).join(' ')); }
  refuse() { throw new Error('not today'); }
  hang() { for (;;); }
}
const action = (name, params, options) => {
  for (const [i, key] of params.entries()) Param(key)(Echo.prototype, name, i);
  Reflect.defineMetadata('design:paramtypes', params.map(() => String), Echo.prototype, name);
  const descriptor = Object.getOwnPropertyDescriptor(Echo.prototype, name);
  if (options) Action(options)(Echo.prototype, name, descriptor);
  else Action(Echo.prototype, name, descriptor);
};
State(Echo.prototype, 'state');
action('init', ['text'], { onInit: true });
action('read', ['text']);
for (const name of ['types', 'missing', 'several', 'refuse', 'hang']) action(name, []);
Contract(Echo);
exports.default = Echo;
`;

async function withGrpc(scope: Test, executionMs = 5000) {
  const folder = `${scope.testdir()}/sockets`;
  const grpc = await grpcInterface(
    { listen: { kind: 'unix', folder }, tokenLifetimeMs: 60_000 },
    { clock: systemClock(), random: systemRandom, log: QUIET },
  );
  return opened(scope, engine, { limits: LIMITS, executionMs }, { grpc });
}
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

const text = (key: string, value: string): DataEntry => ({ key, type: 'string', value });
const STATE: DataEntry[] = [
  text('text', 'first'),
  { key: 'int', type: 'integer', value: -(2n ** 53n) },
  { key: 'bool', type: 'boolean', value: true },
  { key: 'bytes', type: 'binary', value: Uint8Array.of(0, 255) },
  text('a', 'A'),
  text('b', 'B'),
];

t.test('the SDK for JavaScript', { skip, timeout: 120_000 }, async (t) => {
  const { containers } = await withGrpc(t);
  const image = await sdkImage(engine, 'sdk', CONTRACT);
  t.strictSame(await prepared(containers, image, GRPC), { kind: 'ready' });
  const run = (transaction: Parameters<typeof execution>[0]): Promise<ContractOutcome> =>
    containers.run({ ...execution(transaction, sdkReads), image, createVersion: GRPC });
  const call = (action: string, ...params: DataEntry[]) =>
    run({ params: [text('action', action), ...params] });

  const data = { kind: 'create', ...image, contractName: 'echo' } as const;
  t.strictSame(await run({ data, params: [text('text', 'first')] }), {
    kind: 'success',
    results: [text('text', 'first')],
  });
  t.strictSame(await call('read', text('text', 'second')), {
    kind: 'success',
    results: [text('before', 'first'), text('text', 'second')],
  });
  t.strictSame(await call('types'), {
    kind: 'success',
    results: [
      { key: 'int2', type: 'integer', value: -(2n ** 53n) },
      { key: 'bool2', type: 'boolean', value: true },
      { key: 'bytes2', type: 'binary', value: Uint8Array.of(0, 255) },
      text('text2', 'first'),
    ],
  });
  t.match(await call('missing'), { results: [{ key: 'found', value: false }] });
  t.match(await call('several'), { results: [{ key: 'several', value: 'A B' }] });
  t.strictSame(await call('refuse'), {
    kind: 'error',
    code: 0,
    message: "['Invoke contract action error'] not today",
  });
  t.match(await call('no such action'), { kind: 'error', code: 0 });
  for (let i = 0; i < 20; i++) {
    t.match(await call('read', text('text', `${i}`)), { results: [{}, { value: `${i}` }] });
  }
});

t.test(
  'a container that is killed, hangs, and comes back',
  { skip, timeout: 120_000 },
  async (t) => {
    const { containers, label } = await withGrpc(t, 4000);
    const image = await sdkImage(engine, 'sdk', CONTRACT);
    const ready = async () =>
      until(async () => (await prepared(containers, image, GRPC)).kind === 'ready', 60_000);
    const call = (action: string): Promise<ContractOutcome> => {
      const params = [text('action', action), text('text', 'x')];
      return containers.run({ ...execution({ params }, sdkReads), image, createVersion: GRPC });
    };
    await ready();
    const killed = call('hang');
    const [row] = await containersWith(engine.socketPath, label);
    const { body } = await engineCall(engine.socketPath, `/containers/${row?.Id}/kill`, {
      method: 'POST',
    });
    body.resume();
    t.match(await killed, {
      kind: 'failure',
      recoverable: true,
      // Its connection may end before the engine knows the code.
      message: /^Container '[0-9a-f]{12}' of contract '\w+' has ended( with code 137)?$/,
    });
    await ready();
    t.match(await call('hang'), {
      kind: 'failure',
      recoverable: true,
      message: /^Contract '\w+' execution timeout, container '[0-9a-f]{12}'$/,
    });
    // A busy engine may need longer than one call may take, which ends its container.
    await until(async () => {
      await ready();
      return (await call('read')).kind === 'success';
    }, 60_000);
  },
);

const reads = readsOf(STATE);
/** The SDK looks for keys that begin so: \`^(a|b)\`. */
const sdkReads = {
  ...reads,
  contractEntries: (id: string, query: Parameters<typeof reads.contractEntries>[1]) =>
    reads.contractEntries(id, { ...query, matches: query.matches?.replace('^', '') }),
};
