// Completion as a person gets it: each script in its own shell, bash and zsh on a terminal.
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { buildProgram } from '../../../src/cli/program.ts';
import { childEnvironment } from '../../child-environment.ts';
import { leftOut } from '../../left-out.ts';
import { run } from '../run.ts';

const without = (program: string): string | false =>
  spawnSync(program, ['--version']).error === undefined ? false : leftOut(program);

const output = promisify(execFile);

/** A folder with the completion script, a file and a folder. */
async function folderFor(t: Test, shell: string): Promise<string> {
  const folder = t.testdir({ 'my node.conf': '', nested: { 'inner.conf': '' } });
  const { stdout } = await run(['completion', shell]);
  mkdirSync(join(folder, 'functions'));
  writeFileSync(join(folder, 'functions/_platform-node'), stdout);
  return folder;
}

/** What the command is called with when these lines are typed, with a Tab for each `→`. */
async function typed(
  folder: string,
  shell: readonly string[],
  first: string,
  lines: readonly string[],
): Promise<string[][]> {
  const command = `platform-node() { printf '<%s>' "$@" > called-$((called++)); }`;
  const input = [command, first, ...lines.map((line) => line.replaceAll('→', '\t')), 'exit'];
  spawnSync('script', ['-qec', shell.join(' '), '/dev/null'], {
    cwd: folder,
    input: `${input.join('\n')}\n`,
    env: childEnvironment({ TERM: 'dumb', HOME: folder, called: '0' }),
    timeout: 60_000,
  });
  const { stdout } = await output('sh', ['-c', 'for f in called-*; do cat $f; echo; done'], {
    cwd: folder,
  });
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.slice(1, -1).split('><'));
}

const LINES = [
  'platform-node keyst→gen→',
  'platform-node tx send transfer --am→5 --rec→',
  'platform-node tx send 4 --am→',
  'platform-node network add --ro→permi→',
  'platform-node dev --consensus p→',
  'platform-node start --s→ my→',
  'platform-node start my→',
  'platform-node start nest→inn→',
];
const CALLS = [
  ['keystore', 'generate'],
  ['tx', 'send', 'transfer', '--amount', '5', '--recipient'],
  ['tx', 'send', '4', '--amount'],
  ['network', 'add', '--role', 'permissioner'],
  ['dev', '--consensus', 'po'],
  ['start', '--set', 'my node.conf'],
  ['start', 'my node.conf'],
  ['start', 'nested/inner.conf'],
];

t.test('bash', { skip: without('script') }, async (t) => {
  const folder = await folderFor(t, 'bash');
  const shell = ['bash', '--norc', '--noprofile', '-i'];
  t.strictSame(await typed(folder, shell, 'source functions/_platform-node', LINES), CALLS);
});

t.test('zsh, by its command or as a file of fpath', { skip: without('zsh') }, async (t) => {
  const sourced = await folderFor(t, 'zsh');
  const shell = ['zsh', '-f', '-i'];
  t.strictSame(await typed(sourced, shell, 'source functions/_platform-node', LINES), CALLS);
  const installed = await folderFor(t, 'zsh');
  const first = `fpath=($PWD/functions $fpath); autoload -U compinit; compinit -u`;
  t.strictSame(await typed(installed, shell, first, LINES), CALLS);
});

t.test('fish', { skip: without('fish') }, async (t) => {
  const folder = await folderFor(t, 'fish');
  const complete = async (line: string): Promise<string[]> => {
    const command = `source functions/_platform-node; complete -C '${line}'`;
    const env = childEnvironment({ HOME: folder });
    const words = ['--no-config', '-c', command];
    const { stdout } = await output('fish', words, { cwd: folder, env });
    return stdout.split('\n').filter((one) => one !== '');
  };
  t.strictSame(await complete('platform-node keyst'), ['keystore\tcreate, list and move accounts']);
  t.strictSame(await complete('platform-node tx send tran'), [
    'transfer\tMoves tokens to an address or alias.',
  ]);
  t.strictSame(await complete('platform-node tx send 4 --am'), ['--amount\t(required)']);
  t.strictSame(await complete('platform-node tx send data --se'), [
    '--sender\taddress of an account in the keystore of the node (required)',
  ]);
  t.strictSame(await complete('platform-node network add --role permi'), ['permissioner']);
  t.strictSame(await complete('platform-node dev --consensus p'), ['poa', 'pos']);
  t.strictSame(await complete('platform-node start my'), ['my node.conf']);
  t.strictSame(await complete('platform-node start --set nested/'), ['nested/inner.conf']);
  t.strictSame(await complete('platform-node completion '), [
    'bash\tyour shell',
    'fish\tyour shell',
    'zsh\tyour shell',
  ]);
});

t.test('every command and every option is offered', async (t) => {
  const folder = await folderFor(t, 'bash');
  // What Readline does: it looks up the function that `complete` registered and calls it.
  const complete = async (...words: string[]): Promise<string[]> => {
    const body = `source functions/_platform-node
      function=$(complete -p platform-node | sed 's/.*-F \\([^ ]*\\).*/\\1/')
      COMP_WORDS=(platform-node "$@"); COMP_CWORD=$#
      "$function" platform-node "\${!#}"; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await output('bash', ['-c', body, 'bash', ...words], { cwd: folder });
    return stdout.split('\n').filter((word) => word !== '');
  };
  const program = await buildProgram(undefined);
  const verbs = await complete('');
  for (const verb of program.commands) t.ok(verbs.includes(verb.name()), verb.name());
  t.strictSame(await complete('tx', 'ver'), ['verify']);
  t.strictSame(await complete('tx', 'verify', '--chain'), ['--chain-id']);
  t.strictSame(await complete('completion', ''), ['bash', 'zsh', 'fish']);
  t.strictSame(await complete('completion', '-'), ['--json', '--help']);
  t.strictSame(await complete('contract', 'init', '--template', ''), ['shell', 'typescript']);
  t.strictSame((await complete('start', '')).sort(), ['functions', 'my node.conf', 'nested']);
  t.ok((await complete('tx', 'send', 'transfer', '')).includes('--amount'));
});
