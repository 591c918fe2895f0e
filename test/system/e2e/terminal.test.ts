// Commands on a terminal: what its end does to them. `script` makes the terminal.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { childEnvironment } from '../../child-environment.ts';
import { jsonLines, run } from '../../cli/run.ts';
import { leftOut } from '../../left-out.ts';
import { startNode, temporaryFolder } from './dev-node.ts';
import { API_KEY, networkFolder, OWNER, writeKeystore } from './network-folder.ts';
import { COMMAND, eventually } from './process.ts';

const skip = spawnSync('script', ['--version']).error === undefined ? false : leftOut('script');

interface OnTerminal {
  readonly terminal: ChildProcess;
  /** What the command has shown. */
  shown(): string;
  /** The process of the command itself. */
  pid(): number;
}

/** The words may contain no quotes. */
function onTerminal(t: Test, words: readonly string[], env: Record<string, string>): OnTerminal {
  const line = `echo pid $$; exec ${[COMMAND, ...words].join(' ')}`;
  const terminal = spawn('script', ['-qefc', line, '/dev/null'], { env: childEnvironment(env) });
  let text = '';
  terminal.stdout.setEncoding('utf8').on('data', (part) => {
    text += part;
  });
  const pid = () => Number(/^pid (\d+)/.exec(text)?.[1]);
  t.teardown(() => {
    terminal.kill('SIGKILL');
    if (isRunning(pid())) process.kill(pid(), 'SIGKILL');
  });
  return { terminal, shown: () => text, pid };
}

/** True also for one that has ended and whose end nobody has taken note of. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

t.test('blocks of dev take one line of the terminal', { skip }, async (t) => {
  const words = ['dev', '--rest-port', '0', '--no-data', '--round', '300ms'];
  const { shown } = onTerminal(t, words, { TMPDIR: temporaryFolder(t) });
  await eventually('some blocks', () => /block 6, 0 transactions/.test(shown()) || undefined);
  const screen = shown().slice(shown().indexOf('Ctrl-C stops it'));
  t.match(screen, '\r\x1b[K  block 5, 0 transactions\r\x1b[K  block 6, ');
  t.ok(screen.split('\n').length < 5, 'the keys and addresses stay on the screen');
});

t.test('dev ends with its terminal and leaves nothing behind', { skip }, async (t) => {
  for (const nodes of ['1', '2']) {
    const folder = temporaryFolder(t);
    const words = ['dev', '--nodes', nodes, '--rest-port', '0', '--data-port', '0'];
    const { terminal, shown, pid } = onTerminal(t, words, { TMPDIR: folder });
    await eventually('a running network', () => shown().includes('Ctrl-C stops it') || undefined);
    const rest = /REST API +(\S+)/.exec(shown())![1]!;
    t.equal((await fetch(`${rest}/health/live`)).status, 200);
    terminal.kill('SIGKILL');
    await eventually('its end', () => !isRunning(pid()) || undefined);
    await t.rejects(fetch(`${rest}/health/live`), `${nodes}: no node goes on`);
    t.strictSame(readdirSync(folder), [], 'its folder is removed');
  }
});

t.test('top draws one screen again and again, and gives the old one back', { skip }, async (t) => {
  const { config } = await networkFolder(t, {
    more: 'metrics { enable = yes, bind-address = "127.0.0.1", port = 0 }',
  });
  const node = await startNode(t, config, { apiKey: API_KEY });
  const { metrics, rest } = JSON.parse(/.*"event":"node.started".*/.exec(node.log())![0]);
  const url = ['-u', `http://${rest}`];
  const words = ['top', ...url, '--metrics', metrics, '--interval', '0.2'];
  const { shown, pid } = onTerminal(t, words, {});
  const drawn = (): number => shown().split('\x1b[H').length - 1;
  await eventually('three screens', () => drawn() >= 3 || undefined);
  process.kill(pid(), 'SIGINT');
  await eventually('its end', () => !isRunning(pid()) || undefined);
  await eventually('the old screen', () => shown().includes('\x1b[?25h\x1b[?1049l') || undefined);
  const [before = '', ...screens] = shown().split('\x1b[H');
  t.match(before, '\x1b[?1049h\x1b[?25l');
  for (const part of ['Height', 'nobody votes', 'Miner ', 'Requests', OWNER.address]) {
    t.match(screens[1], part);
  }
  t.ok(screens.every((screen) => screen.split('\n').length <= 24));

  const piped = await run([...words, '--count', '2']);
  t.equal(piped.code, 0, piped.stderr);
  const lines = jsonLines(piped.stdout);
  t.equal(lines.length, 2);
  t.match(lines[1], {
    height: Number,
    health: { status: 'ready' },
    recent: { miners: [{ address: OWNER.address }] },
    metrics: { residentBytes: Number },
  });
  await node.stop();
  const gone = await run(['top', ...url, '--count', '1']);
  t.equal(gone.code, 1);
  t.match(jsonLines(gone.stdout), [{ error: /No node answers at/ }]);
  t.equal((await run(['top', '-u', 'nowhere', '--count', '1'])).code, 2);
});

t.test('the end of the input at a question for a password', { skip }, async (t) => {
  const { config, dir } = await networkFolder(t);
  rmSync(join(dir, 'keystore.dat'));
  await writeKeystore(join(dir, 'keystore.dat'), [{ ...OWNER, password: 'secret' }]);
  const { terminal, shown } = onTerminal(t, ['start', config], {});
  await eventually('the question', () => shown().includes('Enter the password') || undefined);
  // It may end between the look and the write.
  terminal.stdin?.on('error', () => {});
  // Again and again: what comes while the terminal is being prepared may be lost.
  const code = await eventually('its end', () => {
    if (terminal.exitCode === null) terminal.stdin?.write('\x04');
    return terminal.exitCode ?? undefined;
  });
  t.equal(code, 61);
  t.match(shown(), /PLATFORM_NODE_OWNER_PASSWORD/);
});
