/** The npm tarball, installed for all users below a prefix, and used from there. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';
import packageJson from '../../../package.json' with { type: 'json' };
import { temporaryFolder } from '../e2e/dev-node.ts';
import { environment, output } from './programs.ts';

/** A connection to the registry that hangs is given up and tried again. */
const QUICK = ['--no-audit', '--no-fund', '--prefer-offline', '--fetch-timeout=20000'];

type Json = Record<string, unknown>;

export async function globalCommand(t: Test, tarball: string): Promise<void> {
  const temporary = temporaryFolder(t);
  const prefix = join(temporary, 'usr/local');
  mkdirSync(prefix, { recursive: true });
  await output('/', 'npm', ['install', '--global', `--prefix=${prefix}`, ...QUICK, tarball]);
  const command = join(prefix, 'bin/platform-node');
  const json = async (...args: string[]): Promise<Json> =>
    JSON.parse(await output('/', command, args)) as Json;

  t.match(await json('version', '--json'), { version: packageJson.version, node: /^22\./ });
  for (const name of ['configs/example.conf', 'man/platform-node.1', 'docs/reference/cli.md']) {
    t.ok(existsSync(join(prefix, 'lib/node_modules/platform-node', name)), name);
  }
  const project = join(temporary, 'points');
  t.match(await json('contract', 'init', project), { name: 'points', folder: project });
  const network = join(temporary, 'network');
  t.match(await json('network', 'init', '--org', 'alpha=host', '--out', network), {
    members: [{ name: 'alpha' }],
  });
  await devNode(t, command, json);
}

/** A transfer is signed, checked in a verification thread, stored, mined. */
async function devNode(
  t: Test,
  command: string,
  json: (...args: string[]) => Promise<Json>,
): Promise<void> {
  const dev = ['dev', '--no-data', '--rest-port', '0', '--round', '1s', '--json'];
  const node = spawn(command, dev, { cwd: '/', env: environment });
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
}
