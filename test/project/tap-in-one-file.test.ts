// Test files load tap as one file (scripts/tap-in-one-file.cjs). It says the same as its packages.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { childEnvironment } from '../child-environment.ts';

const root = join(import.meta.dirname, '../..');
const folder = t.testdir({
  'file.test.mjs': `
import t from 'tap';
t.test('wrong', async (t) => {
  t.equal(1, 2);
  t.strictSame({ a: [1] }, { a: [2] });
});
t.test('rejected', async () => {
  throw new Error('on purpose');
});
t.test('late', async () => {
  setTimeout(() => {
    throw new Error('late');
  }, 5);
  await new Promise((resolve) => setTimeout(resolve, 50));
});
t.test('loaded', async (t) => {
  t.matchOnlyStrict({}, {});
  t.comment(new Error().stack.includes('tap.mjs') ? 'as one file' : 'as packages');
});
`,
});

function run(...preloaded: readonly string[]): Promise<string> {
  const preloads = [...preloaded, 'test-domain.cjs'].map(
    (name) => `--require=${join(root, 'scripts', name)}`,
  );
  const args = [...preloads, join(folder, 'file.test.mjs')];
  const env = { ...childEnvironment(), TAP: '1' };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env, cwd: root }, (_cause, stdout) => resolve(stdout));
  });
}

t.test('the same results, with the same places', async (t) => {
  const [one, packages] = await Promise.all([run('tap-in-one-file.cjs'), run()]);
  const settled = (output: string): string =>
    output.replaceAll(/time=[\d.]+ms/g, 'time').replaceAll(/# as .*/g, '# loaded');
  t.match(one, /# as one file/);
  t.match(packages, /# as packages/);
  t.match(packages, /fileName: .*file\.test\.mjs/);
  t.equal(settled(one), settled(packages));
});
