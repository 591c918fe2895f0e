// The path of a test says what it covers, as `test/concurrency/mutex.test.ts` covers
// `src/concurrency/mutex.ts`: a source file, the folder of that name, or as a whole the folder of its
// own. Tests of the whole program lie in `test/system`.
import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { files, parseText, read } from './sources.ts';

/** They cover the program as a whole, or the repository as text. */
const WHOLE = ['system', 'project', 'mutations', 'models', 'rest-cases'];
/** These mirror a folder of that name beside `src`. */
const BESIDE_SOURCES = ['bench', 'examples'];

const exists = (path: string): boolean => existsSync(new URL(`../../${path}`, import.meta.url));
const tests = files('test').filter((file) => file.endsWith('.test.ts'));
const sources = ['src', 'bench', 'examples'].flatMap(files);

t.test('a test lies at the path of what it covers', async (t) => {
  t.strictSame(
    tests.filter((file) => !isPlaced(file, exists)),
    [],
  );
});

t.test('a test with the name of one source file lies at its path', async (t) => {
  t.strictSame(
    tests.flatMap((file) => namesakeOf(file, sources)),
    [],
  );
});

t.test('a test that imports one source file alone lies at its path', async (t) => {
  t.strictSame(
    tests.flatMap((file) =>
      onlySourceOf(file, () => parseText(file, importsOf(read(file))), exists),
    ),
    [],
  );
});

t.test('the searches find what lies elsewhere, and nothing else', async (t) => {
  const all = ['src/a', 'src/a/b.ts', 'src/c', 'src/c/d', 'src/c/d/e.ts', 'bench/f'];
  const isFound = (file: string): boolean => isPlaced(file, (path) => all.includes(path));
  for (const name of ['a/b', 'a/whole', 'c/d', 'bench/f/g', 'system/h/i', 'models/j']) {
    t.ok(isFound(`test/${name}.test.ts`), name);
  }
  for (const name of ['b', 'b/a', 'a/b/whole', 'e/f', 'f/g', 'c/e/f']) {
    t.notOk(isFound(`test/${name}.test.ts`), name);
  }
  t.strictSame(namesakeOf('test/c/e.test.ts', all), ['test/c/e.test.ts covers src/c/d/e.ts']);
  t.strictSame(namesakeOf('test/c/d/e.test.ts', all), []);
  t.strictSame(namesakeOf('test/a/e.test.ts', all), []);

  const only = (text: string, name = 'a/whole') =>
    onlySourceOf(
      `test/${name}.test.ts`,
      () => parseText('b.ts', text),
      (path) => all.includes(path),
    );
  const of = (path: string): string => `import { b, type C } from '../../src/${path}.ts';`;
  t.strictSame(only(of('c/d')), ['test/a/whole.test.ts covers src/c/d.ts']);
  t.strictSame(only(of('c/d'), 'a/b'), []);
  t.strictSame(only(of('c/d') + of('a/c')), []);
  t.strictSame(only(`${of('c/d')} import { e } from '../e.ts';`), [], 'the other may do the rest');
  t.strictSame(only("import type { C } from '../../src/c/d.ts';"), []);
});

/** The path of what a test covers, without its ending. */
function coveredBy(file: string): string {
  const path = file.slice('test/'.length, -'.test.ts'.length);
  return BESIDE_SOURCES.includes(firstOf(path)) ? path : `src/${path}`;
}

function firstOf(path: string): string {
  return path.split('/')[0] ?? '';
}

function isPlaced(file: string, exists: (path: string) => boolean): boolean {
  const path = coveredBy(file);
  if (WHOLE.includes(firstOf(path.slice('src/'.length)))) return true;
  // What only tests use is tested beside it.
  const own = file.replace('.test.ts', '.ts');
  const folder = dirname(path);
  return [`${path}.ts`, path, own].some(exists) || (folder !== 'src' && exists(folder));
}

/** A source file of the same name deeper in the folder of a test that has none at its own path. */
function namesakeOf(file: string, all: readonly string[]): string[] {
  const path = coveredBy(file);
  if (all.some((source) => source === `${path}.ts` || source.startsWith(`${path}/`))) return [];
  const deeper = all.filter(
    (source) =>
      source.startsWith(`${dirname(path)}/`) && basename(source) === `${basename(path)}.ts`,
  );
  return deeper.length === 1 ? [`${file} covers ${deeper[0]}`] : [];
}

/** Up to the last import, since parsing the rest takes most of the time. */
function importsOf(text: string): string {
  const last = [...text.matchAll(/^(?:import\b|\} from ).*$/gm)].at(-1);
  return last === undefined ? '' : text.slice(0, last.index + last[0].length);
}

/** The one source that a test imports, where it lies elsewhere, and the test has no other file. */
function onlySourceOf(
  file: string,
  source: () => ts.SourceFile,
  exists: (path: string) => boolean,
): string[] {
  if (exists(`${coveredBy(file)}.ts`)) return [];
  const imported = source()
    .statements.filter(ts.isImportDeclaration)
    .filter(({ importClause }) => importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword)
    .map(({ moduleSpecifier }) => (moduleSpecifier as ts.StringLiteral).text)
    .filter((name) => name.startsWith('.') && name.endsWith('.ts'))
    .map((name) => new URL(name, `file:///${file}`).pathname.slice(1));
  const [only = ''] = imported;
  const isSource = /^(src|bench)\//.test(only);
  return imported.length === 1 && isSource ? [`${file} covers ${only}`] : [];
}
