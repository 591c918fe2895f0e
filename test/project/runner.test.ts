// The runner of the tests (scripts/test.ts): whatever a test file does, the run continues, ends
// with correct counts and the names of failed tests, and leaves no process behind.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { waitingFiles } from '../../scripts/waiting-files.ts';
import { childEnvironment } from '../child-environment.ts';
import { eventually } from '../system/e2e/process.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The first signal has been handled by then, and what it ends is still ending. */
const AGAIN_MS = 8;
const START = "import t from 'tap';\nt.test('fine', async (t) => t.ok(true));\n";
/** Its processes live until they are killed: one in the group of the test, one in its own. */
const HANGS = `
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
t.test('hangs', () => {
  const pids = [false, true].map((detached) => spawn('sleep', ['600'], { detached }).pid);
  writeFileSync(new URL('pids', import.meta.url), pids.join('\\n'));
  return new Promise(() => {});
});`;
const FILES = {
  'a-hang.test.ts': START + HANGS,
  'b-busy.test.ts': `${START}
t.test('is busy', async () => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); });`,
  'c-kill.test.ts': `${START}
t.test('kills itself', async (t) => { t.ok(true); process.kill(process.pid, 'SIGKILL'); await new Promise(() => {}); });`,
  'd-throw.test.ts': `${START}
t.test('throws', async (t) => { await t.test('inside', async () => { throw new Error('oh'); }); });`,
  'e-import.test.ts': `${START}import './nowhere.ts';`,
  'f-fine.test.ts': `${START}
t.test('left out', { skip: 'no reason' }, () => {});`,
};
const folder = t.testdir(FILES);
const args = [join(ROOT, 'scripts/test.ts'), '--timeout=8', '--jobs=3'];
const files = Object.keys(FILES).map((name) => join(folder, name));

const runner = (...names: string[]) => runnerWith(args, names);

function runnerWith(
  own: readonly string[],
  names: readonly string[],
): Promise<{ code: unknown; stdout: string }> {
  const quiet = '--disable-warning=ExperimentalWarning';
  const options = { cwd: ROOT, env: childEnvironment() };
  return new Promise((resolve) => {
    execFile(process.execPath, [quiet, ...own, ...names], options, (cause, stdout) => {
      resolve({ code: cause?.code ?? 0, stdout });
    });
  });
}

function summary(log: string, status: number): Promise<{ code: unknown; stdout: string }> {
  const file = join(folder, 'log');
  writeFileSync(file, log);
  return new Promise((resolve) => {
    execFile(join(ROOT, '.ci/summary'), [file, String(status)], (cause, stdout) => {
      resolve({ code: cause?.code ?? 0, stdout });
    });
  });
}

const readPids = (): string => readFileSync(join(folder, 'pids'), 'utf8');
const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1) ?? '';

const { code, stdout } = await runner(...files);

t.test('the counts are true and every failed test has its name', async (t) => {
  t.equal(code, 1);
  t.equal(lastLine(stdout), 'All: 6 passed, 5 failed, 1 skipped, in 6 files');
  const [, failed = ''] = stdout.split('\nFailed:\n');
  const names = failed
    .split('\n')
    .filter((line) => line.includes('.test.ts'))
    .map((line) => line.replace(`${folder}/`, '').trim())
    .sort();
  t.strictSame(names, [
    'a-hang.test.ts: hangs > timeout!',
    'b-busy.test.ts: after fine: no end after 8 s',
    'c-kill.test.ts: kills itself: ended by SIGKILL',
    'd-throw.test.ts: throws > inside > oh',
    'e-import.test.ts: ended with code 1',
  ]);
});

t.test('no process is left of a test file that hung', async (t) => {
  const pids = readPids().split('\n').map(Number);
  t.equal(pids.length, 2);
  // A killed process is gone when its new parent has taken notice.
  for (const pid of pids) await eventually('its end', async () => !isAlive(pid) || undefined);
});

t.test('the build server says the same', async (t) => {
  t.match(await summary(stdout, 1), { code: 1, stdout: /^6 passed, 5 failed\n$/ });
});

t.test('it counts also where the runner itself was killed', async (t) => {
  const [until] = stdout.split('\nFailed:\n');
  const cut = await summary(String(until), 137);
  t.match(cut, { code: 1, stdout: /c-kill\.test\.ts: kills itself: ended by SIGKILL\n/ });
  t.equal(lastLine(cut.stdout), '6 passed, 6 failed');
  const none = await summary('npm error', 1);
  t.match(none, { code: 1, stdout: /no test ran\n0 passed, 1 failed\n$/ });
});

