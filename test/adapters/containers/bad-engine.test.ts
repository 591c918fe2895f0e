/** Engines that answer garbage, nothing, or late: the node keeps its word in spite of them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { startRegistry } from '../../containers/registry.ts';
import {
  breaks,
  type FakeAnswer,
  fakeEngine,
  frame,
  IMAGE_ID,
  says,
  saysText,
  silence,
} from './fake-engine.ts';
import { CREATOR, called, executionOf, opened, pause, prepared, until } from './opened.ts';

const image = { image: 'sum', imageHash: IMAGE_ID };
const AWAY = { kind: 'failure', recoverable: true, system: true };
const OK = { kind: 'success', results: [] };

/** A 64-bit length of nothing, a list, deep nesting, wrong types, and no JSON. */
const GARBAGE: readonly (readonly [name: string, answer: FakeAnswer])[] = [
  ['no JSON', saysText('<html>It works!</html>')],
  ['nothing', saysText('')],
  ['a blank line', saysText('\n')],
  ['null', says(null)],
  ['a list', says([1, 2, 3])],
  ['wrong types', says({ Id: 7, ExitCode: '0', ApiVersion: {}, State: [], Config: 'x' })],
  ['a broken connection', breaks],
  ['a failure', says({ message: 'the disk is full' }, 500)],
  ['a failure without JSON', saysText('\0\0\0', 502)],
  ['too much', saysText(`"${'x'.repeat(9 * 1024 * 1024)}"`)],
];

t.test('the good engine that the others differ from', async (t) => {
  const engine = await fakeEngine(t);
  const { containers } = await opened(t, engine);
  t.strictSame(await called(containers, image), OK);
  t.equal(await containers.checkImage(image, CREATOR), undefined);
});

t.test('Podman says in other words that an image has no such command', async (t) => {
  const engine = await fakeEngine(t);
  const { containers } = await opened(t, engine);
  const START = /^POST \/containers\/\w+\/start/;
  const refused = async (message: string) => {
    engine.answer(START, says({ message }, 500));
    return called(containers, image);
  };
  const notFound = 'OCI runtime attempted to invoke a command that was not found';
  t.match(await refused(`exec: "/no/such": no such file or directory: ${notFound}`), {
    system: false,
  });
  t.match(await refused(`${notFound}: the runtime is not installed`), AWAY);
});

const PRINTS = /^POST \/exec\/\w+\/start/;

t.test('an engine on another machine, with certificates of both sides', async (t) => {
  const folder = fileURLToPath(new URL('../http/tls/', import.meta.url));
  const [cert, key] = ['test-only-cert.pem', 'test-only-key.pem'].map((name) => folder + name);
  const files = { cert: cert!, key: key! };
  const { host } = await fakeEngine(t, {
    cert: readFileSync(files.cert, 'utf8'),
    key: readFileSync(files.key, 'utf8'),
  });
  const open = (tls: object | undefined) =>
    opened(t, { host }, { engine: { host, tls: tls as { cert: string; key: string } } });
  const { containers } = await open({ ...files, ca: files.cert });
  t.strictSame(await called(containers, image), OK);
  await t.rejects(open(undefined), 'the engine asks for a certificate');
  await t.rejects(open(files), 'the node asks for one that it knows');
  await t.rejects(open({ ...files, ca: '/no/such/file' }), { code: 'ENOENT' });
});

t.test('garbage for each call', async (t) => {
  const paths = [
    /^GET \/images\//,
    /^POST \/containers\/create/,
    PRINTS,
    /^GET \/exec\/\w+\/json/,
    /^POST \/containers\/\w+\/exec/,
  ];
  for (const path of paths) {
    for (const [name, answer] of GARBAGE) {
      // A script may print nothing.
      if (name === 'nothing' && path === PRINTS) continue;
      const engine = await fakeEngine(t);
      const { containers } = await opened(t, engine);
      engine.answer(path, answer);
      let seen = false;
      const ends = performance.now() + 150;
      while (!seen && performance.now() < ends) {
        const readiness = containers.prepare(image, 1, CREATOR);
        if (readiness.kind === 'failure') seen = true;
        else if (readiness.kind === 'ready') {
          const outcome = await containers.run(executionOf(image));
          seen = outcome.kind === 'failure';
        }
        await pause(5);
      }
      // Where the engine is to blame calls wait; else the caller is told.
      t.ok(seen || containers.prepare(image, 1, CREATOR).kind !== 'ready', `${path}: ${name}`);
      await containers.close();
    }
  }
});

t.test('an engine that turns to garbage is away, and returns', async (t) => {
  const engine = await fakeEngine(t);
  const { containers } = await opened(t, engine);
  t.strictSame(await called(containers, image), OK);
  engine.answer(/./, saysText('<html>502</html>', 502));
  t.match(await containers.run(executionOf(image)), { kind: 'failure', recoverable: true });
  engine.answer(/./, breaks);
  await until(() => containers.problem() !== undefined);
  t.strictSame(containers.prepare(image, 1, CREATOR), { kind: 'starting' });
});

