// A folder is read as a whole, so few files lie in it loosely; more belong into folders of their own.
// Where each file is one declaration of a kind, one shows what all are.
import { dirname } from 'node:path';
import t from 'tap';
import { files } from './sources.ts';

const MAX_FILES = 24;

/** Types of transactions, routes of a group, rows of the benchmark. */
const KINDS = ['src/tx/types', 'src/rest/routes', 'bench/rows'];

t.test(`folders have at most ${MAX_FILES} files`, async (t) => {
  const counts = countsOf(['src', 'bin', 'scripts', 'bench'].flatMap(files));
  const over = [...counts].filter(([, count]) => count > MAX_FILES);
  t.strictSame(over, [], 'divide it by concept');
});

t.test('the count is of the files of a folder without its folders, and of no kind', async (t) => {
  const counts = countsOf(['src/a/b.ts', 'src/a/c/d.ts', 'src/a/e.ts', 'src/tx/types/f.ts']);
  t.strictSame(
    [...counts],
    [
      ['src/a', 2],
      ['src/a/c', 1],
    ],
  );
});

function countsOf(all: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const folder of all.map(dirname)) {
    if (!KINDS.includes(folder)) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return counts;
}
