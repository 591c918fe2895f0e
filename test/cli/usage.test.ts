// Usage, exit codes and speed of the command line.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import packageJson from '../../package.json' with { type: 'json' };
import { staleFiles } from '../../scripts/reference.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { jsonLines, run } from './run.ts';

const ENTRY = join(import.meta.dirname, '../../bin/platform-node.ts');
const REPORT =
  'data:text/javascript,process.on("exit",()=>{const{user,system}=process.cpuUsage();' +
  'process.stderr.write("CPU "+(user+system)/1000)})';
const HELP_MS_MAX = 120;

async function cpuMs(args: readonly string[]): Promise<number> {
  const flags = ['--disable-warning=ExperimentalWarning', '--import', REPORT];
  const { stderr } = await promisify(execFile)(process.execPath, [...flags, ...args]);
  return Number(/CPU ([\d.]+)/.exec(stderr)?.[1]);
}

const least = async (args: readonly string[]): Promise<number> => {
  const times = [];
  for (let i = 0; i < 7; i++) times.push(await cpuMs(args));
  return Math.min(...times);
};

t.test('--help is quick', async (t) => {
  const [help, bare] = [await least([ENTRY, '--help']), await least(['-e', '0'])];
  t.comment(`--help ${help} ms, bare node ${bare} ms`);
  // A machine on which even an empty program takes long is given the difference.
  t.ok(help < Math.max(HELP_MS_MAX, 4 * bare), `${help} ms of CPU`);
});

t.test('help and version', async (t) => {
  const none = await run([]);
  t.equal(none.code, 0);
  for (const verb of ['start', 'keystore', 'genesis', 'config', 'api-key', 'tx', 'doctor']) {
    t.match(none.stdout, new RegExp(`^  ${verb} `, 'm'));
  }
  t.match(none.stdout, /Exit codes: 0 done, 1 failed, 2 wrong usage, 38 /);
  t.match((await run(['tx', 'encode', '--help'])).stdout, /--chain-id/);
  t.match((await run(['help', 'keystore'])).stdout, /generate/);
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

t.test('completion scripts offer every command', async (t) => {
  const program = await buildProgram(undefined);
  const { stdout: script } = await run(['completion', 'bash']);
  const complete = async (...words: string[]) => {
    const list = words.map((word) => `'${word}'`).join(' ');
    const body = `${script}\nCOMP_WORDS=(platform-node ${list}); COMP_CWORD=${words.length}
      _platform_node; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await promisify(execFile)('bash', ['-c', body]);
    return stdout.split('\n').filter((word) => word !== '');
  };
  for (const verb of program.commands) {
    t.same(await complete(verb.name()), [verb.name()]);
  }
  t.same(await complete('tx', 'ver'), ['verify']);
  t.same(await complete('tx', 'verify', '--chain'), ['--chain-id']);
  const { stdout: fish } = await run(['completion', 'fish']);
  t.match(
    fish,
    /complete -c platform-node -n '__fish_seen_subcommand_from tx' -f -a 'verify'|-f -a verify/,
  );
  t.match((await run(['completion', 'zsh'])).stdout, /bashcompinit/);
});

t.test('example, manual pages and references are up to date', async (t) => {
  t.same(await staleFiles(), [], 'run: node scripts/reference.ts');
});
