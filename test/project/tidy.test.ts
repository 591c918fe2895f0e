// House rules that a linter cannot see. The source is parsed, so that comments, texts and types may
// mention what the code must not use.
import { basename } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { files, parse, parseText, read } from './sources.ts';

const maxLines = 400;
const MAX_FUNCTION_LINES = 70;
const longFiles = ['src/ledger/tables.ts']; // one list of everything that is stored

/** Reached through ports (src/base/ports), so that a simulation can replace them. */
const bannedGlobals = new Set(['Date', 'fetch', 'process', 'console', 'setTimeout', 'setInterval']);
const impure = /^src\/(adapters|cli)\//;

/** Generic plumbing, where the parts are typed and the sum cannot be: one alias in each of these. */
const anyAllowed = [
  'src/codec/struct.ts',
  'src/node/config/setting.ts',
  'src/tx/compiled-layout.ts',
  'src/tx/transaction.ts',
];

/** Route files are named after the first part of their paths, and one of these is `/utils`. */
const routes = /^src\/rest\/routes\//;
const vagueNames = /^(utils?|helpers?|misc|common|stuff)\.ts$/;
const unfinished = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'].join('|')})\\b`);

/** These read errors of a library, or of the engine, that tell their kind in the text alone. */
const foreignTexts = [
  'src/adapters/containers/engine-client.ts',
  'src/adapters/database/postgres.ts',
  'src/adapters/hocon.ts',
  'src/adapters/libp2p/transport.ts',
  'src/adapters/lmdb/environment.ts',
  'src/base/faults/own-fault.ts',
];

const sources = files('src');
const everything = [...sources, ...['bin', 'scripts', 'test', 'bench'].flatMap(files)];

t.test('files are short', async (t) => {
  const long = sources.filter((file) => lines(file).length > maxLines);
  t.strictSame(
    long.filter((file) => !longFiles.includes(file)),
    [],
    `at most ${maxLines} lines; split by concept`,
  );
});

t.test(`functions have at most ${MAX_FUNCTION_LINES} lines`, async (t) => {
  const long = ['src', 'bin'].flatMap(files).flatMap((file) => longFunctions(parse(file)));
  t.strictSame(
    long.map(([place, count]) => `${place}: ${count}`),
    [],
    'cut it: a service is a class with short methods',
  );
});

t.test('the count finds each kind of function, and counts from its name to its end', async (t) => {
  const body = `{${'\n'.repeat(MAX_FUNCTION_LINES)}}`;
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
  t.strictSame(found(`class A { b = 1; ${'\n'.repeat(MAX_FUNCTION_LINES)} }`), []);
  t.strictSame(found(`function f() {${'\n'.repeat(MAX_FUNCTION_LINES - 1)}}`), []);
});

t.test('files are named after what they hold', async (t) => {
  t.strictSame(
    everything.filter((file) => vagueNames.test(basename(file)) && !routes.test(file)),
    [],
  );
});

t.test('nothing is left for later', async (t) => {
  t.strictSame(places(everything, unfinished), []);
});

t.test('time, chance and the process are reached through ports', async (t) => {
  const pure = sources.filter((file) => !impure.test(file));
  t.strictSame(
    pure.flatMap((file) => globalsOf(parse(file))),
    [],
  );
});

t.test('nothing imports what would load more than it says', async (t) => {
  t.strictSame(importing('node:http'), [], 'src/adapters/http/node-own.ts has it without fetch');
  t.strictSame(importing('sodium-native'), [], 'src/crypto/sodium.ts has it without a search');
  t.ok(importing('node:fs').length > 1, 'the search finds imports');
});

t.test('no any', async (t) => {
  const found = sources.flatMap((file) => anysOf(parse(file)).map(() => file));
  const allowed = anyAllowed.filter((file) => found.includes(file));
  t.strictSame(found, allowed);
});

t.test('errors are values: the text of a message decides nothing', async (t) => {
  const own = sources.filter((file) => !foreignTexts.includes(file));
  t.strictSame(
    own.flatMap((file) => decisionsByText(parse(file))),
    [],
    'give the error a class, an entry of the catalogue or a field',
  );
  t.strictSame(
    foreignTexts.filter((file) => decisionsByText(parse(file)).length === 0),
    [],
    'take it out of the list',
  );
});

/** These choose a family or tell which one a network has; all others use its interface. */
const familyChoices = ['src/crypto/families.ts', 'src/crypto/family.ts'];

