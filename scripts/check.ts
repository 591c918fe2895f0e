/**
 * `npm test [-- TEST FILES]`: the static checks, and beside them the tests, which leave processors idle. The
 * checks have a low priority, so that no time limit of a test feels them, and print in one piece.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const STATIC = 'nice -n 10 npm run --silent check:static 2>&1';
const TESTS = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'test.ts')];

// A group of its own ends with all that it started.
const checks = spawn('sh', ['-c', STATIC], {
  stdio: ['ignore', 'pipe', 'inherit'],
  detached: true,
});
const tests = spawn(process.execPath, [...TESTS, ...process.argv.slice(2)], { stdio: 'inherit' });

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // More than once, as in test.ts.
  process.on(signal, () => {
    tests.kill(signal);
    const isRunning = checks.exitCode === null && checks.signalCode === null;
    if (checks.pid !== undefined && isRunning) process.kill(-checks.pid, 'SIGKILL');
  });
}

async function checked(): Promise<boolean> {
  const [output, [code]] = await Promise.all([text(checks.stdout), once(checks, 'exit')]);
  // The next line may be one that .ci/summary counts.
  console.log(output.trimEnd());
  return code === 0;
}

const [isClean, [code]] = await Promise.all([checked(), once(tests, 'exit')]);
if (!isClean) console.log('Failed: npm run check:static');
process.exitCode = isClean && code === 0 ? 0 : 1;
