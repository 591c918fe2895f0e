/**
 * A reader for JSON with long integers. It gives what JSON.parse gives, except that integer literals
 * beyond ±(2^53−1), also such as 9007199254740993.0, become `bigint`. Its time is proportional to
 * the length of the text. It refuses values that are nested deeper than its caller allows.
 */

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
/** Decimal types of other languages print a whole number with zeros behind the point. */
const INTEGER = /^(-?\d+)(?:\.0+)?$/;
/**
 * Digits of the longest integer that becomes a `bigint`. No field holds more than 20 digits, and
 * the conversion takes quadratic time. Longer integers stay numbers, which no integer field
 * accepts.
 */
const DIGITS_MAX = 40;

const SHORT_DIGITS = 10;

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The text holds more values than its reader accepts. */
export class TooManyValues extends Error {
  override name = 'TooManyValues';

  constructor(most: number) {
    super(`JSON: more than ${most} values`);
  }
}

/** Throws SyntaxError and TooManyValues. */
export function parseExactly(
  text: string,
  depthMax: number,
  valuesMax = Number.POSITIVE_INFINITY,
): unknown {
  const reader = new Reader(text, depthMax, valuesMax);
  const value = reader.value(0);
  if (reader.next() !== END) throw reader.malformed();
  return value;
}

const END = -1;

class Reader {
  private readonly text: string;
  private readonly depthMax: number;
  private readonly valuesMax: number;
  private at = 0;
  private values = 0;

  constructor(text: string, depthMax: number, valuesMax: number) {
    this.text = text;
    this.depthMax = depthMax;
    this.valuesMax = valuesMax;
  }

  malformed(): SyntaxError {
    return new SyntaxError(`JSON: unexpected text at position ${this.at}`);
  }

  /** The next character that is not white space; it stays unread. */
  next(): number {
    const { text } = this;
    for (; this.at < text.length; this.at++) {
      const code = text.charCodeAt(this.at);
      if (code > SPACE) return code;
      if (code !== SPACE && code !== 0x0a && code !== 0x0d && code !== 0x09) return code;
    }
    return END;
  }

  private take(code: number): void {
    if (this.next() !== code) throw this.malformed();
    this.at++;
  }

  value(depth: number): unknown {
    if (++this.values > this.valuesMax) throw new TooManyValues(this.valuesMax);
    switch (this.next()) {
      case OPEN_OBJECT:
        return this.object(depth + 1);
      case OPEN_LIST:
        return this.list(depth + 1);
      case QUOTE:
        return this.string();
      case 0x74:
        return this.word('true', true);
      case 0x66:
        return this.word('false', false);
      case 0x6e:
        return this.word('null', null);
      default:
        return this.number();
    }
  }

  private enter(depth: number): void {
    if (depth > this.depthMax) throw new SyntaxError('JSON: nested too deep');
    this.at++;
  }

  private list(depth: number): unknown[] {
    this.enter(depth);
    const out: unknown[] = [];
    if (this.next() === CLOSE_LIST) {
      this.at++;
      return out;
    }
    for (;;) {
      out.push(this.value(depth));
      if (this.next() !== COMMA) break;
      this.at++;
    }
    this.take(CLOSE_LIST);
    return out;
  }

  private object(depth: number): Record<string, unknown> {
    this.enter(depth);
    const out: Record<string, unknown> = {};
    if (this.next() === CLOSE_OBJECT) {
      this.at++;
      return out;
    }
    for (;;) {
      if (this.next() !== QUOTE) throw this.malformed();
      const name = this.string();
      this.take(COLON);
      const value = this.value(depth);
      if (name === '__proto__') define(out, name, value);
      else out[name] = value;
      if (this.next() !== COMMA) break;
      this.at++;
    }
    this.take(CLOSE_OBJECT);
    return out;
  }

  private string(): string {
    const { text } = this;
    const start = this.at;
    let plain = true;
    for (let end = start + 1; end < text.length; end++) {
      const code = text.charCodeAt(end);
      if (code === QUOTE) {
        this.at = end + 1;
        if (plain) return text.slice(start + 1, end);
        // The native parser reads escapes and refuses wrong ones.
        return JSON.parse(text.slice(start, end + 1)) as string;
      }
      if (code === BACKSLASH) {
        plain = false;
        end++;
      } else if (code < SPACE) break;
    }
    throw this.malformed();
  }

  private word<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) throw this.malformed();
    this.at += word.length;
    return value;
  }

  private number(): number | bigint {
    const short = this.shortNumber();
    if (short >= 0) return short;
    NUMBER.lastIndex = this.at;
    if (!NUMBER.test(this.text)) throw this.malformed();
    const source = this.text.slice(this.at, NUMBER.lastIndex);
    this.at = NUMBER.lastIndex;
    const value = Number(source);
    if (Number.isSafeInteger(value) || source.length > DIGITS_MAX) return value;
    const whole = INTEGER.exec(source)?.[1];
    return whole === undefined ? value : BigInt(whole);
  }

  /** A number of a few digits, read without making a text of it; -1 for anything else. */
  private shortNumber(): number {
    const { text, at } = this;
    let value = 0;
    for (let end = at; end < at + SHORT_DIGITS; end++) {
      const digit = text.charCodeAt(end) - 0x30;
      if (digit >= 0 && digit <= 9) {
        if (end > at && value === 0) return -1;
        value = value * 10 + digit;
      } else {
        const code = digit + 0x30;
        if (end === at || code === 0x2e || code === 0x65 || code === 0x45) return -1;
        this.at = end;
        return value;
      }
    }
    return -1;
  }
}

/** Like JSON.parse: a member `__proto__` becomes an own property. */
function define(object: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(object, name, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