t.test('no code decides by the family of cryptography', async (t) => {
  const outside = sources.filter(
    (file) => !/^src\/crypto\/(gost|curve25519)\//.test(file) && !familyChoices.includes(file),
  );
  t.strictSame(
    outside.flatMap((file) => decisionsByFamily(parse(file))),
    [],
    'add what differs to the interface of families, src/crypto/family.ts',
  );
  const found = (text: string) => decisionsByFamily(parseText('a.ts', text)).length;
  t.equal(found("if (family.name === 'gost') f();"), 1);
  t.equal(found("const size = name === 'curve25519' ? 32 : 64;"), 1);
  t.equal(found('if (config.platformCrypto) f();'), 1);
  t.equal(found('const size = family.platformCrypto && old ? 32 : 64;'), 1);
  t.equal(found("const answer = { 'platform-crypto': family.platformCrypto }; f(is && 1);"), 0);
  t.equal(found('const family = configuredFamily(config.platformCrypto);'), 0);
});

t.test('the search for decisions by text finds them and nothing else', async (t) => {
  const found = (text: string) => decisionsByText(parseText('a.ts', text)).length;
  t.equal(found("if (error.message.startsWith('Block')) f();"), 1);
  t.equal(found('TEXTS.some((text) => error.message.includes(text));'), 1);
  t.equal(found('if (DAMAGE.test(cause.message)) f();'), 1);
  t.equal(found("const isFull = (cause as Error).name === 'Full';"), 1);
  t.equal(found('const { message } = cause as Error; if (message === own()) f();'), 1);
  t.equal(found('switch (error.message) { case closed: f(); }'), 1);
  t.equal(found('if (/^E/.exec(String(cause))) f();'), 1);
  t.equal(found("const { message } = of; if (message === undefined || message !== '') f();"), 0);
  t.equal(found("log.warn('failed', { why: error.message }); f(family.name === 'gost');"), 0);
});