t.test('all is well', async (t) => {
  const fine = await runner(files.at(-1)!);
  t.equal(fine.code, 0);
  t.equal(lastLine(fine.stdout), 'All: 1 passed, 0 failed, 1 skipped, in 1 files');
  t.match(await summary(fine.stdout, 0), { code: 0, stdout: '1 passed, 0 failed\n' });
  const others = await summary(fine.stdout, 1);
  t.match(others, { code: 1, stdout: '1 passed, 1 failed\n' }, 'types, lint or layers failed');
});

t.test('what fails has failed: no file runs twice', async (t) => {
  const sometimes = join(folder, 'g-sometimes.test.ts');
  writeFileSync(
    sometimes,
    `import t from 'tap';
import { existsSync, writeFileSync } from 'node:fs';
const mark = new URL('ran', import.meta.url);
t.test('at the second time', async (t) => t.ok(existsSync(mark)));
writeFileSync(mark, '');`,
  );
  const once = await runner(sometimes, files[5]!);
  t.equal(once.code, 1);
  t.equal(lastLine(once.stdout), 'All: 1 passed, 1 failed, 1 skipped, in 2 files');
  t.match(await summary(once.stdout, 1), { code: 1, stdout: '1 passed, 1 failed\n' });
});

t.test('an error that nobody catches fails its test', async (t) => {
  const file = join(folder, 'h-stray.test.ts');
  writeFileSync(
    file,
    `import t from 'tap';
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
t.test('throws later', async () => {
  setTimeout(() => { throw new Error('in a timer'); }, 50);
  await sleep(500);
});
t.test('rejects', async (t) => {
  await t.test('inside', async () => {
    void sleep(50).then(() => Promise.reject(new Error('by itself')));
    await sleep(500);
  });
});
t.test('is over by then', async (t) => {
  await t.test('begins it', async (t) => {
    t.ok(true);
    setTimeout(() => { throw new Error('too late'); }, 100);
  });
  await t.test('goes on', async (t) => {
    await sleep(500);
    t.ok(true);
  });
});
t.test('is fine', async (t) => t.ok(true));`,
  );
  const { code, stdout } = await runner(file);
  t.equal(code, 1);
  const names = [...stdout.matchAll(/^ {2}✗ (.* > .*)$/gm)].map(([, name]) => name);
  t.strictSame(names, [
    'throws later > in a timer',
    'rejects > inside > by itself',
    'goes on > too late',
  ]);
});

t.test('an error at the end fails its file', async (t) => {
  const file = join(folder, 'i-exit.test.ts');
  const text = "process.on('exit', () => { throw new Error('in exit'); });";
  writeFileSync(file, `${START}${text}`);
  const { code, stdout } = await runner(file);
  t.equal(code, 1);
  t.match(stdout, /i-exit\.test\.ts: after fine: ended with code 1\n/);
});

t.test('each file runs once, also where one more begins on idle processors', async (t) => {
  const sleeping = Array.from({ length: 5 }, (_, i) => {
    const file = join(folder, `sleeping-${i}.test.ts`);
    writeFileSync(
      file,
      `import t from 'tap';
t.test('sleeps', async (t) => {
  await new Promise((resolve) => setTimeout(resolve, 3000));
  t.ok(true);
});`,
    );
    return file;
  });
  const { code, stdout } = await runnerWith(args.slice(0, 1), sleeping);
  t.equal(code, 0);
  const ran = [...stdout.matchAll(/^ok {3}(\S+):/gm)].map(([, file]) => file);
  t.strictSame(ran.sort(), sleeping);
  t.equal(lastLine(stdout), 'All: 5 passed, 0 failed, 0 skipped, in 5 files');
});

t.test('each file of which one more runs is there', async (t) => {
  t.strictSame(
    waitingFiles.filter((file) => !existsSync(join(ROOT, file))),
    [],
  );
  t.equal(new Set(waitingFiles).size, waitingFiles.length);
});

t.test('an interrupted run ends what is running and says so', async (t) => {
  const child = spawn(process.execPath, [...args.slice(0, 1), files[0]!, files[5]!, '--jobs=1'], {
    cwd: ROOT,
    env: childEnvironment(),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    text += more;
  });
  const closed = once(child, 'close');
  writeFileSync(join(folder, 'pids'), '');
  await eventually('its processes', async () => readPids() || undefined);
  const own = readPids().split('\n').map(Number);
  // A terminal sends a signal to npm and to the runner, npm passes it on, and people press Ctrl-C again.
  child.kill('SIGINT');
  await sleep(AGAIN_MS);
  child.kill('SIGINT');
  // The second one may end it just after its last line.
  const [code, signal] = await closed;
  t.ok(code === 1 || signal === 'SIGINT', `code ${code}, ${signal}`);
  for (const one of own) await eventually('its end', async () => !isAlive(one) || undefined);
  t.match(text, 'after fine: ended by SIGKILL');
  t.match(text, '1 of 2 test files did not run');
  t.equal(lastLine(text), 'All: 1 passed, 1 failed, 0 skipped, in 1 files');
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
