/**
 * `npm run test:mutations -- [--only=PART] [--files=FOLDER] [--workers=N] [--seconds=S] [--fresh]`:
 * takes out one guard after the other and runs the test files in which it acts, the shortest first,
 * until one fails. Writes docs/guards.md where all guards were looked at. Ends with 1 where a guard
 * has neither a test that notices nor a reason in reasons.ts.
 *
 * `only` is a part of the names of guards; test files outside of `files` are not measured.
 * `seconds` is how long the test files of one guard may take before it counts as a survivor; the
 * rest of them is tried in a later run with more. `fresh` forgets what earlier runs have found.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Copies, makeCopies, ROOT } from './copies.ts';
import { type Guard, nameOf } from './guards.ts';
import { reasons, reasonsInVain } from './reasons.ts';
import { Results } from './results.ts';
import { namedTests, tableOf } from './table.ts';
import { testFiles } from './test-files.ts';
import { type Trial, tryFile } from './trial.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    files: { type: 'string', default: 'test/' },
    workers: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '120' },
    fresh: { type: 'boolean', default: false },
  },
});

const MEASURE_MS_MAX = 600_000;
const SECONDS_LEAST = 20;
const SLOWER_MAX = 4;
const SLOW_SECONDS = 5;

const copies: Copies = makeCopies();
const { guards } = copies;
const results = new Results(values.fresh);
process.once('exit', copies.remove);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const chosen = guards.filter((guard) => nameOf(guard).includes(values.only));
const PAGE = join(ROOT, 'docs/guards.md');
// The test that the page names most likely still notices; only what is left needs a search.
const named = namedTests(readFileSync(PAGE, 'utf8'), chosen);
await inParallel(unmeasured([...new Set(named.values())]), measure);
await inParallel(open(), async (guard) => {
  const file = named.get(guard);
  if (file !== undefined) await breakGuard(guard, results.untried(guard, file));
});
if (open().some((guard) => !reasons.has(nameOf(guard)))) {
  await inParallel(unmeasured(testFiles(new Set(guards.map(({ file }) => file)))), measure);
  await inParallel(open(), async (guard) => {
    if (!(await breakGuard(guard, results.untried(guard)))) {
      console.log(`survives  ${nameOf(guard)}`);
    }
  });
}
report();

function open(): readonly Guard[] {
  return chosen.filter((guard) => results.killer(guard) === undefined);
}

function unmeasured(files: readonly string[]): readonly string[] {
  // Guards of sources that were none of these at an earlier measurement may act in it too.
  const later = new Set(files.flatMap((file) => results.sourcesSince(file, guards)));
  const reached = new Set(later.size === 0 ? [] : testFiles(later));
  return files.filter(
    (file) =>
      file.startsWith(values.files) &&
      (!results.isMeasured(file) ||
        (reached.has(file) && results.sourcesSince(file, guards).length > 0)),
  );
}

async function inParallel<T>(list: readonly T[], act: (one: T) => Promise<void>): Promise<void> {
  const waiting = list.values();
  const worker = async (): Promise<void> => {
    for (const one of waiting) await act(one);
  };
  await Promise.all(Array.from({ length: Number(values.workers) }, worker));
}

async function measure(file: string): Promise<void> {
  const { failure, seconds, acted } = await tryFile(copies, file, MEASURE_MS_MAX);
  if (failure !== undefined) {
    console.log(`${file} fails with all guards, and is left out: ${failure}`);
    return;
  }
  console.log(`${file}: ${acted.length} guards act, ${seconds.toFixed(1)} s`);
  const those = acted.flatMap((number) => guards[number] ?? []);
  results.measured(file, seconds, those, guards);
}

/** True where one of the files notices. */
async function breakGuard(guard: Guard, files: readonly string[]): Promise<boolean> {
  const number = guards.indexOf(guard);
  let left = Number(values.seconds);
  for (const file of files) {
    const usual = results.seconds(file);
    if (left < usual) break;
    const timeoutMs = Math.max(SECONDS_LEAST, usual * SLOWER_MAX) * 1000;
    const { failure, seconds } = await noticed(file, timeoutMs, number, usual > SLOW_SECONDS);
    left -= seconds;
    results.tried(guard, file, failure);
    if (failure === undefined) continue;
    console.log(`killed    ${nameOf(guard)}\n          by ${file}: ${failure}`);
    return true;
  }
  return false;
}

/** A slow file has waits, so a busy machine may fail it: it has to fail twice, as after a time-out. */
async function noticed(
  file: string,
  timeoutMs: number,
  number: number,
  isSlow: boolean,
): Promise<Trial> {
  const first = await tryFile(copies, file, timeoutMs, number);
  const isDoubtful = isSlow || first.seconds * 1000 >= timeoutMs;
  return first.failure !== undefined && isDoubtful
    ? tryFile(copies, file, timeoutMs, number)
    : first;
}

function report(): void {
  const survivors = chosen.filter((guard) => results.killer(guard) === undefined);
  const unexcused = survivors.filter((guard) => !reasons.has(nameOf(guard)));
  for (const guard of unexcused) {
    const acts = results.files(guard).length;
    const left = results.untried(guard).length;
    console.log(`no test and no reason: ${nameOf(guard)} (acts in ${acts} files, ${left} untried)`);
  }
  const vain = reasonsInVain(guards, (guard) => results.killer(guard) !== undefined);
  for (const problem of vain) console.log(problem);
  const killed = chosen.length - survivors.length;
  const excused = survivors.length - unexcused.length;
  console.log(
    `${chosen.length} guards: ${killed} killed, ${excused} excused, ${unexcused.length} left`,
  );
  if (values.only === '') writeFileSync(PAGE, tableOf(guards, results));
  process.exitCode = unexcused.length + vain.length === 0 ? 0 : 1;
}
