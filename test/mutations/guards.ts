/**
 * Finds the guards of a source file: what refuses input. Each gets a switch in a copy of the text,
 * so that one copy serves for breaking any of them.
 *
 * Invariants: the copy has the lines of the original; with every switch on it behaves as that does;
 * the name of a guard depends on nothing but the guard, its function and its file.
 */
import ts from 'typescript';

/**
 * - `throw`: a statement that throws. It is left out.
 * - `call`: a call of a function that throws or does nothing, told by its name. It is left out.
 * - `return`: a refusal that is returned where a condition holds. The condition never holds.
 * - `part`: one of the conditions, joined by "or", under which a guard acts. It never holds.
 */
export type Kind = 'throw' | 'call' | 'return' | 'part';

export interface Guard {
  readonly file: string;
  /** Function that it stands in, with those around it; empty outside of functions. */
  readonly where: string;
  readonly kind: Kind;
  /** One line, shortened. Together with file and place it names the guard. */
  readonly text: string;
}

export interface Switched {
  readonly guards: readonly Guard[];
  /** The source, where guard n calls `__guard(first + n)`. */
  readonly text: string;
}

/** Functions that throw where something is wrong, and are called for nothing else. */
const GUARD_NAME = /^(guard|require|check|verify|judge[A-Z])/;
/** Texts that tell the miner what to do next, which are no refusals. */
const NEXT_STEP = /^(next|stop|again|cold)$/;
/** Functions whose answer is a refusal. */
const REFUSAL_NAME = /^(refuse|nothing|abort|apiError|tooBig|failure|judged|judgeError)$/;
const TEXT_CHARS = 100;

/** As `file where: text`. */
export const nameOf = ({ file, where, text }: Guard): string =>
  `${file} ${where === '' ? '' : `${where}: `}${text}`;

/** `first` is the number of the first guard. */
export function switchGuards(file: string, source: string, first: number): Switched {
  const guards: Guard[] = [];
  const insertions = new Insertions();
  const seen = new Map<string, number>();
  const parsed = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  visit(parsed);
  return { guards, text: insertions.into(source) };

  function visit(node: ts.Node): void {
    if (ts.isThrowStatement(node)) aroundThrow(node);
    else if (ts.isExpressionStatement(node) && isGuardCall(node.expression)) aroundCall(node);
    else if (ts.isIfStatement(node)) aroundRefusal(node);
    else if (ts.isReturnStatement(node)) inChoice(node);
    ts.forEachChild(node, visit);
  }

  function add(kind: Kind, node: ts.Node, shown: ts.Node = node): number {
    const guard = { file, where: placeOf(node), kind, text: lineOf(shown) };
    const name = nameOf(guard);
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    guards.push(count === 1 ? guard : { ...guard, text: `${guard.text} (${count})` });
    return first + guards.length - 1;
  }

  function aroundThrow(node: ts.ThrowStatement): void {
    const condition = conditionOf(node);
    const guard = add('throw', node, condition ?? node);
    insertions.around(node, `{ if (__guard(${guard})) `, ' }');
    if (condition !== undefined) inParts(condition.expression);
  }

  function aroundCall(node: ts.ExpressionStatement): void {
    const guard = add('call', node);
    const before = `{ if (__isOn(${guard})) try { `;
    insertions.around(node, before, ` } catch (cause) { __guard(${guard}); throw cause; } }`);
  }

  function aroundRefusal(node: ts.IfStatement): void {
    const { expression } = soleStatement(node, ts.isReturnStatement) ?? {};
    if (expression === undefined || !isRefusal(expression)) return;
    const guard = add('return', node);
    insertions.around(node.expression, '(', `) && __guard(${guard})`);
    inParts(node.expression);
  }

  /** `return right ? undefined : 'what is wrong'`, and the other way round. */
  function inChoice(node: ts.ReturnStatement): void {
    const choice = node.expression;
    if (choice === undefined || !ts.isConditionalExpression(choice)) return;
    const { condition, whenTrue, whenFalse } = choice;
    if (isText(whenFalse) && isUndefined(whenTrue)) {
      insertions.around(condition, '(', `) || !__guard(${add('return', node)})`);
    } else if (isText(whenTrue) && isUndefined(whenFalse)) {
      insertions.around(condition, '(', `) && __guard(${add('return', node)})`);
    }
  }

  function inParts(condition: ts.Expression): void {
    const parts = alternatives(condition);
    if (parts.length === 1) return;
    for (const part of parts.filter((one) => !asksForNothing(one))) {
      insertions.around(part, '((', `) && __guard(${add('part', part)}))`);
    }
  }
}

