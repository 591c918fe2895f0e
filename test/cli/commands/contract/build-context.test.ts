// What an engine gets to build an image from.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import t from 'tap';
import { buildContext } from '../../../../src/cli/commands/contract/build-context.ts';

const paths = async (folder: string): Promise<string[]> =>
  (await buildContext(folder)).map(({ path }) => path);

t.test('the files of the project, without what git keeps', async (t) => {
  const folder = t.testdir({
    Dockerfile: 'FROM alpine\n# COPY runtime/shell/ /\n',
    lib: { 'b.ts': '', 'a.ts': '' },
    '.git': { HEAD: '' },
    empty: {},
  });
  symlinkSync('lib/a.ts', join(folder, 'link'));
  t.strictSame(await paths(folder), ['Dockerfile', 'empty', 'lib/a.ts', 'lib/b.ts', 'link']);
});

t.test('and the runtimes that the Dockerfile copies', async (t) => {
  const folder = t.testdir({ Dockerfile: 'FROM scratch\nCOPY runtime/node/ /\n' });
  const found = await paths(folder);
  t.ok(found.includes('runtime/node/usr/bin/node'));
  t.ok(
    found.some((path) => /^runtime\/node\/lib.*\/libc\.so/.test(path)),
    'the libraries of Node',
  );
  t.notOk(found.some((path) => path.startsWith('runtime/shell')));
  mkdirSync(join(folder, 'runtime/node/bin'), { recursive: true });
  t.ok((await paths(folder)).includes('runtime/node/usr/bin/node'), 'an empty folder is none');
  writeFileSync(join(folder, 'runtime/node/bin/node'), 'my own');
  t.strictSame(await paths(folder), ['Dockerfile', 'runtime/node/bin/node']);
});

t.test('however the Dockerfile names a runtime', async (t) => {
  for (const copy of [
    'COPY runtime/shell /',
    'COPY --chown=1:1 ./runtime/shell/ /',
    'COPY ["runtime/shell", "/"]',
    'COPY \\\n  runtime/shell \\\n  /',
    'COPY \\\n  # the shell\n\n  runtime/shell \\\n  /',
  ]) {
    const found = await paths(t.testdir({ Dockerfile: `FROM scratch\n${copy}\n` }));
    t.ok(found.includes('runtime/shell/etc/passwd'), copy);
  }
  for (const copy of [
    'COPY runtime/shells/ /',
    'COPY my-runtime/shell/ /',
    'RUN runtime/shell/x',
  ]) {
    const found = await paths(t.testdir({ Dockerfile: `FROM scratch\n${copy}\n` }));
    t.strictSame(found, ['Dockerfile'], copy);
  }
});

t.test('what .dockerignore names stays out, and is not counted', async (t) => {
  const folder = t.testdir({
    Dockerfile: 'FROM scratch\nCOPY runtime/node/ /\nCOPY . /app/\n',
    '.dockerignore': '*\n!src\nsrc/*.key\n',
    '.env': 'API_KEY=secret',
    src: { 'main.ts': '', 'a.key': '', '.dockerignore': '' },
    node_modules: { big: { 'index.js': '' } },
  });
  const found = await paths(folder);
  const own = found.filter((path) => !path.startsWith('runtime/'));
  t.strictSame(own, ['Dockerfile', 'src/main.ts']);
  t.ok(found.includes('runtime/node/usr/bin/node'), 'the runtimes are not of the project');
});

t.test('the ignore file of a Dockerfile counts alone', async (t) => {
  const folder = t.testdir({
    Dockerfile: 'FROM scratch\nCOPY . /app/\n',
    'Dockerfile.dockerignore': '.env\n',
    '.dockerignore': 'main.ts\n',
    '.env': 'API_KEY=secret',
    'main.ts': '',
  });
  t.strictSame(await paths(folder), ['Dockerfile', 'main.ts']);
  writeFileSync(join(folder, 'Dockerfile.dockerignore'), '[');
  await t.rejects(paths(folder), { message: "Dockerfile.dockerignore: '[' is no pattern" });
});

t.test('a machine without busybox gives its own shell', async (t) => {
  const folder = t.testdir({ Dockerfile: 'FROM scratch\ncopy runtime/shell/ /\n', bin: {} });
  for (const name of ['sh', 'sed', 'ldd', 'bash']) {
    symlinkSync(`/usr/bin/${name}`, join(folder, 'bin', name));
  }
  const path = process.env['PATH'];
  process.env['PATH'] = [join(folder, 'bin'), join(folder, 'lacking')].join(delimiter);
  t.teardown(() => {
    process.env['PATH'] = path;
  });
  const found = (await paths(folder)).filter((name) => name.startsWith('runtime/shell/bin/'));
  t.strictSame(found, ['runtime/shell/bin/sh', 'runtime/shell/bin/sed']);
});

t.test('what holds no project', async (t) => {
  await t.rejects(buildContext(t.testdir()), /holds no Dockerfile; 'platform-node contract init'/);
  await t.rejects(buildContext(join(t.testdir(), 'nowhere')), /nowhere/);
});