t.test('an engine that never answers a call', async (t) => {
  const engine = await fakeEngine(t);
  const { containers } = await opened(t, engine, { executionMs: 300, startupMs: 300 });
  await prepared(containers, image);
  for (const path of [/^POST \/containers\/\w+\/exec/, /^POST \/exec/, /^GET \/exec/]) {
    const other = await fakeEngine(t);
    const slow = await opened(t, other, { executionMs: 300, startupMs: 300 });
    await prepared(slow.containers, image);
    other.answer(path, silence);
    t.match(await slow.containers.run(executionOf(image)), {
      kind: 'failure',
      message: "Contract 'contract' execution timeout",
      recoverable: true,
    });
  }
  engine.answer(/^POST \/containers\/create/, silence);
  containers.release(image);
  t.match(await prepared(containers, image), {
    kind: 'failure',
    message: "Container of image 'sum' startup timeout",
  });
});

t.test('an engine that does not count the processes of a container', async (t) => {
  const answers: readonly (readonly [name: string, answer: FakeAnswer])[] = [
    ['none', silence],
    ['a proxy lets nobody ask', saysText('Forbidden', 403)],
    ['a proxy knows no such method', says({ message: 'method not allowed' }, 405)],
    ['the engine cannot', says({ message: 'cgroups v1 without root' }, 500)],
    ['a proxy waits in vain', saysText('<html>504</html>', 504)],
    ['no number', says({ pids_stats: {} })],
  ];
  for (const [name, answer] of answers) {
    const engine = await fakeEngine(t);
    const { containers } = await opened(t, engine);
    await prepared(containers, image);
    engine.answer(/^GET \/exec/, says({ Running: false, ExitCode: 7 }));
    engine.answer(/^GET \/containers\/\w+\/stats/, answer);
    t.match(await containers.run(executionOf(image)), { kind: 'error', code: 7 }, name);
    t.equal(containers.prepare(image, 1, CREATOR).kind, 'ready', 'the container stays');
    t.equal(containers.problem(), undefined);
  }
});

t.test('frames of output that lie', async (t) => {
  const run = async (bytes: Uint8Array) => {
    const engine = await fakeEngine(t);
    const { containers } = await opened(t, engine);
    await prepared(containers, image);
    engine.answer(/^POST \/exec\/\w+\/start/, saysText(bytes));
    return containers.run(executionOf(image));
  };
  const noise = frame('[{]\n', 2);
  t.strictSame(
    await run(Buffer.concat([frame('['), noise, frame(']\n')])),
    OK,
    'one after another',
  );
  t.strictSame(await run(Buffer.concat([frame(''), frame(''), frame('[]')])), OK, 'empty frames');
  const long = frame('[]');
  new DataView(long.buffer, long.byteOffset).setUint32(4, 0xffff_ffff);
  t.match(await run(long), AWAY, 'a length that never comes');
  t.match(await run(Buffer.from([1, 0, 0])), AWAY, 'a part of a header');
  t.match(await run(frame('\xff\xfe')), { kind: 'failure', recoverable: false });
});

t.test('a stray that cannot be removed', async (t) => {
  const engine = await fakeEngine(t);
  engine.answer(/^GET \/info/, says({ MemTotal: 2 * 64 * 1024 ** 2, NCPU: 4 }));
  engine.answer(/^GET \/containers\/json/, says([{ Id: 'd', Names: ['/stray'] }]));
  engine.answer(/^GET \/networks\?/, says([{ Name: 'bridge-of-it' }]));
  engine.answer(/^DELETE \/containers\/stray/, says({ message: 'device or resource busy' }, 500));
  const { containers, log } = await opened(t, engine);
  t.match(log.of('container.not-removed'), [{ name: 'stray', why: /busy/ }]);
  t.ok(engine.calls.includes('DELETE /networks/bridge-of-it'), 'others are removed');
  for (let i = 0; i < 20; i++) {
    t.strictSame(containers.prepare(image, 1, CREATOR), { kind: 'starting' });
    await pause(5);
  }
  const created = () => engine.calls.some((call) => call.startsWith('POST /containers/create'));
  t.notOk(created(), 'it takes a place of the machine');
  engine.answer(/^GET \/containers\/json/, says([]));
  engine.answer(/^GET \/version/, breaks);
  await until(() => containers.problem() !== undefined);
  engine.answer(/^GET \/version/, says({ ApiVersion: '1.41' }));
  await until(() => containers.problem() === undefined);
  t.strictSame(await prepared(containers, image), { kind: 'ready' }, 'once it is gone');
});