/** The `if` that has this statement alone, and no other branch. */
function conditionOf(node: ts.ThrowStatement): ts.IfStatement | undefined {
  const around = ts.isBlock(node.parent) ? node.parent.parent : node.parent;
  const isSole = ts.isIfStatement(around) && soleStatement(around, ts.isThrowStatement) === node;
  return isSole ? around : undefined;
}

function soleStatement<T extends ts.Statement>(
  { thenStatement, elseStatement }: ts.IfStatement,
  is: (node: ts.Node) => node is T,
): T | undefined {
  if (elseStatement !== undefined) return undefined;
  const [only, more] = ts.isBlock(thenStatement) ? thenStatement.statements : [thenStatement];
  return only !== undefined && more === undefined && is(only) ? only : undefined;
}

function alternatives(condition: ts.Expression): readonly ts.Expression[] {
  const isOr =
    ts.isBinaryExpression(condition) && condition.operatorToken.kind === ts.SyntaxKind.BarBarToken;
  return isOr ? [...alternatives(condition.left), condition.right] : [condition];
}

function isGuardCall(expression: ts.Expression): boolean {
  const call = ts.isAwaitExpression(expression) ? expression.expression : expression;
  return ts.isCallExpression(call) && GUARD_NAME.test(calledName(call));
}

function calledName({ expression }: ts.CallExpression): string {
  if (ts.isPropertyAccessExpression(expression)) return expression.name.text;
  return ts.isIdentifier(expression) ? expression.text : '';
}

function isRefusal(expression: ts.Expression): boolean {
  if (ts.isStringLiteralLike(expression) && NEXT_STEP.test(expression.text)) return false;
  if (isText(expression) || expression.kind === ts.SyntaxKind.FalseKeyword) return true;
  const call = ts.isAwaitExpression(expression) ? expression.expression : expression;
  return ts.isCallExpression(call) && REFUSAL_NAME.test(calledName(call));
}

/** `… === undefined`: the compiler demands most of these, and what they keep out fails all the same. */
const asksForNothing = (part: ts.Expression): boolean =>
  ts.isBinaryExpression(part) &&
  part.operatorToken.kind === ts.SyntaxKind.EqualsEqualsEqualsToken &&
  isUndefined(part.right);

const isText = (node: ts.Expression): boolean =>
  ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
const isUndefined = (node: ts.Expression): boolean =>
  ts.isIdentifier(node) && node.text === 'undefined';

function placeOf(node: ts.Node): string {
  const names: string[] = [];
  for (let at = node.parent; at !== undefined; at = at.parent) {
    const name = nameOfFunction(at);
    if (name !== undefined) names.unshift(name);
  }
  return names.join('.');
}

function nameOfFunction(node: ts.Node): string | undefined {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  const isFunction = ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node);
  if (isFunction || ts.isClassDeclaration(node)) return node.name?.getText();
  if (!ts.isArrowFunction(node) && !ts.isFunctionExpression(node)) return undefined;
  const { parent } = node;
  const isNamed = ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent);
  return isNamed ? parent.name.getText() : undefined;
}

function lineOf(node: ts.Node): string {
  const line = node.getText().replaceAll(/\s+/g, ' ');
  return line.length <= TEXT_CHARS ? line : `${line.slice(0, TEXT_CHARS)}…`;
}

/** Texts to put between others. What is around two places at once is outside of both. */
class Insertions {
  private readonly list: { readonly at: number; readonly text: string; readonly rank: number }[] =
    [];

  around(node: ts.Node, before: string, after: string): void {
    const rank = this.list.length;
    const [start, end] = [node.getStart(), node.getEnd()];
    // Of two nodes that begin or end together, the one that is met first is the outer one.
    this.list.push({ at: start, text: before, rank }, { at: end, text: after, rank: -rank });
  }

  into(source: string): string {
    const sorted = [...this.list].sort((a, b) => a.at - b.at || a.rank - b.rank);
    let text = '';
    let done = 0;
    for (const { at, text: added } of sorted) {
      text += source.slice(done, at) + added;
      done = at;
    }
    return text + source.slice(done);
  }
}
