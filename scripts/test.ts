/**
 * `npm run test:unit -- [--timeout=SECONDS] [--jobs=N] [test files]`: runs the named test files, or
 * all of them and some once more as another kind of node (repeated-runs.ts), and reports at the end
 * how many assertions passed and which tests failed. Two files run at a time, beside them one of those
 * that hardly use a processor (waiting-files.ts), and one more where the processors are idle, unless
 * `--jobs` says how many. Files that compute begin from one end of the list, and files that wait for
 * rounds or other processes from the other, so that both kinds run side by side.
 *
 * It does so whatever happens in a test file. When one file exceeds its time, tap's own runner
 * drops the files that have not begun and prints no summary.
 */
import { globSync } from 'node:fs';
import { parseArgs } from 'node:util';
import packageJson from '../package.json' with { type: 'json' };
import { idleShare } from './idle-share.ts';
import { repeatedRuns } from './repeated-runs.ts';
import { type FileResult, TestFile, type TestRun } from './test-file.ts';
import { waitingFiles } from './waiting-files.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    timeout: { type: 'string', default: String(packageJson.tap.timeout) },
    jobs: { type: 'string' },
  },
});
const jobs = Number(values.jobs ?? packageJson.tap.jobs);
/** One more file begins after so long with this part of the processors idle. */
const IDLE_MS = 2000;
const IDLE_MIN = 0.3;
const timeoutMs = Number(values.timeout) * 1000;
const once = (file: string): TestRun => ({ file });
const files = globSync(packageJson.tap.include).sort();
const isOfNetworks = (file: string): boolean => file.startsWith('test/system/');
const all: readonly TestRun[] =
  positionals.length > 0
    ? positionals.map(once)
    : [
        ...files.filter((file) => !isOfNetworks(file)).map(once),
        ...repeatedRuns,
        ...files.filter(isOfNetworks).map(once),
      ];
const place = ({ file }: TestRun): number =>
  values.jobs === undefined ? waitingFiles.indexOf(file) : -1;
const waiting = all.filter((one) => place(one) >= 0).sort((a, b) => place(a) - place(b));
const others = all.filter((one) => place(one) < 0);
const first = (): TestRun | undefined => others.shift() ?? waiting.shift();
const last = (): TestRun | undefined => others.pop() ?? waiting.shift();
const nextWaiting = (): TestRun | undefined => waiting.shift();
const fileCount = all.length;
const running = new Set<TestFile>();
const results: FileResult[] = [];

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // More than once: npm passes on what a terminal sends to all, and people press Ctrl-C again. Without the
  // results of the files that end now, what they started would live on.
  process.on(signal, () => {
    waiting.length = 0;
    others.length = 0;
    for (const file of running) file.kill();
  });
}

async function run(one: TestRun): Promise<void> {
  const test = new TestFile(one, timeoutMs);
  running.add(test);
  const result = await test.result();
  running.delete(test);
  results.push(result);
  console.log(report(result));
}

async function work(next: () => TestRun | undefined): Promise<void> {
  for (let one = next(); one !== undefined; one = next()) await run(one);
}

/** One file at a time, each where the processors were idle just before. */
async function workWhileIdle(): Promise<void> {
  while (others.length + waiting.length > 0) {
    if ((await idleShare(IDLE_MS)) < IDLE_MIN) continue;
    const one = last();
    if (one !== undefined) await run(one);
  }
}

/** One line, which .ci/run also reads, and what is to be known about each failure. */
function report({ file, passed, failed, skipped, failures, seconds }: FileResult): string {
  const verdict = failed === 0 ? 'ok  ' : 'FAIL';
  const counts = `${passed} passed, ${failed} failed, ${skipped} skipped`;
  const line = `${verdict} ${file}: ${counts} (${seconds.toFixed(1)} s)`;
  const details = failures.map(
    (one) => `\n  ✗ ${one.name}\n${one.details.replaceAll(/^(?=.)/gm, '    ')}`,
  );
  return line + details.join('');
}

await Promise.all([
  ...Array.from({ length: jobs }, (_, n) => work(n % 2 === 0 ? first : last)),
  ...(values.jobs === undefined ? [work(nextWaiting), workWhileIdle()] : []),
]);
const sum = (what: 'passed' | 'failed' | 'skipped'): number =>
  results.reduce((total, result) => total + result[what], 0);
const left = fileCount - results.length;
const failed = results.filter((result) => result.failed > 0);
if (failed.length > 0) console.log('\nFailed:');
for (const { file, failures } of failed) {
  for (const { name } of failures) console.log(`  ${file}: ${name}`);
}
if (left > 0) console.log(`\n${left} of ${fileCount} test files did not run`);
if (fileCount === 0) console.log('There is no test file');
const total = `${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`;
console.log(`\nAll: ${total}, in ${results.length} files`);
process.exitCode = failed.length === 0 && left === 0 && fileCount > 0 ? 0 : 1;
