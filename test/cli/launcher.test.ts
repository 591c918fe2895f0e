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
import { pathToFileURL } from 'node:url';
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
  for (const name of ['bin', 'src', 'scripts/bundle.ts', 'package.json']) {
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

/** All that a bundle needs. */
const packages = (): string[] =>
  readdirSync(join(ROOT, 'node_modules')).filter((name) => name !== '.cache');

const nameVersion = (checkout: string, version: string): void => {
  const source = join(checkout, 'src/cli/commands/version.ts');
  const was = readFileSync(source, 'utf8');
  writeFileSync(
    source,
    was.replace(/const version: string = .*/, `const version: string = '${version}';`),
  );
};

t.test('a bundle is kept, used again, made anew where a source changes', async (t) => {
  const checkout = copyOf(t, packages());
  const binary = join(checkout, 'bin/platform-node');
  t.match(await versionFrom(binary, checkout, TOOLS), expected);
  const folder = join(checkout, 'node_modules/.cache/platform-node');
  const bundles = (): string[] =>
    readdirSync(folder).filter((name) => /^[0-9a-f-]{36}$/.test(name));
  const [first] = bundles();
  t.match(await versionFrom(binary, '/', TOOLS), expected);
  t.strictSame(bundles(), [first], 'used again');
  nameVersion(checkout, '9.9.9');
  t.match(await versionFrom(binary, '/', TOOLS), { version: '9.9.9', warnings: '' });
  t.equal(bundles().length, 2, 'a process may still run the earlier one');

  const list = join(folder, readdirSync(folder).find((name) => name.endsWith('.json')) ?? '');
  writeFileSync(list, '{"root":');
  mkdirSync(`${list}.lock`);
  t.match(await versionFrom(binary, '/', TOOLS), { version: '9.9.9', warnings: '' }, 'sources');
  t.equal(bundles().length, 2, 'while another process makes one');
  rmSync(`${list}.lock`, { recursive: true });
  t.match(await versionFrom(binary, '/', TOOLS), { version: '9.9.9' }, 'a list that is no list');
  t.equal(bundles().length, 3);

  rmSync(join(checkout, 'node_modules/.cache'), { recursive: true });
  writeFileSync(join(checkout, 'node_modules/.cache'), 'no folder');
  nameVersion(checkout, '9.9.10');
  t.match(await versionFrom(binary, '/', TOOLS), { version: '9.9.10' }, 'nowhere to keep it');
});

t.test('where the bundler is missing, Node runs the sources', async (t) => {
  const checkout = copyOf(t, ['commander', 'node']);
  const binary = join(checkout, 'bin/platform-node');
  t.match(await versionFrom(binary, checkout, TOOLS), expected);
  nameVersion(checkout, '9.9.9');
  t.match(await versionFrom(binary, '/', TOOLS), { version: '9.9.9', warnings: '' });
});

t.test('threads run the bundle of their process', async (t) => {
  const checkout = copyOf(t, packages());
  const node = join(checkout, 'node_modules/node/bin/node');
  const path = join(checkout, 'src/cli/workers/pattern-worker.ts');
  const thread = `import(${JSON.stringify(pathToFileURL(path).href)}).then(() => {
    const { parentPort } = require('node:worker_threads');
    parentPort.postMessage(process.moduleLoadList.some((name) => name.includes('amaro')));
    process.exit();
  })`;
  const strips = async (): Promise<string> => {
    const process = `const { Worker } = require('node:worker_threads');
      require('node:fs').appendFileSync(${JSON.stringify(path)}, '\\n');
      new Worker(${JSON.stringify(thread)}, { eval: true }).on('message', (said) => typeof said === 'boolean' && console.log(said))`;
    const args = ['--require', join(checkout, 'bin/load-bundle.cjs'), '--eval', process];
    return (await execute(node, args, { cwd: checkout, env: childEnvironment() })).stdout.trim();
  };
  t.equal(await strips(), 'false', 'even where a source has changed since');
  rmSync(join(checkout, 'node_modules/.cache'), { recursive: true });
  writeFileSync(join(checkout, 'node_modules/.cache'), 'no folder');
  t.equal(await strips(), 'true', 'what strips takes 20 MB; here nothing can be kept');
});

t.test('with the packages of production alone it says what is missing', async (t) => {
  const checkout = copyOf(t, ['node']);
  await t.rejects(execute(join(checkout, 'bin/platform-node'), ['--help'], { cwd: '/' }), {
    code: 1,
    stdout: '',
    stderr: /^platform-node: run `npm ci` in the checkout without --omit=dev .*\n$/,
  });
});

const ALL = ['--v8-pool-size=0'];

t.test('flags of Node: fewer collectors for all, a small young generation for dev', async (t) => {
  const checkout = copyOf(t, ['commander']);
  const says = '#!/bin/sh\n[ "$1" = --version ] && echo v22.20.0 || printf "%s\\n" "$@"\n';
  const folder = t.testdir({ node: says });
  chmodSync(join(folder, 'node'), 0o755);
  const env = childEnvironment({ PATH: `${folder}:${TOOLS}` });
  const flagsOf = async (...args: string[]): Promise<string[]> => {
    const { stdout } = await execute(join(checkout, 'bin/platform-node'), args, { env });
    return stdout.split('\n').filter((line) => /^--(max-semi-space|v8-pool)/.test(line));
  };
  t.strictSame(await flagsOf('dev', '--keep'), [...ALL, '--max-semi-space-size=4']);
  t.strictSame(await flagsOf('start', 'dev'), ALL);
  t.strictSame(await flagsOf(), ALL);
});

t.test('SIGUSR1 opens no debugger', async (t) => {
  const args = [join(ROOT, 'bin/platform-node.ts'), 'tx', 'encode', '--chain-id', 'T', '--ndjson'];
  const quiet = '--disable-warning=ExperimentalWarning';
  const child = spawn(process.execPath, [quiet, ...args], { env: childEnvironment() });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const answer = async (): Promise<void> => {
    child.stdin.write('{}\n');
    await once(child.stdout, 'data');
  };
  await answer();
  child.kill('SIGUSR1');
  await answer();
  child.stdin.end();
  t.same(await once(child, 'close'), [1, null]);
  t.equal(said, '');
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
