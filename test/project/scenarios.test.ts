/**
 * Every numbered scenario of the protocol has a test with its number, or an issue for which it
 * waits.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { later } from '../system/e2e/later.ts';

const LAST = 113;

const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i);

/** What is shown. */
const required: ReadonlySet<number> = new Set(range(1, LAST - 1));

/** The others; a test may well be there before its issue is done. */
const waiting: readonly (readonly [numbers: readonly number[], issue: string])[] = [
  [[LAST], later.network],
];

/** Scenario → files with a test of it. A title may name it after some words of its own. */
function titled(): Map<number, string[]> {
  const folder = join(import.meta.dirname, '..');
  const found = new Map<number, string[]>();
  for (const file of globSync('**/*.ts', { cwd: folder })) {
    const text = readFileSync(join(folder, file), 'utf8');
    for (const [, number] of text.matchAll(/['"`][^'"`\n]*\bscenario (\d+):/g)) {
      found.set(Number(number), [...(found.get(Number(number)) ?? []), file]);
    }
  }
  return found;
}

const tests = titled();

t.test('every scenario that can be shown has a test', async (t) => {
  t.strictSame(
    [...required].filter((number) => !tests.has(number)),
    [],
  );
  t.strictSame(
    [...tests.keys()].filter((number) => number < 1 || number > LAST),
    [],
    'and no test names one that is not there',
  );
});

t.test('every other scenario names the issue it waits for', async (t) => {
  const listed = waiting.flatMap(([numbers]) => numbers);
  t.strictSame(
    [...required, ...listed].sort((a, b) => a - b),
    range(1, LAST),
    'each number stands in one of the lists',
  );
  for (const [numbers, issue] of waiting) {
    const missing = numbers.filter((number) => !tests.has(number));
    if (missing.length > 0) t.comment(`skipped until ${issue}: scenarios ${missing.join(', ')}`);
  }
});