t.test('the search for globals finds uses and nothing else', async (t) => {
  const found = (text: string) =>
    globalsOf(parseText('a.ts', text)).map((place) => place.split(' ')[1]);
  t.strictSame(found('const a = Date.now(); setTimeout(f, 1);'), ['Date', 'setTimeout']);
  t.strictSame(found('globalThis.fetch(url); Math.random();'), ['fetch', 'Math.random']);
  t.strictSame(found('const { random } = Math; f({ console });'), ['Math.random', 'console']);
  t.strictSame(found('type A = Date; let a: typeof fetch; // new Date()'), []);
  t.strictSame(found('queue.process(); const a = { process: 1 }; class B { fetch() {} }'), []);
  t.strictSame(found('export const run = (fetch: Fetch) => fetch(1);'), []);
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
    if (isFunction && count > MAX_FUNCTION_LINES) {
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

function placeOf(node: ts.Node, source: ts.SourceFile): string {
  const { line } = source.getLineAndCharacterOfPosition(node.getStart());
  return `${source.fileName}:${line + 1}`;
}

/** Names of families as texts, and conditions on the setting. */
function decisionsByFamily(source: ts.SourceFile): string[] {
  const found: string[] = [];
  const isSetting = (node: ts.Node): boolean =>
    ts.isPropertyAccessExpression(node) && node.name.text === 'platformCrypto';
  const visit = (node: ts.Node): void => {
    const isName = ts.isStringLiteral(node) && /^(gost|curve25519)$/.test(node.text);
    const condition =
      ts.isIfStatement(node) || ts.isConditionalExpression(node)
        ? [ts.isIfStatement(node) ? node.expression : node.condition]
        : [];
    const logical = ts.isBinaryExpression(node) && isLogical(node) ? [node.left] : [];
    if (isName || [...condition, ...logical].some(isSetting)) {
      found.push(placeOf(node, source));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const isLogical = ({ operatorToken: { kind } }: ts.BinaryExpression): boolean =>
  kind === ts.SyntaxKind.AmpersandAmpersandToken || kind === ts.SyntaxKind.BarBarToken;

const equalities = new Set([
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
]);
const searches = new Set('includes startsWith endsWith indexOf match search test exec'.split(' '));
/** How variables that hold an error are called. */
const errorLike = /\b(error|cause|refusal|problem|failure)\b/;

function lines(file: string): string[] {
  return read(file).trimEnd().split('\n');
}

/** Sources that load a package by a statement; of a type alone nothing is loaded. */
function importing(name: string): string[] {
  return sources.filter((file) =>
    parse(file).statements.some((one) => {
      const [from, isType] = ts.isImportDeclaration(one)
        ? [one.moduleSpecifier, one.importClause?.isTypeOnly]
        : ts.isExportDeclaration(one)
          ? [one.moduleSpecifier, one.isTypeOnly]
          : [undefined, true];
      return (
        isType !== true && from !== undefined && ts.isStringLiteral(from) && from.text === name
      );
    }),
  );
}

function places(list: string[], pattern: RegExp): string[] {
  return list.flatMap((file) =>
    lines(file).flatMap((line, i) =>
      pattern.test(line) ? [`${file}:${i + 1} ${line.trim()}`] : [],
    ),
  );
}

function anysOf(source: ts.SourceFile): ts.Node[] {
  const found: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    if (node.kind === ts.SyntaxKind.AnyKeyword) found.push(node);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Uses of banned globals as `file:line name`; a name that the file declares itself is its own. */
function globalsOf(source: ts.SourceFile): string[] {
  const declared = new Set<string>();
  const uses: [node: ts.Node, name: string][] = [];
  collect(source);
  return uses
    .filter(([, name]) => !declared.has(name))
    .map(([node, name]) => `${placeOf(node, source)} ${name}`);

  function collect(node: ts.Node): void {
    if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return;
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isIdentifier(node)) use(node);
    if (ts.isPropertyAccessExpression(node)) member(node, node.expression, node.name.text);
    if (
      ts.isVariableDeclaration(node) &&
      node.initializer &&
      ts.isObjectBindingPattern(node.name)
    ) {
      for (const { propertyName, name } of node.name.elements) {
        member(node, node.initializer, (propertyName ?? name).getText());
      }
    }
    ts.forEachChild(node, collect);
  }

  function use(node: ts.Identifier): void {
    const { parent, text } = node;
    if (isDeclaredName(node)) declared.add(text);
    else if (bannedGlobals.has(text) && !isMemberName(node, parent)) uses.push([node, text]);
  }

  function member(node: ts.Node, object: ts.Expression, name: string): void {
    if (!ts.isIdentifier(object)) return;
    if (object.text === 'globalThis' && bannedGlobals.has(name)) uses.push([node, name]);
    if (object.text === 'Math' && name === 'random') uses.push([node, 'Math.random']);
  }
}

function isDeclaredName(node: ts.Identifier): boolean {
  const { parent } = node;
  return (
    (ts.isVariableDeclaration(parent) ||
      ts.isParameter(parent) ||
      ts.isBindingElement(parent) ||
      ts.isFunctionDeclaration(parent) ||
      ts.isImportSpecifier(parent) ||
      ts.isImportClause(parent)) &&
    parent.name === node
  );
}

/** Names after a dot, keys of object literals and classes: no reference to a global. */
function isMemberName(node: ts.Identifier, parent: ts.Node): boolean {
  if (ts.isBindingElement(parent)) return parent.propertyName === node;
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent)) return true;
  return (
    (ts.isPropertyAccessExpression(parent) ||
      ts.isPropertyAssignment(parent) ||
      ts.isMethodDeclaration(parent) ||
      ts.isPropertyDeclaration(parent) ||
      ts.isGetAccessorDeclaration(parent) ||
      ts.isSetAccessorDeclaration(parent)) &&
    parent.name === node
  );
}

/** Comparisons and searches of the message or the name of an error, as `file:line text`. */
function decisionsByText(source: ts.SourceFile): string[] {
  const messages = new Set<string>();
  const found: string[] = [];
  declarations(source);
  decisions(source);
  return found;

  /** Variables that hold the message of an error. */
  function declarations(node: ts.Node): void {
    if (ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name)) {
      for (const { propertyName, name } of node.name.elements) {
        if ((propertyName ?? name).getText() === 'message') messages.add(name.getText());
      }
    }
    ts.forEachChild(node, declarations);
  }

  function decisions(node: ts.Node): void {
    if (decides(node)) found.push(`${placeOf(node, source)} ${node.getText()}`);
    ts.forEachChild(node, decisions);
  }

  function decides(node: ts.Node): boolean {
    if (ts.isSwitchStatement(node)) return isText(node.expression);
    if (ts.isBinaryExpression(node)) {
      const { left, right, operatorToken } = node;
      if (!equalities.has(operatorToken.kind)) return false;
      return (isText(left) && !isAbsence(right)) || (isText(right) && !isAbsence(left));
    }
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
    const { expression, name } = node.expression;
    return searches.has(name.text) && (isText(expression) || node.arguments.some(isText));
  }

  function isText(node: ts.Expression): boolean {
    if (ts.isIdentifier(node)) return messages.has(node.text);
    if (ts.isCallExpression(node) && node.expression.getText() === 'String') {
      return node.arguments.some((argument) => errorLike.test(argument.getText()));
    }
    if (!ts.isPropertyAccessExpression(node)) return false;
    if (node.name.text === 'message') return true;
    return node.name.text === 'name' && errorLike.test(node.expression.getText());
  }

  function isAbsence(node: ts.Expression): boolean {
    return node.getText() === 'undefined' || (ts.isStringLiteral(node) && node.text === '');
  }
}
