/**
 * From source to syntax (docs/protocol/scripts.md#grammar). `||` and `&&` have the same
 * precedence. Nesting is limited before recursion grows deep, and so is the depth of the result:
 * long chains of operators are read in a loop and would be deep all the same. What would take
 * twice the bytes of the longest script is not read to its end.
 */
import { SCRIPT_BYTES_MAX } from '../language/binary.ts';
import { Steps } from '../language/steps.ts';
import { ScriptError } from '../language/tree.ts';
import { Scanner, typeError } from './scanner.ts';
import { type Case, leastBytes, type Syntax } from './syntax.ts';

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

/** Up to here the whole source is read, so that the refusal can name the size. */
const BYTES_MAX = 2 * SCRIPT_BYTES_MAX;
const TOO_LARGE = `Script is too large: more than ${BYTES_MAX} bytes > ${SCRIPT_BYTES_MAX} bytes`;

/** `lineNumbers`: what refusals call each line, if not by its place. Throws ScriptError. */
export function parse(source: string, lineNumbers: readonly number[]): Syntax {
  return new Parser(source, lineNumbers).whole();
}

/** One method for each kind of expression, from the loosest to the tightest. */
class Parser {
  private readonly scan: Scanner;
  private readonly bytes = new Steps(BYTES_MAX, TOO_LARGE);
  private nesting = 0;

  constructor(source: string, lineNumbers: readonly number[]) {
    this.scan = new Scanner(source, lineNumbers);
  }

  whole(): Syntax {
    this.scan.skip();
    const whole = this.expression();
    this.scan.skip();
    if (!this.scan.isAtEnd()) throw this.scan.syntaxError();
    return whole;
  }

  /** Operands joined by operators, all of which associate to the left. */
  private expression(): Syntax {
    if (++this.nesting > NESTING_MAX) throw tooDeep();
    // The tightest one is the last.
    const pending: Pending[] = [];
    for (;;) {
      let last = this.operand();
      const end = this.scan.at;
      this.scan.skip();
      const operator = operatorAt(this.scan.source, this.scan.at);
      const level = operator === undefined ? -1 : LEVELS.get(operator)!;
      for (
        let top = pending.at(-1);
        top !== undefined && top.level >= level;
        top = pending.at(-1)
      ) {
        last = this.operation(top.operator, top.left, last);
        pending.pop();
      }
      if (operator === undefined) {
        this.scan.at = end;
        this.nesting--;
        return last;
      }
      pending.push({ operator, level, left: last });
      this.scan.takes(operator);
      this.scan.skip();
    }
  }

  private operand(): Syntax {
    const signs: string[] = [];
    for (;;) {
      if (this.scan.takesMinus()) signs.push('-');
      else if (this.scan.takes('!')) signs.push('!');
      else break;
      this.scan.skip();
    }
    let signed = this.atom();
    for (let i = signs.length - 1; i >= 0; i--) signed = this.call(signs[i]!, [signed]);
    return signed;
  }

  private atom(): Syntax {
    const word = this.scan.peekWord();
    if (word === 'if' && this.scan.keyword('if', AFTER_KEYWORD)) return this.conditional();
    if (word === 'match' && this.scan.keyword('match', AFTER_KEYWORD)) return this.match();
    if (word === 'let' && this.scan.keyword('let', AFTER_LET)) return this.block();
    if (word === 'true' || word === 'false') {
      this.scan.name();
      return this.bool(word === 'true');
    }
    const bytes = this.scan.bytes();
    if (bytes !== undefined) return this.made({ is: 'bytes', value: bytes, depth: 1 });
    const text = this.scan.text();
    if (text !== undefined) return this.made({ is: 'string', value: text, depth: 1 });
    const value = this.scan.integer();
    if (value !== undefined) return this.made({ is: 'long', value, depth: 1 });
    return this.accesses(this.accessed());
  }

  private conditional(): Syntax {
    this.scan.skip();
    const test = this.expression();
    this.scan.skip();
    if (this.scan.peekWord() !== 'then') throw this.scan.syntaxError();
    this.scan.name();
    const yes = this.branch('expected a true branch');
    this.scan.skip();
    if (this.scan.peekWord() !== 'else') {
      throw this.scan.isAtEnd() ? typeError('expected a false branch') : this.scan.syntaxError();
    }
    this.scan.name();
    return this.conditionalOf(test, yes, this.branch('expected a false branch'));
  }

  /** An expression whose absence has a text of its own. */
  private branch(absent: string): Syntax {
    this.scan.skip();
    const word = this.scan.peekWord();
    const isNone = this.scan.isAtEnd() || word === 'then' || word === 'else' || word === 'case';
    if (isNone || ')}],;'.includes(this.scan.source[this.scan.at]!)) throw typeError(absent);
    return this.expression();
  }

  private block(): Syntax {
    const lets: { readonly name: string; readonly value: Syntax }[] = [];
    let isSeparated: boolean;
    do {
      this.scan.skip();
      const name = this.scan.declaredName();
      if (name === '') throw typeError("expected a variable's name");
      this.scan.skip();
      if (!this.scan.takes('=')) throw this.scan.syntaxError();
      lets.push({ name, value: this.branch('expected a value') });
      isSeparated = this.scan.skip();
      if (this.scan.takes(';')) {
        isSeparated = true;
        this.scan.skip();
      }
    } while (this.scan.keyword('let', AFTER_LET));
    if (!isSeparated) throw typeError("expected ';'");
    const body = this.expression();
    return lets.reduceRight(
      (rest, { name, value }) =>
        this.made({ is: 'let', name, value, body: rest, depth: deeper([value, rest]) }),
      body,
    );
  }

