/** Many calls in one container, without an engine. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { createCalls } from '../../../src/adapters/containers/calls.ts';
import type { ContainerSession } from '../../../src/adapters/containers/container-interface.ts';
import { systemClock } from '../../../src/adapters/system.ts';
import { executionOf } from './opened.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const never = new Promise<never>(() => {});
const OPTIONS = { executionMs: 60_000, protocol: 'grpc' as const, containerId: 'abc' };
const image = { image: 'sum', imageHash: 'a'.repeat(64) };

const sessionOf = (run: ContainerSession['run']): ContainerSession => ({
  setup: { env: {}, mounts: [] },
  ready: async () => {},
  run,
  ended: never,
  close: async () => {},
});

t.test('calls leave nothing behind', async (t) => {
  const quick = sessionOf(async () => ({ kind: 'success', results: [] }));
  const calls = createCalls(OPTIONS, quick, systemClock(undefined));
  const wanted = new AbortController();
  const run = async (count: number) => {
    for (let i = 0; i < count; i++) {
      await calls.run(executionOf(image, { signal: wanted.signal, json: 'x'.repeat(100) }));
    }
  };
  const heapAfter = async (count: number) => {
    await run(count);
    await new Promise((resolve) => setTimeout(resolve, 50));
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const first = await heapAfter(10_000);
  const last = await heapAfter(50_000);
  t.ok(last - first < 3_000_000, `${first} → ${last}`);
});

t.test('the end of a container ends each call with its own text', async (t) => {
  const calls = createCalls(
    OPTIONS,
    sessionOf(() => never),
    systemClock(undefined),
  );
  const outcomes = ['a', 'b'].map((contractId) =>
    calls.run(executionOf(image, { contractId })).catch((cause: Error) => cause.message),
  );
  calls.end('has ended with code 1');
  t.strictSame(await Promise.all(outcomes), [
    "Container 'abc' of contract 'a' has ended with code 1",
    "Container 'abc' of contract 'b' has ended with code 1",
  ]);
});

t.test('a limit, and a call that nobody wants', async (t) => {
  const calls = createCalls(
    { ...OPTIONS, executionMs: 20 },
    sessionOf(() => never),
    systemClock(),
  );
  await t.rejects(calls.run(executionOf(image)), {
    message: "Contract 'contract' execution timeout, container 'abc'",
    failure: { recoverable: true, system: false },
  });
  const aborted = AbortSignal.abort();
  await t.rejects(calls.run(executionOf(image, { signal: aborted })), /no longer wanted/);
});