t.test('versions of the interface', async (t) => {
  const used = async (answer: unknown) => {
    const engine = await fakeEngine(t);
    engine.answer(/^GET \/version/, says(answer));
    const paths: string[] = [];
    engine.answer(/^GET \/networks/, (response, request) => {
      paths.push(request.url ?? '');
      says([])(response, request);
    });
    await opened(t, engine);
    return /^\/v([\d.]+)\//.exec(paths[0] ?? '')?.[1];
  };
  t.equal(await used({ ApiVersion: '1.41', MinAPIVersion: '1.12' }), '1.41');
  t.equal(await used({ ApiVersion: '1.52', MinAPIVersion: '1.44' }), '1.44');
  t.equal(await used({ ApiVersion: '1.40' }), '1.40');
  await t.rejects(used({ ApiVersion: '1.39' }), /older than 1.40/);
  await t.rejects(used({ version: '0.1' }), /without ApiVersion/);
});

t.test('pulls that go wrong', async (t) => {
  const registry = await startRegistry(t);
  const { id } = registry.offerLayers('sum', '1', []);
  const pulledImage = { image: `${registry.domain}/sum:1`, imageHash: id };
  const pulled = async (answer: FakeAnswer) => {
    const engine = await fakeEngine(t);
    const changes = { pull: 'missing' as const, registries: [{ domain: registry.domain }] };
    const { containers, log } = await opened(t, engine, { ...changes, imageSizeMax: 1e9 });
    engine.answer(/^GET \/images\//, says({ message: 'no such image' }, 404));
    engine.answer(/^POST \/images\/create/, answer);
    const failure = await containers.checkImage(pulledImage, CREATOR);
    const [{ why } = { why: undefined }] = log.of('image.not-fetched') as { why?: string }[];
    await containers.close();
    return { failure, why };
  };
  const lines = (...list: unknown[]) =>
    saysText(list.map((one) => `${JSON.stringify(one)}\n`).join(''));
  const layer = (id: string, total: number) => ({ id, progressDetail: { current: 1, total } });
  const message = `Image '${pulledImage.image}' can't be fetched at present`;
  const notNow = { kind: 'failure', message, recoverable: true, system: true };
  const tooBig = { message: `Image '${pulledImage.image}' is too big`, recoverable: false };
  const cases: readonly [FakeAnswer, object, RegExp][] = [
    [lines({ status: 'Pulling' }, { error: 'no space left' }, { status: 'x' }), notNow, /no space/],
    [says({ message: 'dial tcp 10.0.0.5:8080: refused' }, 500), notNow, /10.0.0.5/],
    [says({ message: 'manifest unknown' }, 404), notNow, /unknown/],
    [lines(layer('a', 6e8), layer('b', 5e8)), tooBig, /more than \d+ bytes/],
    [lines({ id: 'a', progressDetail: { current: 2e9 } }), tooBig, /more than \d+ bytes/],
    [lines(...Array.from({ length: 1001 }, (_, i) => layer(`${i}`, 0))), notNow, /1000 layers/],
    [saysText('x'.repeat(100_000)), notNow, /no end/],
    [saysText('{]\n'), notNow, /no progress in JSON/],
    [lines({ status: 'Done' }), notNow, /another image/],
    [breaks, notNow, /./],
  ];
  for (const [answer, expected, reason] of cases) {
    const { failure, why } = await pulled(answer);
    t.match(failure, expected, String(reason));
    t.match(why, reason);
  }
});

t.test(
  'a pull that the engine leaves without an answer has failed, and the engine is there',
  async (t) => {
    const registry = await startRegistry(t);
    const { id } = registry.offerLayers('sum', '1', []);
    const pulledImage = { image: `${registry.domain}/sum:1`, imageHash: id };
    const engine = await fakeEngine(t);
    const changes = { pull: 'missing' as const, registries: [{ domain: registry.domain }] };
    const { containers } = await opened(t, engine, changes);
    engine.answer(/^GET \/images\//, says({ message: 'no such image' }, 404));
    engine.answer(/^POST \/images\/create/, breaks);
    const pulls = (): number =>
      engine.calls.filter((call) => call.startsWith('POST /images/create')).length;
    let answer = containers.prepare(pulledImage, 1, CREATOR);
    await until(() => {
      answer = containers.prepare(pulledImage, 1, CREATOR);
      return answer.kind !== 'starting' || pulls() > 1;
    });
    const message = `Image '${pulledImage.image}' can't be fetched at present`;
    t.match(answer, { kind: 'failure', message, recoverable: true, system: true });
    t.equal(containers.problem(), undefined);
  },
);

t.test('what an engine says of a start is in the log, and in no status', async (t) => {
  const text = 'dial tcp 10.0.0.5:8080: refused';
  for (const call of [/^POST \/containers\/create/, /^POST \/containers\/\w+\/start/]) {
    for (const status of [409, 500]) {
      const engine = await fakeEngine(t);
      engine.answer(call, says({ message: text }, status));
      const { containers, log } = await opened(t, engine);
      const failure = { kind: 'failure', message: 'The container failed' };
      t.match(await prepared(containers, image), failure, `${call} ${status}`);
      t.match(log.of('container.not-started'), [{ why: /10\.0\.0\.5/ }]);
    }
  }
});
