// No function is longer than a page.
import t from 'tap';
import ts from 'typescript';
import { files, parse, parseText } from './sources.ts';

const MAX_LINES = 70;

t.test(`functions have at most ${MAX_LINES} lines`, async (t) => {
  const long = ['src', 'bin'].flatMap(files).flatMap((file) => longFunctions(parse(file)));
  t.strictSame(
    long.map(([place, count]) => `${place}: ${count}`),
    [],
    'cut it: a service is a class with short methods',
  );
});

t.test('the count finds each kind of function, and counts from its name to its end', async (t) => {
  const body = `{${'\n'.repeat(MAX_LINES)}}`;
  const found = (text: string) => longFunctions(parseText('a.ts', text)).map(([place]) => place);
  t.strictSame(longFunctions(parseText('a.ts', `/** Why. */ function f() ${body}`)), [
    ['a.ts f', 71],
  ]);
  t.strictSame(found(`const f = () => ${body};`), ['a.ts f']);
  t.strictSame(found(`class A { constructor() ${body} }`), ['a.ts A.constructor']);
  t.strictSame(found(`class A { get b() ${body} }`), ['a.ts A.b']);
  t.strictSame(found(`const a = { b: () => ${body}, c() ${body} };`), ['a.ts b', 'a.ts c']);
  t.strictSame(found(`function f() { return { g() ${body} } }`), ['a.ts f', 'a.ts f.g']);
  t.strictSame(found(`each(() => ${body});`), ['a.ts a function']);
  t.strictSame(found(`class A { b = 1; ${'\n'.repeat(MAX_LINES)} }`), []);
  t.strictSame(found(`function f() {${'\n'.repeat(MAX_LINES - 1)}}`), []);
});

/** Each function of more than the lines allowed: its place and its count of lines. */
function longFunctions(source: ts.SourceFile): [place: string, lines: number][] {
  const found: [place: string, lines: number][] = [];
  visit(source, []);
  return found;

  function visit(node: ts.Node, outer: readonly string[]): void {
    const isFunction = ts.isFunctionLike(node) && 'body' in node && node.body !== undefined;
    const path = isFunction || ts.isClassLike(node) ? [...outer, nameOf(node)] : outer;
    const count = lineOf(node.getEnd()) - lineOf(node.getStart()) + 1;
    if (isFunction && count > MAX_LINES) {
      found.push([`${source.fileName} ${path.join('.')}`, count]);
    }
    ts.forEachChild(node, (child) => visit(child, path));
  }

  function lineOf(position: number): number {
    return source.getLineAndCharacterOfPosition(position).line;
  }
}

function nameOf(node: ts.Node): string {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  const named = [node, node.parent].find((node) => 'name' in node && node.name !== undefined) as
    | ts.NamedDeclaration
    | undefined;
  return named?.name?.getText() ?? 'a function';
}
