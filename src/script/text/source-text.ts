/**
 * A source that compiles to a given script (docs/protocol/scripts.md#decompiling). Names of types
 * that one word had stood for come one by one, and comments are lost; the compiled bytes are the
 * same.
 */
import { base58 } from '../../base/base58.ts';
import { IS_INSTANCE } from '../compiler/match-compiler.ts';
import { builtinOf } from '../evaluation/functions.ts';
import type { Header, Tree, Version } from '../language/tree.ts';

type Node<Op> = Extract<Tree, { op: Op }>;

/** Binary operators by header, with their level of precedence. */
const OPERATORS: ReadonlyMap<Header, readonly [operator: string, level: number]> = new Map<
  Header,
  readonly [operator: string, level: number]
>([
  [0, ['==', 1]],
  ['!=', ['!=', 1]],
  [102, ['>', 2]],
  [103, ['>=', 2]],
  [100, ['+', 3]],
  [203, ['+', 3]],
  [300, ['+', 3]],
  [101, ['-', 3]],
  [104, ['*', 4]],
  [105, ['/', 4]],
  [106, ['%', 4]],
]);

/** Of an expression that stands alone: nothing goes on behind it. */
const WHOLE = -1;
const LOGIC = 0;
const UNARY = 5;
const ATOM = 6;
const BASE58_BYTES_MAX = 64;

/** May be no source of exactly this tree, if no source has it; the caller compiles and compares. */
export function sourceText(tree: Tree, version: Version): string {
  const directive = version === 2 ? '{-# LANGUAGE_VERSION 2 #-}\n' : '';
  return `${directive}${resultOf(statement(tree, ''))}\n`;
}

/** Where lets may stand without braces. */
function* statement(tree: Tree, indent: string): Deep<string> {
  if (tree.op !== 'block' || isMatch(tree)) return yield expression(tree, WHOLE, indent);
  const value = yield expression(tree.value, WHOLE, indent);
  const rest = yield statement(tree.body, indent);
  // A minus at the beginning of a line would go on with the value.
  const end = rest.startsWith('-') ? ';' : '';
  return `let ${tree.name} = ${value}${end}\n${indent}${rest}`;
}

/** In brackets where the operators around it bind more tightly. */
function* expression(tree: Tree, level: number, indent: string): Deep<string> {
  switch (tree.op) {
    case 'long':
      return String(tree.value);
    case 'bool':
      return String(tree.value);
    case 'string':
      return quoted(tree.value);
    case 'bytes':
      return bytesLiteral(tree.value);
    case 'ref':
      return tree.name;
    case 'getter':
      return `${yield accessed(tree.of, indent)}.${tree.field}`;
    case 'if':
      return yield conditional(tree, level, indent);
    case 'block':
      return isMatch(tree)
        ? bracketed(yield match(tree, indent), level > LOGIC)
        : yield braced(tree, indent);
    case 'call':
      return yield call(tree, level, indent);
  }
}

/** Deep levels share their indent, since a source has a greatest length. */
const INDENT_MAX = 64;
const deeper = (indent: string): string => (indent.length < INDENT_MAX ? `${indent}  ` : indent);

const bracketed = (text: string, isNeeded: boolean): string => (isNeeded ? `(${text})` : text);

function* braced(tree: Tree, indent: string): Deep<string> {
  const inner = deeper(indent);
  return `{\n${inner}${yield statement(tree, inner)}\n${indent}}`;
}

/** Accessors may follow names, calls, other accessors and brackets. */
function* accessed(tree: Tree, indent: string): Deep<string> {
  const text = yield expression(tree, ATOM, indent);
  const isPlain = tree.op === 'ref' || tree.op === 'getter' || isPlainCall(tree);
  return isPlain || text.startsWith('(') || text.startsWith('{') ? text : `(${text})`;
}

const isPlainCall = (tree: Tree): boolean =>
  tree.op === 'call' && !OPERATORS.has(tree.header) && tree.header !== '!' && tree.header !== '-';

function* conditional({ test, yes, no }: Node<'if'>, level: number, indent: string): Deep<string> {
  const operator = isBool(no, false) ? '&&' : isBool(yes, true) ? '||' : undefined;
  if (operator !== undefined) {
    const right = operator === '&&' ? yes : no;
    const left = yield expression(test, LOGIC, indent);
    return bracketed(`${left} ${operator} ${yield expression(right, 1, indent)}`, level > LOGIC);
  }
  const condition = yield expression(test, WHOLE, indent);
  const first = yield expression(yes, WHOLE, indent);
  const second = yield expression(no, WHOLE, indent);
  // An operator behind it would belong to its last branch.
  return bracketed(`if ${condition} then ${first} else ${second}`, level > WHOLE);
}