  private match(): Syntax {
    this.scan.skip();
    const of = this.expression();
    this.scan.skip();
    if (!this.scan.takes('{')) throw this.scan.syntaxError();
    this.scan.skip();
    const cases: Case[] = [];
    while (this.scan.keyword('case', AFTER_KEYWORD)) {
      cases.push(this.matchCase());
      this.scan.skip();
    }
    if (cases.length === 0) throw typeError('pattern matching requires case branches');
    if (!this.scan.takes('}')) throw this.scan.syntaxError();
    const bodies = cases.map(({ body }) => body);
    const types = cases.reduce((most, one) => Math.max(most, one.types.length), 0);
    const depth = Math.max(deeper([of, ...bodies]), types * TESTS_PER_TYPE) + cases.length;
    return this.made({ is: 'match', of, cases, depth });
  }

  private matchCase(): Case {
    this.scan.skip();
    const variable = this.scan.takes('_') ? undefined : this.scan.declaredName();
    if (variable === '') throw typeError(CASE_FORM);
    this.scan.skip();
    const types: string[] = [];
    if (this.scan.takes(':')) {
      do {
        this.scan.skip();
        const type = this.scan.name();
        if (type === '') throw typeError(CASE_TYPE_FORM);
        types.push(type);
        this.scan.skip();
      } while (this.scan.takes('|'));
    }
    if (!this.scan.takes('=>')) throw typeError(CASE_FORM);
    this.scan.skip();
    return { variable, types, body: this.expression() };
  }

  /** What accessors may follow: brackets, a name or a call. */
  private accessed(): Syntax {
    const closing = this.scan.takes('(') ? ')' : this.scan.takes('{') ? '}' : undefined;
    if (closing !== undefined) {
      this.scan.skip();
      const inner = this.expression();
      this.scan.skip();
      if (!this.scan.takes(closing)) throw this.scan.syntaxError();
      return inner;
    }
    const from = this.scan.at;
    const name = this.scan.name();
    if (name === '' || this.scan.isKeyword(name)) {
      this.scan.at = from;
      throw this.scan.syntaxError();
    }
    if (this.scan.takes('(')) return this.call(name, this.list(')'));
    return this.made({ is: 'name', name, depth: 1 });
  }

  private accesses(first: Syntax): Syntax {
    let of = first;
    if (this.scan.takes('[')) of = this.call('getElement', [of, ...this.list(']')]);
    for (;;) {
      const end = this.scan.at;
      this.scan.skip();
      if (this.scan.takes('.')) {
        this.scan.skip();
        const field = this.scan.declaredName();
        if (field === '') throw this.scan.syntaxError();
        of = this.made({ is: 'field', of, field, depth: of.depth + 1 });
      } else if (of !== first && this.scan.takes('[')) {
        of = this.call('getElement', [of, ...this.list(']')]);
      } else {
        this.scan.at = end;
        return of;
      }
    }
  }

  /** Arguments up to the closing bracket; an index is one argument. */
  private list(closing: ')' | ']'): Syntax[] {
    const items: Syntax[] = [];
    this.scan.skip();
    if (closing === ')' && this.scan.takes(closing)) return items;
    do {
      this.scan.skip();
      items.push(this.expression());
      this.scan.skip();
    } while (closing === ')' && this.scan.takes(','));
    if (!this.scan.takes(closing)) throw this.scan.syntaxError();
    return items;
  }

  private operation(operator: string, left: Syntax, right: Syntax): Syntax {
    switch (operator) {
      case '&&':
        return this.conditionalOf(left, right, this.bool(false));
      case '||':
        return this.conditionalOf(left, this.bool(true), right);
      case '<':
        return this.call('>', [right, left]);
      case '<=':
        return this.call('>=', [right, left]);
      default:
        return this.call(operator, [left, right]);
    }
  }

  private bool(value: boolean): Syntax {
    return this.made({ is: 'bool', value, depth: 1 });
  }

  private call(name: string, args: readonly Syntax[]): Syntax {
    return this.made({ is: 'call', name, args, depth: deeper(args) });
  }

  private conditionalOf(test: Syntax, yes: Syntax, no: Syntax): Syntax {
    return this.made({ is: 'if', test, yes, no, depth: deeper([test, yes, no]) });
  }

  /** Every node goes through here. */
  private made(node: Syntax): Syntax {
    if (node.depth > DEPTH_MAX) throw tooDeep();
    this.bytes.take(leastBytes(node));
    return node;
  }
}

/** The longest operator that stands there. */
function operatorAt(source: string, at: number): string | undefined {
  const two = source.slice(at, at + 2);
  if (LEVELS.has(two)) return two;
  return LEVELS.has(two.charAt(0)) ? two.charAt(0) : undefined;
}

/** The depth of a node above these. */
const deeper = (below: readonly Syntax[]): number =>
  below.reduce((most, { depth }) => Math.max(most, depth), 0) + 1;

const tooDeep = (): ScriptError => new ScriptError('Parse failed: the script is nested too deeply');
