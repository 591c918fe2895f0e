// `contract build` with a real engine and without a registry.
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { Engine } from '../../../../src/adapters/containers/engine.ts';
import { systemClock } from '../../../../src/adapters/system.ts';
import { sharedEngine } from '../../../containers/engine.ts';
import { leftOut } from '../../../left-out.ts';
import { type Run, run } from '../../run.ts';

const shared = await sharedEngine();
const skip = typeof shared === 'string' && leftOut(shared);
const host = typeof shared === 'string' ? '' : shared.host;

const build = (folder: string, more: readonly string[] = [], path?: string): Promise<Run> =>
  run(['contract', 'build', folder, '--docker-host', host, ...more], {
    env: path === undefined ? {} : { PATH: path },
  });

function imageOf({ code, stdout, stderr }: Run) {
  t.equal(code, 0, stderr);
  return JSON.parse(stdout) as { image: string; imageHash: string; size: number };
}

t.test('the image of a project', { skip }, async (t) => {
  const folder = join(t.testdir(), 'My Sum');
  t.equal((await run(['contract', 'init', folder, '--template', 'shell'])).code, 0);
  const first = imageOf(await build(folder));
  t.match(first.imageHash, /^[0-9a-f]{64}$/);
  t.equal(first.image, `my-sum:${first.imageHash.slice(0, 12)}`);
  t.ok(first.size > 500_000, `${first.size} bytes`);
  t.strictSame(imageOf(await build(folder)), first, 'the same once more');

  const engine = new Engine({ host }, systemClock());
  t.teardown(() => engine.close());
  t.match(await engine.image(first.image), {
    id: first.imageHash,
    labels: { protocol: 'exec' },
    user: '10001:10001',
  });
  writeFileSync(join(folder, 'run.sh'), '#!/bin/sh\necho "[]"\n');
  const other = imageOf(await build(folder, ['--tag', 'localhost:5000/sums/sum']));
  t.not(other.imageHash, first.imageHash);
  t.equal(other.image, 'localhost:5000/sums/sum:latest');
  t.equal((await engine.image(first.image))?.id, first.imageHash, 'the old one keeps its name');
});

t.test('the tools of a machine without busybox', { skip }, async (t) => {
  const folder = t.testdir({
    Dockerfile:
      'FROM scratch\nCOPY runtime/shell/ /\nCMD ["sh", "-c", "echo one | sed s/one/two/"]\n',
    bin: {},
  });
  for (const name of ['sh', 'sed', 'ldd', 'bash', 'node', 'readlink']) {
    symlinkSync(`/usr/bin/${name}`, join(folder, 'bin', name));
  }
  const { imageHash } = imageOf(await build(folder, [], join(folder, 'bin')));
  const engine = new Engine({ host }, systemClock());
  t.teardown(() => engine.close());
  const { signal } = new AbortController();
  const id = await engine.create(`shell-${process.pid}`, { Image: imageHash }, signal);
  t.teardown(() => engine.remove(id));
  await engine.start(id, signal);
  t.equal(await engine.wait(id, signal), 0);
  const frames = await buffer(await engine.logs(id, signal));
  t.match(frames.toString(), /two\n$/);
});

t.test('what the engine refuses', { skip }, async (t) => {
  for (const [text, why] of [
    [
      'FROM scratch\nCOPY lacking /\n',
      /Step 1\/2 : FROM scratch\n(.*\n)+The image cannot be built: COPY/,
    ],
    ['FORM scratch\n', /unknown instruction: FORM/],
  ] as const) {
    const { code, stderr } = await build(t.testdir({ Dockerfile: text }));
    t.equal(code, 1);
    t.match(stderr, why);
  }
  const tagged = await build(t.testdir({ Dockerfile: 'FROM scratch\n' }), ['--tag', 'a b']);
  t.equal(tagged.code, 2);
});

t.test('no engine', async (t) => {
  const folder = t.testdir({ Dockerfile: 'FROM scratch\n' });
  const none = await run(['contract', 'build', folder, '--docker-host', 'unix:///nowhere/d.sock']);
  t.equal(none.code, 1);
  t.match(
    none.stderr,
    /No container engine answers at unix:.*there is no such socket \(start Docker or Podman/,
  );
});