const isBool = (tree: Tree, value: boolean): boolean => tree.op === 'bool' && tree.value === value;

function* call({ header, args }: Node<'call'>, level: number, indent: string): Deep<string> {
  const [first, second] = args;
  const operator = OPERATORS.get(header);
  if (operator !== undefined && args.length === 2) {
    const [sign, own] = operator;
    const left = yield expression(first!, own, indent);
    const right = yield expression(second!, own + 1, indent);
    return bracketed(`${left} ${sign} ${right}`, level > own);
  }
  if ((header === '!' || header === '-') && args.length === 1) {
    return bracketed(`${header}(${yield expression(first!, WHOLE, indent)})`, level > UNARY);
  }
  const name = builtinOf(header)?.name ?? String(header);
  if (name === 'getElement' && args.length === 2) {
    return `${yield accessed(first!, indent)}[${yield expression(second!, WHOLE, indent)}]`;
  }
  const texts: string[] = [];
  for (const arg of args) texts.push(yield expression(arg, WHOLE, indent));
  return `${name}(${texts.join(', ')})`;
}

// ── match ────────────────────────────────────────────────────────────────────────────────────

const isMatch = ({ name }: Node<'block'>): boolean => name.startsWith('$match');

function* match({ name, value, body }: Node<'block'>, indent: string): Deep<string> {
  const inner = deeper(indent);
  const cases: string[] = [];
  let rest = body;
  for (let types = typesOf(rest, name); types !== undefined; types = typesOf(rest, name)) {
    const { yes, no } = rest as Node<'if'>;
    cases.push(yield matchCase(yes, name, types, inner));
    rest = no;
  }
  cases.push(yield matchCase(rest, name, [], inner));
  const of = yield expression(value, WHOLE, indent);
  return `match ${of} {\n${cases.map((text) => `${inner}${text}\n`).join('')}${indent}}`;
}

function* matchCase(
  body: Tree,
  matched: string,
  types: readonly string[],
  indent: string,
): Deep<string> {
  const isBound =
    body.op === 'block' && body.value.op === 'ref' && body.value.name === matched && !isMatch(body);
  const variable = isBound ? body.name : '_';
  const written = types.length === 0 ? '' : `: ${types.join(' | ')}`;
  const text = yield expression(isBound ? body.body : body, WHOLE, indent);
  return `case ${variable}${written} => ${text}`;
}

/** The types that a case tests for; undefined for what is no test of the matched value. */
function typesOf(tree: Tree, matched: string): readonly string[] | undefined {
  if (tree.op !== 'if') return undefined;
  const types: string[] = [];
  let { test } = tree;
  for (;;) {
    const last = typeOf(test, matched);
    if (last !== undefined) return [last, ...types];
    if (test.op !== 'if' || !isBool(test.yes, true)) return undefined;
    const type = typeOf(test.test, matched);
    if (type === undefined) return undefined;
    types.unshift(type);
    test = test.no;
  }
}

function typeOf(tree: Tree, matched: string): string | undefined {
  if (tree.op !== 'call' || tree.header !== IS_INSTANCE) return undefined;
  const [of, type] = tree.args;
  const isMatched = of?.op === 'ref' && of.name === matched;
  return isMatched && type?.op === 'string' ? type.value : undefined;
}

// ── literals ─────────────────────────────────────────────────────────────────────────────────

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\\', '\\\\'],
  ['"', '\\"'],
]);

const quoted = (text: string): string =>
  `"${text.replace(/[\b\f\n\r\t\\"]/g, (letter) => ESCAPES.get(letter)!)}"`;

const bytesLiteral = (bytes: Uint8Array): string =>
  bytes.length <= BASE58_BYTES_MAX
    ? `base58'${base58.encode(bytes)}'`
    : `base64'${Buffer.from(bytes).toString('base64')}'`;

/**
 * Recursion of any depth: a function that calls itself is a generator and yields the call. The calls
 * that wait are then in an array instead of the stack, whose size nobody can rely on.
 */
interface Deep<Result> extends Generator<Deep<Result>, Result, Result> {}

function resultOf<Result>(whole: Deep<Result>): Result {
  // The innermost one is the last.
  const waiting: Deep<Result>[] = [];
  let call = whole;
  let step = call.next();
  for (;;) {
    if (step.done !== true) {
      waiting.push(call);
      call = step.value;
      step = call.next();
      continue;
    }
    const caller = waiting.pop();
    if (caller === undefined) return step.value;
    call = caller;
    step = call.next(step.value);
  }
}
