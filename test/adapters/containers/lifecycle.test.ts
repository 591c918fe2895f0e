/** Containers come and go: started once, shared, replaced, swept, and never left behind. */
import t from 'tap';
import type {
  ContainerInterface,
  ContainerSession,
} from '../../../src/adapters/containers/container-interface.ts';
import type { ContractOutcome } from '../../../src/base/ports/containers.ts';
import { containersWith, engineCall } from '../../containers/api.ts';
import { type Engine, sharedEngine } from '../../containers/engine.ts';
import { buildImage, simpleImage, whyNoBusybox } from '../../containers/images.ts';
import { leftOut } from '../../left-out.ts';
import { CREATOR, called, executionOf, opened, pause, prepared, until } from './opened.ts';

const shared = await sharedEngine();
const reason = typeof shared === 'string' ? shared : whyNoBusybox();
const skip = reason !== undefined && leftOut(reason);
const engine = shared as Engine;
/** It may be asked for before the container has ended. */
const SHELL = { 'bin/sh': { linkTo: 'busybox' }, 'run.sh': { bytes: '' } };
const SCRIPT = '#!/bin/sh\neval "$TX"\n';
const image = skip === false ? await simpleImage(engine, SCRIPT) : { image: '', imageHash: '' };
const count = async (label: string) => (await containersWith(engine.socketPath, label)).length;
const idOf = async (label: string) => (await containersWith(engine.socketPath, label))[0]?.Id;

t.test('contracts of one image share a container', { skip }, async (t) => {
  const { containers, label } = await opened(t, engine, { perContainerMax: 2 });
  for (let i = 0; i < 20; i++)
    t.strictSame(containers.prepare(image, 1, CREATOR), { kind: 'starting' });
  await prepared(containers, image);
  const outcomes = await Promise.all(
    ['a', 'b', 'c'].map((contractId) =>
      containers.run(executionOf(image, { contractId, json: 'sleep 0.3; exit 3' })),
    ),
  );
  t.match(outcomes, [{ code: 3 }, { code: 3 }, { code: 3 }]);
  t.equal(await count(label), 1);
  t.match(
    await containers.run(executionOf({ ...image, image: 'other' })),
    { kind: 'failure', recoverable: true },
    'an image that is not ready',
  );
});

t.test('a container that is killed in the middle of a call', { skip }, async (t) => {
  const { containers, label, log } = await opened(t, engine);
  await prepared(containers, image);
  const before = await idOf(label);
  const running = containers.run(executionOf(image, { json: 'sleep 100', contractId: 'abc' }));
  await pause(300);
  await kill(before);
  t.match(await running, {
    kind: 'failure',
    message: /^Container '[0-9a-f]{12}' of contract 'abc' has ended with code 137$/,
    recoverable: true,
    system: false,
  });
  t.match(log.of('container.ended'), [{ exitCode: 137 }]);
  t.match(await called(containers, image, { json: 'true' }), { kind: 'success' });
  t.not(await idOf(label), before);
  t.equal(await count(label), 1);
});

t.test('its connection ends before the engine has seen its end', { skip }, async (t) => {
  const lost = Promise.withResolvers<void>();
  const silent = silentInterface({ ready: async () => {}, ended: lost.promise });
  const byVersion = { protocolByCreateVersion: new Map([[1, 'grpc' as const]]) };
  const { containers, label, log } = await opened(t, engine, byVersion, { grpc: silent });
  await prepared(containers, image);
  const running = containers.run(executionOf(image, { contractId: 'abc' }));
  lost.resolve();
  await pause(300);
  await kill(await idOf(label));
  t.match(await running, {
    message: /^Container '[0-9a-f]{12}' of contract 'abc' has ended with code 137$/,
    recoverable: true,
    system: false,
  });
  t.match(log.of('container.ended'), [{ exitCode: 137 }]);
});

t.test('a program that ends its connection alone', { skip }, async (t) => {
  const silent = silentInterface({ ready: async () => {}, ended: Promise.resolve() });
  const byVersion = { protocolByCreateVersion: new Map([[1, 'grpc' as const]]) };
  const { containers, label } = await opened(t, engine, byVersion, { grpc: silent });
  await prepared(containers, image);
  const running = containers.run(executionOf(image, { contractId: 'abc' }));
  t.match(await running, { message: /^Container '[0-9a-f]{12}' of contract 'abc' has ended$/ });
  await until(async () => (await count(label)) === 0);
});

t.test('a call that is no longer wanted', { skip }, async (t) => {
  const { containers, label } = await opened(t, engine);
  await prepared(containers, image);
  const before = await idOf(label);
  const given = new AbortController();
  const running = containers.run(executionOf(image, { json: 'sleep 100', signal: given.signal }));
  await pause(200);
  given.abort();
  t.match(await running, { kind: 'failure', recoverable: true });
  t.match(await called(containers, image, { json: 'true' }), { kind: 'success' });
  t.not(await idOf(label), before, 'the script may still run, so its container is replaced');
});

t.test('idle and unused containers go', { skip }, async (t) => {
  const { containers, label } = await opened(t, engine, { removeAfterMs: 600 });
  await called(containers, image, { json: 'true' });
  t.equal(await count(label), 1);
  await until(async () => (await count(label)) === 0);

  await prepared(containers, image);
  const running = containers.run(executionOf(image, { json: 'sleep 1.5' }));
  await pause(1000);
  t.equal(await count(label), 1, 'one that is in use stays');
  containers.release(image);
  t.match(await running, { kind: 'success' });
  await until(async () => (await count(label)) === 0);
});

