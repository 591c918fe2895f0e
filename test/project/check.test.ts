// `npm test` (scripts/check.ts) fails where the static checks or the tests fail, says which, and ends both.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { childEnvironment } from '../child-environment.ts';
import { eventually } from '../system/e2e/process.ts';

/** The first signal has been handled by then, and what it ends is still ending. */
const AGAIN_MS = 8;
const CHECK = join(import.meta.dirname, '../../scripts/check.ts');
const tapOf = (body: string): string => `import t from 'tap';\n${body}\n`;
const noted = (file: string): string => `writeFileSync('${file}', String(process.pid));
setInterval(() => {}, 1000);`;
const folder = t.testdir({
  'good.test.ts': tapOf('t.ok(true);'),
  'bad.test.ts': tapOf('t.ok(false);'),
  'hangs.test.ts': tapOf(
    `import { writeFileSync } from 'node:fs';
t.test('hangs', () => new Promise(() => {}));
${noted('test')}`,
  ),
  clean: { 'package.json': scripts('echo nothing found') },
  wrong: { 'package.json': scripts('echo a type is wrong >&2; exit 3') },
  endless: {
    'package.json': scripts('node hangs.mjs'),
    'hangs.mjs': `import { writeFileSync } from 'node:fs';
${noted('static')}`,
  },
});

/** Static checks of a package of its own. */
function scripts(check: string): string {
  return JSON.stringify({ scripts: { 'check:static': check } });
}

function start(checks: string, test: string): { child: ChildProcess; ended: Promise<unknown[]> } {
  const args = ['--disable-warning=ExperimentalWarning', CHECK, join(folder, test)];
  const child = spawn(process.execPath, args, {
    cwd: join(folder, checks),
    env: childEnvironment(),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  return { child, ended: Promise.all([text(child.stdout), once(child, 'exit')]) };
}

async function check(checks: string, test: string): Promise<{ code: number; stdout: string }> {
  const [stdout, [code]] = (await start(checks, test).ended) as [string, [number]];
  return { code, stdout };
}

t.test('both are well', async (t) => {
  const { code, stdout } = await check('clean', 'good.test.ts');
  t.equal(code, 0, stdout);
  t.match(stdout, 'nothing found');
  t.match(stdout, 'All: 1 passed, 0 failed');
});

t.test('a static check fails', async (t) => {
  const { code, stdout } = await check('wrong', 'good.test.ts');
  t.equal(code, 1);
  t.match(stdout, 'a type is wrong');
  t.match(stdout, 'All: 1 passed, 0 failed');
  t.match(stdout, /Failed: npm run check:static\n$/);
});

t.test('a test fails', async (t) => {
  const { code, stdout } = await check('clean', 'bad.test.ts');
  t.equal(code, 1);
  t.match(stdout, 'All: 0 passed, 1 failed');
  t.notMatch(stdout, 'Failed: npm run');
});

t.test('an interrupted one leaves nothing behind', async (t) => {
  const { child, ended } = start('endless', 'hangs.test.ts');
  const own = await Promise.all(['static', 'test'].map(pidOf));
  // A terminal sends a signal to all, npm passes it on, and people press Ctrl-C again.
  child.kill('SIGINT');
  await sleep(AGAIN_MS);
  child.kill('SIGINT');
  child.kill('SIGTERM');
  const [stdout, [code, signal]] = (await ended) as [string, [number | null, string | null]];
  // The others may end it just after its last line.
  t.ok(code === 1 || signal !== null, `code ${code}, ${signal}`);
  t.match(stdout, 'All: 0 passed, 1 failed');
  t.match(stdout, 'ended by SIGKILL');
  for (const one of own) await eventually('its end', async () => !isAlive(one) || undefined);
});

/** Its number is in the file once it runs. */
function pidOf(name: string): Promise<number> {
  const file = join(folder, 'endless', name);
  const read = () => (existsSync(file) && Number(readFileSync(file, 'utf8'))) || undefined;
  return eventually(name, read);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
