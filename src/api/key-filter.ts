/**
 * Regular expressions of clients, matched in linear time (rest-api.md §8, `matches`).
 *
 * A pattern from outside must not be given to the runtime's own engine, which backtracks: a few
 * characters can then hold the only thread for hours. Here a pattern becomes a program of at most
 * `MAX_STEPS` steps and all its states advance together, one character at a time.
 *
 *   Test p        the character must satisfy p, then the next step
 *   Split a b     go on at both (relative targets)
 *   Begin, End    only at that edge of the key
 *   Match         the key is accepted if nothing of it is left
 *
 * Known: literals, `.`, classes, \d \w \s, groups, `|`, `* + ? {m,n}`, `^ $`. Not known, and refused
 * like malformed ones: back references, look-around, possessive quantifiers.
 */
import { type ApiError, apiError } from '../base/errors.ts';

type Test = (code: number) => boolean;
type Step =
  | { readonly op: 'test'; readonly test: Test }
  | { readonly op: 'split'; readonly to: readonly number[] }
  | { readonly op: 'begin' | 'end' };

const MAX_PATTERN_CHARS = 500;
const MAX_STEPS = 2000;

/** Whether the whole key matches. Throws ApiError BadKeyFilter. */
export function keyFilter(pattern: string): (key: string) => boolean {
  const refuse = (): ApiError => apiError('BadKeyFilter', pattern.slice(0, MAX_PATTERN_CHARS));
  if (pattern.length > MAX_PATTERN_CHARS) throw refuse();
  const parser = new Parser(pattern, refuse);
  const program = parser.alternatives();
  if (!parser.done) throw refuse();
  return (key) => accepts(program, key);
}

function accepts(program: readonly Step[], key: string): boolean {
  const codes = Array.from(key, (char) => char.codePointAt(0)!);
  let states = new Set<number>();
  follow(program, 0, states, true, codes.length === 0);
  for (let at = 0; at < codes.length && states.size > 0; at++) {
    const next = new Set<number>();
    for (const state of states) {
      const step = program[state];
      if (step?.op === 'test' && step.test(codes[at]!)) {
        follow(program, state + 1, next, false, at + 1 === codes.length);
      }
    }
    states = next;
  }
  return states.has(program.length);
}

/** Adds a state and all it reaches without a character. */
function follow(
  program: readonly Step[],
  from: number,
  states: Set<number>,
  first: boolean,
  last: boolean,
): void {
  const open = [from];
  while (open.length > 0) {
    const state = open.pop()!;
    if (states.has(state)) continue;
    states.add(state);
    const step = program[state];
    if (step?.op === 'split') open.push(...step.to.map((offset) => state + offset));
    else if (step?.op === 'begin' && first) open.push(state + 1);
    else if (step?.op === 'end' && last) open.push(state + 1);
  }
}

const between =
  (low: number, high: number): Test =>
  (code) =>
    code >= low && code <= high;
const either =
  (tests: readonly Test[]): Test =>
  (code) =>
    tests.some((test) => test(code));
const not =
  (test: Test): Test =>
  (code) =>
    !test(code);

const digit = between(48, 57);
const word = either([digit, between(65, 90), between(97, 122), between(95, 95)]);
const space = either([between(9, 13), between(32, 32)]);
const CLASSES: Readonly<Record<string, Test>> = {
  d: digit,
  D: not(digit),
  w: word,
  W: not(word),
  s: space,
  S: not(space),
};
const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12 };

class Parser {
  private readonly chars: readonly string[];
  private readonly refuse: () => ApiError;
  private at = 0;

  constructor(pattern: string, refuse: () => ApiError) {
    this.chars = Array.from(pattern);
    this.refuse = refuse;
  }

  get done(): boolean {
    return this.at === this.chars.length;
  }

  private take(expected: string): boolean {
    if (this.chars[this.at] !== expected) return false;
    this.at++;
    return true;
  }

  private next(): string {
    const char = this.chars[this.at++];
    if (char === undefined) throw this.refuse();
    return char;
  }