t.test('contracts write the hash of an image in either case', { skip }, async (t) => {
  const { containers, label } = await opened(t, engine);
  await prepared(containers, image);
  const upper = { ...image, imageHash: image.imageHash.toUpperCase() };
  t.match(await called(containers, upper, { json: 'true' }), { kind: 'success' });
  t.equal(await count(label), 1);
  containers.release(upper);
  await until(async () => (await count(label)) === 0);
});

t.test('a container for each call', { skip }, async (t) => {
  const { containers, label } = await opened(t, engine, { reuse: false });
  await prepared(containers, image);
  const first = await idOf(label);
  t.match(await containers.run(executionOf(image, { json: 'true' })), { kind: 'success' });
  await prepared(containers, image);
  await until(async () => (await count(label)) === 1);
  t.not(await idOf(label), first);
});

t.test('a failed container can be kept for a look', { skip }, async (t) => {
  const changes = { removeOnFail: false, executionMs: 300 };
  const { containers, label } = await opened(t, engine, changes);
  t.match(await called(containers, image, { json: 'sleep 100' }), { kind: 'failure' });
  await until(async () => {
    const [row] = await containersWith(engine.socketPath, label);
    return row?.State === 'exited';
  });
  await containers.close();
  t.equal(await count(label), 0);
});

t.test('nothing is left of a node that was killed', { skip }, async (t) => {
  const first = await opened(t, engine);
  await prepared(first.containers, image);
  t.equal(await count(first.label), 1);
  // The first still believes in its container, as after a crash nobody has told the engine.
  const second = await opened(t, engine, { nodeName: first.nodeName });
  t.equal(await count(first.label), 0);
  t.match(await called(second.containers, image, { json: 'true' }), { kind: 'success' });
  t.equal(second.containers.problem(), undefined);
});

t.test('the end of the node ends calls and starts', { skip }, async (t) => {
  const { containers, label } = await opened(t, engine);
  await prepared(containers, image);
  const running = containers.run(executionOf(image, { json: 'sleep 100' }));
  const other = await simpleImage(engine, '#!/bin/sh\n# other\n');
  containers.prepare(other, 1, CREATOR);
  await pause(100);
  const started = performance.now();
  await containers.close();
  t.ok(performance.now() - started < 6500);
  t.match(await running, { kind: 'failure', recoverable: true });
  await until(async () => (await count(label)) === 0, 5000);
  t.match(containers.prepare(image, 1, CREATOR), { kind: 'failure' });
});

t.test('what does not start', { skip }, async (t) => {
  const files = { 'bin/busybox': { copyOf: '/bin/busybox', mode: 0o755 } };
  const build = (name: string, line: string, more = {}) =>
    buildImage(engine, name, { ...files, ...more }, ['FROM scratch', 'COPY root/ /', line]);
  const { containers, label } = await opened(t, engine);

  const absent = await build('absent', 'CMD ["/no/such/file"]', SHELL);
  t.match(await prepared(containers, absent), {
    kind: 'failure',
    message: /has ended with code 127$|^The container (?:failed|does not start)$/,
    recoverable: true,
    system: false,
  });
  t.strictSame(
    containers.prepare(absent, 1, CREATOR),
    { kind: 'starting' },
    'the failure is told once',
  );
  await pause(300);
  t.strictSame(
    containers.prepare(absent, 1, CREATOR),
    { kind: 'starting' },
    'and tried again after 1 s',
  );
  t.match(await prepared(containers, absent), { kind: 'failure' });
  await until(async () => (await count(label)) === 0);

  const noShell = await build('no-shell', 'CMD ["/bin/busybox", "sleep", "1000"]');
  t.match(await prepared(containers, noShell), {
    kind: 'failure',
    message: 'The image has no /bin/sh',
    recoverable: false,
    system: true,
  });
});

t.test('what starts and never connects', { skip }, async (t) => {
  const silent = silentInterface();
  const byVersion = { protocolByCreateVersion: new Map([[1, 'grpc' as const]]), startupMs: 600 };
  const { containers, label } = await opened(t, engine, byVersion, {
    grpc: silent,
  });
  t.match(await prepared(containers, image), {
    kind: 'failure',
    message: `Container of image '${image.image}' startup timeout`,
    recoverable: true,
    system: false,
  });
  await until(async () => (await count(label)) === 0);
  t.equal(silent.openCount, 0, 'its session is closed');
});

t.test('a program that ends before it connects', { skip }, async (t) => {
  const silent = silentInterface();
  const files = { 'bin/busybox': { copyOf: '/bin/busybox', mode: 0o755 } };
  const lines = [
    'FROM scratch',
    'COPY root/ /',
    'CMD ["/bin/busybox", "false"]',
    'LABEL protocol=grpc',
  ];
  const ending = await buildImage(engine, 'ending', files, lines);
  const { containers } = await opened(t, engine, {}, { grpc: silent });
  t.match(await prepared(containers, ending), {
    kind: 'failure',
    message: /^Container '[0-9a-f]{12}' has ended with code 1$/,
    recoverable: true,
    system: false,
  });
  t.equal(silent.openCount, 0);
});

function silentInterface(
  more: Partial<ContainerSession> = {},
): ContainerInterface & { openCount: number } {
  const never = new Promise<never>(() => {});
  const silent = {
    openCount: 0,
    needsNetwork: false,
    async open() {
      silent.openCount++;
      return {
        setup: { env: {}, mounts: [] },
        ready: (_id: string, signal: AbortSignal) =>
          new Promise<void>((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason));
          }),
        run: (): Promise<ContractOutcome> => never,
        ended: never,
        async close() {
          silent.openCount--;
        },
        ...more,
      };
    },
    close: async () => {},
  };
  return silent;
}

async function kill(id: string | undefined): Promise<void> {
  const { body } = await engineCall(engine.socketPath, `/containers/${id}/kill`, {
    method: 'POST',
  });
  body.resume();
}
