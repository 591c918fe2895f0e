/**
 * `npm run test:node -- RELEASE [what test:unit takes]`: the test run on another release of Node,
 * such as 24 or 26.0.0. The binary comes from the npm package `node`, as the pinned one does, and
 * stays in the cache of the user.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

const [release = '', ...rest] = process.argv.slice(2);
if (!/^\d+(\.\d+){0,2}$/.test(release)) {
  console.error('usage: npm run test:node -- RELEASE [test files], with a release such as 26');
  process.exit(2);
}

const binary = fetched(release);
const version = spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout.trim();
console.log(`Tests on Node ${version}, ${binary}`);
const args = ['--disable-warning=ExperimentalWarning', 'scripts/test.ts', ...rest];
const { status } = spawnSync(binary, args, {
  stdio: 'inherit',
  env: {
    ...process.env,
    PATH: `${dirname(binary)}${delimiter}${process.env['PATH'] ?? ''}`,
    // bin/platform-node runs on it too.
    NODE_BINARY: binary,
  },
});
process.exit(status ?? 1);

/** The binary of that release; the process ends where it cannot be fetched. */
function fetched(release: string): string {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folder = join(cache, 'platform-node', `node-${release}`);
  const binary = join(folder, 'node_modules/node/bin/node');
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  // Its install script fetches the binary; npm asks for a permission where it knows one.
  const manifest = { private: true, dependencies: { node: release }, allowScripts: { node: true } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: 'inherit',
  });
  if (status === 0 && existsSync(binary)) return binary;
  rmSync(folder, { recursive: true, force: true });
  console.error(
    `Node ${release} cannot be fetched: npm has not installed the package node@${release}`,
  );
  process.exit(1);
}