  alternatives(): Step[] {
    const left = this.sequence();
    if (!this.take('|')) return left;
    const right = this.alternatives();
    // Over the left side, or through it and then past the right one.
    return this.bounded([
      { op: 'split', to: [1, left.length + 2] },
      ...left,
      { op: 'split', to: [right.length + 1] },
      ...right,
    ]);
  }

  private sequence(): Step[] {
    const out: Step[] = [];
    while (!this.done && this.chars[this.at] !== '|' && this.chars[this.at] !== ')') {
      out.push(...this.repeated(this.atom()));
      this.bounded(out);
    }
    return out;
  }

  private bounded(steps: Step[]): Step[] {
    if (steps.length > MAX_STEPS) throw this.refuse();
    return steps;
  }

  private atom(): Step[] {
    const char = this.next();
    switch (char) {
      case '(':
        return this.group();
      case '[':
        return [{ op: 'test', test: this.set() }];
      case '.':
        return [{ op: 'test', test: (code) => code !== 10 && code !== 13 }];
      case '^':
        return [{ op: 'begin' }];
      case '$':
        return [{ op: 'end' }];
      case '*':
      case '+':
      case '?':
      case '{':
        throw this.refuse();
      case '\\':
        return [{ op: 'test', test: this.escape() }];
      default:
        return [{ op: 'test', test: literal(char) }];
    }
  }

  private group(): Step[] {
    if (this.take('?') && !this.take(':')) throw this.refuse();
    const inner = this.alternatives();
    if (!this.take(')')) throw this.refuse();
    return inner;
  }

  private escape(): Test {
    const char = this.next();
    const known = CLASSES[char];
    if (known !== undefined) return known;
    const control = CONTROLS[char];
    if (control !== undefined) return between(control, control);
    if (/[A-Za-z0-9]/.test(char)) throw this.refuse();
    return literal(char);
  }

  /** What stands between brackets. */
  private set(): Test {
    const negated = this.take('^');
    const tests: Test[] = [];
    do {
      const char = this.next();
      if (char === '\\') tests.push(this.escape());
      else if (this.chars[this.at] === '-' && this.chars[this.at + 1] !== ']') {
        this.at++;
        tests.push(between(char.codePointAt(0)!, this.next().codePointAt(0)!));
      } else tests.push(literal(char));
    } while (!this.take(']'));
    return negated ? not(either(tests)) : either(tests);
  }

  private repeated(atom: Step[]): Step[] {
    const [least, most] = this.quantifier();
    if (least === 1 && most === 1) return atom;
    // Lazy and greedy accept the same keys; possessive would not.
    if (!this.take('?') && this.chars[this.at] === '+') throw this.refuse();
    const copies = Math.max(least, most === Infinity ? 1 : most);
    if (least > most || copies * (atom.length + 2) > MAX_STEPS) throw this.refuse();
    const size = atom.length;
    const out = Array.from({ length: least }, () => atom).flat();
    if (most === Infinity) {
      out.push({ op: 'split', to: [1, size + 2] }, ...atom, { op: 'split', to: [-size - 1] });
    }
    for (let i = least; i < most && most !== Infinity; i++) {
      out.push({ op: 'split', to: [1, size + 1] }, ...atom);
    }
    return out;
  }

  private quantifier(): readonly [least: number, most: number] {
    if (this.take('*')) return [0, Infinity];
    if (this.take('+')) return [1, Infinity];
    if (this.take('?')) return [0, 1];
    if (!this.take('{')) return [1, 1];
    const close = this.chars.indexOf('}', this.at);
    const text = this.chars.slice(this.at, close).join('');
    const match = /^(\d{1,4})(,(\d{0,4}))?$/.exec(text);
    if (close < 0 || match === null) throw this.refuse();
    this.at = close + 1;
    const least = Number(match[1]);
    if (match[2] === undefined) return [least, least];
    return [least, match[3] === '' ? Infinity : Number(match[3])];
  }
}

const literal = (char: string): Test => {
  const code = char.codePointAt(0)!;
  return (other) => other === code;
};
