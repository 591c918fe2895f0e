/**
 * From source to syntax (docs/protocol/scripts.md#grammar). `||` and `&&` have the same
 * precedence. Nesting is limited before recursion grows deep, and so is the depth of the result:
 * long chains of operators are read in a loop and would be deep all the same.
 */
import { Scanner, typeError } from './scanner.ts';
import type { Case, Syntax } from './syntax.ts';
import { ScriptError } from './tree.ts';

const NESTING_MAX = 500;
/** No valid script is deeper, because each node has a cost. */
const DEPTH_MAX = 1000;

/** The most types that one name in a `case` stands for. */
const TESTS_PER_TYPE = 17;

const AFTER_LET = /[ \t\r\n]/;
const AFTER_KEYWORD = /[ \t\r\n({]/;

/** Levels of precedence. */
const LEVELS: ReadonlyMap<string, number> = new Map([
  ['||', 0],
  ['&&', 0],
  ['==', 1],
  ['!=', 1],
  ['>=', 2],
  ['>', 2],
  ['<=', 2],
  ['<', 2],
  ['+', 3],
  ['-', 3],
  ['*', 4],
  ['/', 4],
  ['%', 4],
]);

/** An operator whose right operand is not complete. */
interface Pending {
  readonly operator: string;
  readonly level: number;
  readonly left: Syntax;
}

const CASE_FORM = 'invalid syntax, should be: `case varName: Type => expr` or `case _ => expr`';
const CASE_TYPE_FORM = 'the type for variable should be specified: `case varName: Type => expr`';

/** Throws ScriptError. */
export function parse(source: string): Syntax {
  const scan = new Scanner(source);
  let nesting = 0;
  scan.skip();
  const whole = expression();
  scan.skip();
  if (!scan.isAtEnd()) throw scan.syntaxError();
  return whole;

  /** Operands joined by operators, all of which associate to the left. */
  function expression(): Syntax {
    if (++nesting > NESTING_MAX) throw tooDeep();
    // The tightest one is the last.
    const pending: Pending[] = [];
    for (;;) {
      let last = operand();
      const end = scan.at;
      scan.skip();
      const operator = operatorAt(scan.source, scan.at);
      const level = operator === undefined ? -1 : LEVELS.get(operator)!;
      for (
        let top = pending.at(-1);
        top !== undefined && top.level >= level;
        top = pending.at(-1)
      ) {
        last = operation(top.operator, top.left, last);
        pending.pop();
      }
      if (operator === undefined) {
        scan.at = end;
        nesting--;
        return last;
      }
      pending.push({ operator, level, left: last });
      scan.takes(operator);
      scan.skip();
    }
  }

  function operand(): Syntax {
    const signs: string[] = [];
    for (;;) {
      if (scan.takesMinus()) signs.push('-');
      else if (scan.takes('!')) signs.push('!');
      else break;
      scan.skip();
    }
    let signed = atom();
    for (let i = signs.length - 1; i >= 0; i--) signed = call(signs[i]!, [signed]);
    return signed;
  }

  function atom(): Syntax {
    const word = scan.peekWord();
    if (word === 'if' && scan.keyword('if', AFTER_KEYWORD)) return conditional();
    if (word === 'match' && scan.keyword('match', AFTER_KEYWORD)) return match();
    if (word === 'let' && scan.keyword('let', AFTER_LET)) return block();
    if (word === 'true' || word === 'false') {
      scan.name();
      return bool(word === 'true');
    }
    const bytes = scan.bytes();
    if (bytes !== undefined) return { is: 'bytes', value: bytes, depth: 1 };
    const text = scan.text();
    if (text !== undefined) return { is: 'string', value: text, depth: 1 };
    const value = scan.integer();
    if (value !== undefined) return { is: 'long', value, depth: 1 };
    return accesses(accessed());
  }

  function conditional(): Syntax {
    scan.skip();
    const test = expression();
    scan.skip();
    if (scan.name() !== 'then') throw scan.syntaxError();
    const yes = branch('expected a true branch');
    scan.skip();
    const from = scan.at;
    if (scan.name() !== 'else') {
      scan.at = from;
      throw scan.isAtEnd() ? typeError('expected a false branch') : scan.syntaxError();
    }
    return conditionalOf(test, yes, branch('expected a false branch'));
  }

  /** An expression whose absence has a text of its own. */
  function branch(absent: string): Syntax {
    scan.skip();
    const word = scan.peekWord();
    const isNone = scan.isAtEnd() || word === 'then' || word === 'else' || word === 'case';
    if (isNone || ')}],;'.includes(scan.source[scan.at]!)) throw typeError(absent);
    return expression();
  }

  function block(): Syntax {
    const lets: { readonly name: string; readonly value: Syntax }[] = [];
    let isSeparated: boolean;
    do {
      scan.skip();
      const name = scan.declaredName();
      if (name === '') throw typeError("expected a variable's name");
      scan.skip();
      if (!scan.takes('=')) throw scan.syntaxError();
      lets.push({ name, value: branch('expected a value') });
      isSeparated = scan.skip();
      if (scan.takes(';')) {
        isSeparated = true;
        scan.skip();
      }
    } while (scan.keyword('let', AFTER_LET));
    if (!isSeparated) throw typeError("expected ';'");
    const body = expression();
    return lets.reduceRight(
      (rest, { name, value }) =>
        limited({ is: 'let', name, value, body: rest, depth: deeper([value, rest]) }),
      body,
    );
  }

  function match(): Syntax {
    scan.skip();
    const of = expression();
    scan.skip();
    if (!scan.takes('{')) throw scan.syntaxError();
    scan.skip();
    const cases: Case[] = [];
    while (scan.keyword('case', AFTER_KEYWORD)) {
      cases.push(matchCase());
      scan.skip();
    }
    if (cases.length === 0) throw typeError('pattern matching requires case branches');
    if (!scan.takes('}')) throw scan.syntaxError();
    const bodies = cases.map(({ body }) => body);
    const types = cases.reduce((most, one) => Math.max(most, one.types.length), 0);
    const depth = Math.max(deeper([of, ...bodies]), types * TESTS_PER_TYPE) + cases.length;
    return limited({ is: 'match', of, cases, depth });
  }

  function matchCase(): Case {
    scan.skip();
    const variable = scan.takes('_') ? undefined : scan.declaredName();
    if (variable === '') throw typeError(CASE_FORM);
    scan.skip();
    const types: string[] = [];
    if (scan.takes(':')) {
      do {
        scan.skip();
        const type = scan.name();
        if (type === '') throw typeError(CASE_TYPE_FORM);
        types.push(type);
        scan.skip();
      } while (scan.takes('|'));
    }
    if (!scan.takes('=>')) throw typeError(CASE_FORM);
    scan.skip();
    return { variable, types, body: expression() };
  }

  /** What accessors may follow: brackets, a name or a call. */
  function accessed(): Syntax {
    const closing = scan.takes('(') ? ')' : scan.takes('{') ? '}' : undefined;
    if (closing !== undefined) {
      scan.skip();
      const inner = expression();
      scan.skip();
      if (!scan.takes(closing)) throw scan.syntaxError();
      return inner;
    }
    const from = scan.at;
    const name = scan.name();
    if (name === '' || scan.isKeyword(name)) {
      scan.at = from;
      throw scan.syntaxError();
    }
    return scan.takes('(') ? call(name, list(')')) : { is: 'name', name, depth: 1 };
  }

  function accesses(first: Syntax): Syntax {
    let of = first;
    if (scan.takes('[')) of = call('getElement', [of, ...list(']')]);
    for (;;) {
      const end = scan.at;
      scan.skip();
      if (scan.takes('.')) {
        scan.skip();
        const field = scan.declaredName();
        if (field === '') throw scan.syntaxError();
        of = limited({ is: 'field', of, field, depth: of.depth + 1 });
      } else if (of !== first && scan.takes('[')) {
        of = call('getElement', [of, ...list(']')]);
      } else {
        scan.at = end;
        return of;
      }
    }
  }

  /** Arguments up to the closing bracket; an index is one argument. */
  function list(closing: ')' | ']'): Syntax[] {
    const items: Syntax[] = [];
    scan.skip();
    if (closing === ')' && scan.takes(closing)) return items;
    do {
      scan.skip();
      items.push(expression());
      scan.skip();
    } while (closing === ')' && scan.takes(','));
    if (!scan.takes(closing)) throw scan.syntaxError();
    return items;
  }
}

/** The longest operator that stands there. */
function operatorAt(source: string, at: number): string | undefined {
  const two = source.slice(at, at + 2);
  if (LEVELS.has(two)) return two;
  return LEVELS.has(two.charAt(0)) ? two.charAt(0) : undefined;
}

function operation(operator: string, left: Syntax, right: Syntax): Syntax {
  switch (operator) {
    case '&&':
      return conditionalOf(left, right, bool(false));
    case '||':
      return conditionalOf(left, bool(true), right);
    case '<':
      return call('>', [right, left]);
    case '<=':
      return call('>=', [right, left]);
    default:
      return call(operator, [left, right]);
  }
}

const bool = (value: boolean): Syntax => ({ is: 'bool', value, depth: 1 });

const call = (name: string, args: readonly Syntax[]): Syntax =>
  limited({ is: 'call', name, args, depth: deeper(args) });

const conditionalOf = (test: Syntax, yes: Syntax, no: Syntax): Syntax =>
  limited({ is: 'if', test, yes, no, depth: deeper([test, yes, no]) });

/** The depth of a node above these. */
const deeper = (below: readonly Syntax[]): number =>
  below.reduce((most, { depth }) => Math.max(most, depth), 0) + 1;

function limited(node: Syntax): Syntax {
  if (node.depth > DEPTH_MAX) throw tooDeep();
  return node;
}

const tooDeep = (): ScriptError => new ScriptError('Parse failed: the script is nested too deeply');
