// bin/platform-node of a checkout: called from any folder, with any Node on the machine.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import packageJson from '../../package.json' with { type: 'json' };
import { childEnvironment } from '../child-environment.ts';

const ROOT = join(import.meta.dirname, '../..');
const BINARY = join(ROOT, 'bin/platform-node');
const execute = promisify(execFile);

async function versionFrom(command: string, cwd: string, path: string): Promise<unknown> {
  const env = childEnvironment({ PATH: path });
  const { stdout, stderr } = await execute(command, ['version', '--json'], { cwd, env });
  const { version, node } = JSON.parse(stdout) as Record<string, unknown>;
  return { version, node, warnings: stderr };
}

const TOOLS = '/usr/bin:/bin';
const expected = { version: packageJson.version, node: /^22\./, warnings: '' };

/** A folder with a `node` that says it is of this version. */
function olderNode(t: Test, version: string): string {
  const folder = t.testdir({ node: `#!/bin/sh\necho ${version}\n` });
  chmodSync(join(folder, 'node'), 0o755);
  return folder;
}

t.test('from any folder, through a symlink, on a machine with an older Node', async (t) => {
  const path = `${olderNode(t, 'v20.20.2')}:${TOOLS}`;
  const links = t.testdir({ deep: {} });
  symlinkSync(BINARY, join(links, 'direct'));
  symlinkSync('direct', join(links, 'indirect'));
  t.match(await versionFrom(BINARY, '/', path), expected);
  t.match(await versionFrom('bin/platform-node', ROOT, path), expected);
  t.match(await versionFrom('./platform-node', join(ROOT, 'bin'), path), expected);
  t.match(await versionFrom('../direct', join(links, 'deep'), path), expected);
  t.match(await versionFrom('./indirect', links, path), expected);
  t.match(await versionFrom('indirect', '/', `${links}:${path}`), expected);
  t.match(await versionFrom('platform-node', '/', `${join(ROOT, 'bin')}:${path}`), expected);
});

/** A checkout with the least that `version` needs, in a folder with an awkward name. */
function copyOf(t: Test, packages: readonly string[]): string {
  const checkout = mkdtempSync(join(tmpdir(), "a folder's #1 100% "));
  t.teardown(() => rmSync(checkout, { recursive: true, force: true }));
  mkdirSync(join(checkout, 'node_modules'));
  for (const name of ['bin', 'src', 'package.json']) {
    cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
  }
  for (const name of packages) {
    symlinkSync(join(ROOT, 'node_modules', name), join(checkout, 'node_modules', name));
  }
  return checkout;
}

t.test('without `npm ci` it says what is missing', async (t) => {
  const checkout = copyOf(t, ['commander']);
  const binary = join(checkout, 'bin/platform-node');
  const path = `${olderNode(t, 'v22.17.0')}:${TOOLS}`;
  await t.rejects(versionFrom(binary, '/', path), {
    code: 1,
    stderr:
      'platform-node: Node 22 (22.18 or newer) is needed; `npm ci` in the checkout brings it\n',
  });
});

t.test('stripped sources are kept, used again, and not needed', async (t) => {
  const checkout = copyOf(t, ['commander', 'node']);
  const binary = join(checkout, 'bin/platform-node');
  t.match(await versionFrom(binary, checkout, TOOLS), expected);
  const source = join(checkout, 'src/cli/commands/version.ts');
  const folder = join(checkout, 'node_modules/.cache/platform-node');
  const kept = readdirSync(folder).filter((name) => name.endsWith('.ts.js'));
  const sources = readdirSync(join(checkout, 'src'), { recursive: true, encoding: 'utf8' });
  t.equal(kept.length, sources.filter((name) => name.endsWith('.ts')).length + 1, 'all at once');
  writeFileSync(
    source,
    readFileSync(source, 'utf8').replace(
      'const version: string = packageJson.version',
      "const version: string = '9.9.9'",
    ),
  );
  t.match(await versionFrom(binary, '/', TOOLS), { version: '9.9.9' }, 'a change is seen at once');

  rmSync(join(checkout, 'node_modules/.cache'), { recursive: true });
  writeFileSync(join(checkout, 'node_modules/.cache'), 'no folder');
  t.match(await versionFrom(binary, '/', TOOLS), { version: '9.9.9' }, 'nowhere to keep them');
});

t.test('another process strips the sources', async (t) => {
  const checkout = copyOf(t, ['commander', 'node']);
  const node = join(checkout, 'node_modules/node/bin/node');
  const look = `import('./src/cli/commands/version.ts').then(() =>
    console.log(process.moduleLoadList.filter((name) => name.includes('amaro')).length))`;
  const loaded = async (): Promise<string> => {
    const args = ['--require', './bin/strip-cache.cjs', '--eval', look];
    return (await execute(node, args, { cwd: checkout, env: childEnvironment() })).stdout.trim();
  };
  t.equal(await loaded(), '0', 'what strips takes 20 MB');
  rmSync(join(checkout, 'node_modules/.cache'), { recursive: true });
  writeFileSync(join(checkout, 'node_modules/.cache'), 'no folder');
  t.not(await loaded(), '0', 'here, where nothing can be kept');
});

t.test('flags of Node: fewer collectors for all, a small young generation for dev', async (t) => {
  const checkout = copyOf(t, []);
  const says = '#!/bin/sh\n[ "$1" = --version ] && echo v22.20.0 || printf "%s\\n" "$@"\n';
  const folder = t.testdir({ node: says });
  chmodSync(join(folder, 'node'), 0o755);
  const env = childEnvironment({ PATH: `${folder}:${TOOLS}` });
  const flagsOf = async (...args: string[]): Promise<string[]> => {
    const { stdout } = await execute(join(checkout, 'bin/platform-node'), args, { env });
    return stdout.split('\n').filter((line) => /^--(max-semi-space|v8-pool)/.test(line));
  };
  t.strictSame(await flagsOf('dev', '--keep'), ['--v8-pool-size=0', '--max-semi-space-size=4']);
  t.strictSame(await flagsOf('start', 'dev'), ['--v8-pool-size=0']);
  t.strictSame(await flagsOf(), ['--v8-pool-size=0']);
});

t.test('signals and exit codes are those of the program', async (t) => {
  const child = spawn(BINARY, ['tx', 'encode', '--chain-id', 'T', '--ndjson'], {
    env: childEnvironment(),
  });
  child.stdin.write('{}\n');
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  t.same(await once(child, 'close'), [null, 'SIGTERM']);
  const usage = spawn(BINARY, ['nonsense'], { stdio: 'ignore', env: childEnvironment() });
  t.same(await once(usage, 'close'), [2, null]);
});
