// The published package: packed as `npm publish` would, installed elsewhere, and used from there.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import t from 'tap';
import packageJson from '../../package.json' with { type: 'json' };
import { childEnvironment } from '../child-environment.ts';
import { leftOut } from '../left-out.ts';

const ROOT = join(import.meta.dirname, '../..');
const MODULES = join(ROOT, 'node_modules');
const execute = promisify(execFile);
/** The pinned Node before the machine's own, whose npm is used. */
const path = `${MODULES}/node/bin:${MODULES}/.bin:${process.env['PATH']}`;
const env = childEnvironment({ PATH: path });

async function run(cwd: string, program: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute(program, args, { cwd, env });
  return stdout;
}

/** The checkout once more, so that building it disturbs nobody. */
const NOT_PACKED = new Set(['node_modules', 'dist', '.git', '.tap', 'test', 'bench']);

t.setTimeout(300_000);

const npm = await run(ROOT, 'npm', '--version').catch(() => undefined);
const skip = npm === undefined && leftOut('there is no npm to pack with');

t.test('the packed package', { skip }, async (t) => {
  const temporary = mkdtempSync(join(tmpdir(), 'package-'));
  t.teardown(() => rmSync(temporary, { recursive: true, force: true }));

  const source = join(temporary, 'source');
  mkdirSync(source);
  for (const name of readdirSync(ROOT)) {
    if (!NOT_PACKED.has(name)) cpSync(join(ROOT, name), join(source, name), { recursive: true });
  }
  symlinkSync(MODULES, join(source, 'node_modules'));
  await run(source, 'npm', 'pack', '--pack-destination', temporary);

  const place = join(temporary, 'installed');
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), '{ "private": true }\n');
  const tarball = join(temporary, `platform-node-${packageJson.version}.tgz`);
  // A connection to the registry that hangs is given up and tried again.
  const quick = ['--no-audit', '--no-fund', '--prefer-offline', '--fetch-timeout=20000'];
  await run(place, 'npm', 'install', ...quick, tarball);
  const command = join(place, 'node_modules/.bin/platform-node');
  const json = async (...args: string[]): Promise<Record<string, unknown>> =>
    JSON.parse(await run('/', command, ...args)) as Record<string, unknown>;

  t.match(await json('version', '--json'), { version: packageJson.version, node: /^22\./ });
  for (const name of ['configs/example.conf', 'man/platform-node.1', 'docs/reference/cli.md']) {
    t.ok(existsSync(join(place, 'node_modules/platform-node', name)), name);
  }

  const project = join(temporary, 'points');
  t.match(await json('contract', 'init', project), { name: 'points', folder: project });
  const network = join(temporary, 'network');
  t.match(await json('network', 'init', '--org', 'alpha=host', '--out', network), {
    members: [{ name: 'alpha' }],
  });

  const dev = ['dev', '--no-data', '--rest-port', '0', '--round', '1s', '--json'];
  const node = spawn(command, dev, { cwd: '/', env });
  t.teardown(() => node.kill('SIGKILL'));
  let messages = '';
  node.stderr.setEncoding('utf8').on('data', (text: string) => {
    messages += text;
  });
  const ended = once(node, 'close') as Promise<[code: number | null]>;
  const [line] = (await Promise.race([
    once(createInterface({ input: node.stdout }), 'line'),
    ended.then(([code]) => Promise.reject(new Error(`dev ended with ${code}: ${messages}`))),
  ])) as [string];
  const { nodes, accounts } = JSON.parse(line) as {
    nodes: { rest: string; apiKey: string }[];
    accounts: { address: string }[];
  };
  const [owner, other] = [accounts[0]!.address, accounts[1]!.address];
  const flags = ['--url', nodes[0]!.rest, '--api-key', nodes[0]!.apiKey];
  // Signed, checked in a verification thread, stored, mined.
  const transfer = ['--sender', owner, '--recipient', other, '--amount', '5', '--wait', '60'];
  const mined = await json('tx', 'send', 'transfer', ...transfer, ...flags);
  t.match(mined, { type: 4, amount: 5, height: Number });
  t.match(await json('block', String(mined['height']), ...flags), {
    transactions: [{ id: mined['id'] }],
  });
  const answers = await Promise.all(
    ['/api-docs', '/api-docs/swagger.json'].map((path) => fetch(nodes[0]!.rest + path)),
  );
  t.same(
    answers.map(({ status }) => status),
    [200, 200],
  );
  node.kill('SIGTERM');
  t.same((await ended)[0], 0, messages);
});
