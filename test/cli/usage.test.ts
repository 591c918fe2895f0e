// Usage and exit codes of the command line, and the modules that commands load.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import t, { type Test } from 'tap';
import packageJson from '../../package.json' with { type: 'json' };
import { staleFiles } from '../../scripts/reference.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { EXIT } from '../../src/cli/terminal/exit.ts';
import { childEnvironment } from '../child-environment.ts';
import { jsonLines, run } from './run.ts';

const BINARY = join(import.meta.dirname, '../../bin/platform-node');

/** Packages of which a command loads anything, as the runtime's record of executed code tells. */
async function packagesOf(t: Test, ...args: string[]): Promise<string[]> {
  const folder = t.testdir({});
  const env = childEnvironment({ NODE_V8_COVERAGE: folder });
  await promisify(execFile)(BINARY, args, { env });
  const records = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  const names = records
    .flatMap((text) => (JSON.parse(text) as { result: { url: string }[] }).result)
    .filter(({ url }) => /^file:.*\/node_modules\//.test(url))
    .flatMap(({ url }) => packagesIn(fileURLToPath(url)));
  return [...new Set(names)].sort();
}

/** The package of a file, or those of which a file of the bundle has modules. */
function packagesIn(path: string): readonly string[] {
  if (!path.includes('/node_modules/.cache/')) return [NAME.exec(path)?.[1] ?? path];
  const modules = readFileSync(path, 'utf8').matchAll(/^\/\/ node_modules\/.*/gm);
  return [...modules].map(([line]) => NAME.exec(line)?.[1] ?? line);
}

const NAME = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/;

// How long that takes is a row of the benchmark (`npm run bench -- help`).
t.test('no command loads what it does not use', async (t) => {
  // Makes the bundle, where a source has changed.
  await run(['version']);
  t.strictSame(await packagesOf(t, '--help'), ['commander']);
  t.strictSame(await packagesOf(t, 'tx', 'broadcast', '--help'), ['commander']);
});

t.test('a wrong value is told to who gave it, with what is right', async (t) => {
  const set = await run(['data', 'status', '--set', 'nonsense=1']);
  t.match(set, { code: 1, stderr: /--set: nonsense=1: unknown setting 'nonsense'/ });
  const round = await run(['network', 'init', '--org', 'a=host', '--round', '5', '--out', 'x']);
  t.match(round, { code: 2, stderr: /argument '5' is invalid\. a duration such as "1s"/ });
  t.match((await run(['dev', '--help'])).stdout, /such as 500ms or 2s/);
});

t.test('help and version', async (t) => {
  const none = await run([]);
  t.equal(none.code, 0);
  for (const verb of ['start', 'keystore', 'genesis', 'config', 'api-key', 'tx', 'doctor']) {
    t.match(none.stdout, new RegExp(`^  ${verb} `, 'm'));
  }
  t.match(none.stdout, /Exit codes: 0 done, 1 failed, 2 wrong usage, 3 /);
  const help = none.stdout.slice(none.stdout.indexOf('Exit codes:'));
  const page = readFileSync(join(import.meta.dirname, '../../docs/reference/cli.md'), 'utf8');
  for (const code of Object.values(EXIT)) {
    t.match(help, new RegExp(`[ :]${code} [a-z]`), `--help has ${code}`);
    t.match(page, `| ${code} | `, `the reference has ${code}`);
  }
  t.match((await run(['tx', 'encode', '--help'])).stdout, /--chain-id/);
  t.match((await run(['help', 'keystore'])).stdout, /generate/);
  for (const words of ['help tx send transfer', 'tx help send transfer', 'tx send help 4']) {
    t.match((await run(words.split(' '))).stdout, /^Usage: platform-node tx send transfer/, words);
  }
  t.match((await run(['help'])).stdout, /^Usage: platform-node \[/);
  const nothing = await run(['help', 'tx', 'nothing']);
  t.match(nothing, { code: 2, stderr: /There is no command 'tx nothing'/ });
  t.equal((await run(['--version'])).stdout, `platform-node v${packageJson.version}\n`);
  const [info] = jsonLines((await run(['version', '--json'])).stdout);
  t.equal(info?.['version'], packageJson.version);
  t.match(String(info?.['node']), /^22\./);
});

t.test('wrong usage is exit code 2', async (t) => {
  const unknown = await run(['keystor']);
  t.equal(unknown.code, 2);
  t.match(unknown.stderr, /unknown command 'keystor'[\s\S]*Did you mean keystore\?/);
  t.equal((await run(['version', '--nope'])).code, 2);
  t.equal((await run(['tx', 'encode'])).code, 2);
  t.equal((await run(['completion', 'tcsh'])).code, 2);
  const url = await run(['node', 'status', '--url', 'nowhere']);
  const stderr = "'nowhere' is no URL of a node, such as http://127.0.0.1:6862\n";
  t.match(url, { code: 2, stdout: '', stderr });
  t.match(await run(['tx', 'decode', '--chain-id', 'TT']), { code: 2, stderr: /chain id 'TT'/ });
  const variable = ['keystore', 'generate', '--amount', '1', '--password-env', 'NOT_SET', '-'];
  const input = 'accounts-generator { chain-id = T, wallet = "/nowhere/x", wallet-password = x }';
  t.match(await run(variable, { input }), { code: 2, stderr: 'The variable NOT_SET is not set\n' });
});

t.test('--json is taken everywhere', async (t) => {
  const commands = (at: Command): readonly Command[] =>
    at.commands.length === 0 ? [at] : at.commands.flatMap(commands);
  for (const one of commands(await buildProgram(undefined))) {
    t.ok(one.options.some(({ long }) => long === '--json') || one.name() === 'help', one.name());
  }
  const { stdout } = await run(['config', 'example', '--json']);
  t.equal(JSON.parse(stdout), (await run(['config', 'example'])).stdout);
});

t.test('a device without room gets no stack trace', async (t) => {
  const child = spawn(BINARY, ['config', 'schema'], {
    env: childEnvironment(),
    stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
  });
  let text = '';
  child.stderr!.setEncoding('utf8').on('data', (more: string) => {
    text += more;
  });
  const [code] = await once(child, 'close');
  t.equal(text, 'The answer cannot be written: the device is full\n');
  t.equal(code, 1);
});

t.test('start without a file', async (t) => {
  const { code, stdout, stderr } = await run(['start']);
  t.equal(code, 1);
  t.equal(stdout, '');
  t.equal(stderr, 'NO CONFIGURATION FILE WAS PROVIDED, ABORTING\n');
});

t.test('tools by their earlier names', async (t) => {
  const none = await run(['generator']);
  t.equal(none.code, 1);
  t.equal(none.stderr, 'No generator name given.\n');
  const unknown = await run(['generator', 'Nope', 'x']);
  t.equal(unknown.code, 1);
  t.equal(
    unknown.stderr,
    'Unknown generator Nope. Specify one of the following:\n' +
      ' * AccountsGeneratorApp\n * GenesisBlockGenerator\n * ApiKeyHash\n',
  );
  const signer = await run(['generator', 'GenesisBlockGenerator']);
  t.match(signer.stderr, /^Specify path to .* configuration file/);
  t.equal(signer.code, 1);
});

t.test('example, manual pages and references are up to date', async (t) => {
  t.same(await staleFiles(), [], 'run: node scripts/reference.ts');
});
