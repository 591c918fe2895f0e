// The tests and the types of the TypeScript example, as its author runs them.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { childEnvironment } from '../child-environment.ts';

const root = join(import.meta.dirname, '../..');
const cwd = join(root, 'examples/typescript');

t.test('its tests', async (t) => {
  // With NODE_TEST_CONTEXT or tap's own variables it would report to the parent.
  const env = childEnvironment();
  const { status, stdout } = spawnSync(process.execPath, ['--test'], {
    cwd,
    env,
    encoding: 'utf8',
  });
  t.equal(status, 0, stdout);
  t.match(stdout, /pass 3\n/);
});

t.test('its types', async (t) => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { status, stdout } = spawnSync(process.execPath, [tsc], { cwd, encoding: 'utf8' });
  t.equal(status, 0, stdout);
});
