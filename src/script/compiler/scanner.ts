/**
 * Characters of a source: white space, words and literals (docs/protocol/scripts.md#lexical-rules).
 */
import { I64_MAX, I64_MIN } from '../../base/int.ts';
import { bytesOfBase58, bytesOfBase64 } from '../evaluation/operations.ts';
import { ScriptError } from '../language/tree.ts';

const BYTES_LITERAL_LENGTH_MAX = 12_288;

const KEYWORDS = new Set([
  'let',
  'base58',
  'base64',
  'true',
  'false',
  'if',
  'then',
  'else',
  'match',
  'case',
]);

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['\\', '\\'],
  ['"', '"'],
]);

const COMMENTED_SPACE = /(?:[ \t\r\n]+|#[^\n]*)*/y;
const INTEGER = /[+-]?[0-9]+(?:_[0-9]+)*/y;
const SPACED_DIGIT = /[ \t\r\n]*[0-9]/y;

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

const isLetter = (code: number): boolean =>
  (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);

const REFUSAL_LENGTH_MAX = 4096;

/** A refusal with the prefix that clients know; a long text is cut. */
export function typeError(text: string): ScriptError {
  const shown = text.length > REFUSAL_LENGTH_MAX ? `${text.slice(0, REFUSAL_LENGTH_MAX)}…` : text;
  return new ScriptError(`Typecheck failed: ${shown}`);
}

export class Scanner {
  readonly source: string;
  at = 0;
  private readonly lineNumbers: readonly number[];
  private spaceFrom = -1;
  private spaceTo = -1;
  private spaceHasLine = false;

  constructor(source: string, lineNumbers: readonly number[]) {
    this.source = source;
    this.lineNumbers = lineNumbers;
  }

  /**
   * Skips white space and comments; true if a line ended in them. The parser looks past the same
   * space for each operator that might follow, so the last space is remembered.
   */
  skip(): boolean {
    if (this.at !== this.spaceFrom) {
      this.spaceFrom = this.at;
      this.spaceHasLine = this.isSpace() && this.matched(COMMENTED_SPACE).includes('\n');
      this.spaceTo = this.at;
    }
    this.at = this.spaceTo;
    return this.spaceHasLine;
  }

  /** Skips the text if it stands here. */
  takes(text: string): boolean {
    if (!this.source.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  isAtEnd(): boolean {
    return this.at >= this.source.length;
  }

  /** The word here, which stays unread. */
  peekWord(): string {
    let end = this.at;
    if (isLetter(this.source.charCodeAt(end))) {
      do end++;
      while (isLetter(this.source.charCodeAt(end)) || isDigit(this.source.charCodeAt(end)));
    }
    return this.source.slice(this.at, end);
  }

  /** The name of a variable, a field or a function; empty where none stands here. */
  name(): string {
    const word = this.peekWord();
    this.at += word.length;
    return word;
  }

  /** A name that a script declares or reads as a field. */
  declaredName(): string {
    const word = this.name();
    if (KEYWORDS.has(word)) throw typeError(`keywords are restricted: ${word}`);
    return word;
  }

  isKeyword(word: string): boolean {
    return KEYWORDS.has(word);
  }

  /** Skips the keyword if it stands here and white space or a bracket follows it. */
  keyword(word: string, next: RegExp): boolean {
    if (this.peekWord() !== word || !next.test(this.source[this.at + word.length] ?? '')) {
      return false;
    }
    this.at += word.length;
    return true;
  }

  /** True for a minus that negates an operand, and is no sign of a number. */
  takesMinus(): boolean {
    if (this.source[this.at] !== '-') return false;
    SPACED_DIGIT.lastIndex = this.at + 1;
    if (SPACED_DIGIT.test(this.source)) return false;
    this.at++;
    return true;
  }

  integer(): bigint | undefined {
    const text = this.matched(INTEGER);
    if (text === '') return undefined;
    const digits = text.replaceAll('_', '');
    // The limit on digits keeps the conversion of a long text cheap.
    const value = digits.length > 1000 ? undefined : BigInt(digits.replace(/^\+/, ''));
    if (value === undefined || value > I64_MAX || value < I64_MIN) {
      throw typeError(`For input string: "${digits.slice(0, 100)}"`);
    }
    return value;
  }

  /** True where white space or a comment begins. */
  private isSpace(): boolean {
    const letter = this.source[this.at];
    return letter !== undefined && ' \t\r\n#'.includes(letter);
  }

  /** The text between quotes; undefined where none begins here. */
  text(): string | undefined {
    if (!this.takes('"')) return undefined;
    let value = '';
    for (;;) {
      const from = this.at;
      while (!this.isAtEnd() && !'"\\'.includes(this.source[this.at]!)) this.at++;
      value += this.source.slice(from, this.at);
      if (this.isAtEnd()) throw this.syntaxError();
      if (this.takes('"')) return value;
      this.at++;
      value += this.escaped();
    }
  }

  private escaped(): string {
    const letter = this.source[this.at++];
    if (letter === undefined) throw this.syntaxError();
    const plain = ESCAPES.get(letter);
    if (plain !== undefined) return plain;
    if (letter !== 'u') {
      const valid = 'The valid are \b, \f, \n, \r, \t';
      throw typeError(`unknown escaped symbol: '\\${letter}'. ${valid}`);
    }
    const digits = this.source.slice(this.at, this.at + 4).split('"', 1)[0]!;
    if (digits.length < 4) {
      throw typeError(`incomplete UTF-8 symbol definition: '\\u${digits}'`);
    }
    if (!/^[0-9A-Fa-f]{4}$/.test(digits)) {
      throw typeError(`can't parse '${digits}' as HEX string in '\\u${digits}'`);
    }
    this.at += 4;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  /** `base58'…'` or `base64'…'`; undefined where neither begins here. */
  bytes(): Uint8Array | undefined {
    const is58 = this.takes("base58'");
    if (!is58 && !this.takes("base64'")) return undefined;
    const end = this.source.indexOf("'", this.at);
    if (end === -1) throw this.syntaxError();
    const content = this.source.slice(this.at, end);
    this.at = end + 1;
    const form = is58 ? 'Base58' : 'Base64';
    if (content.length > BYTES_LITERAL_LENGTH_MAX) {
      throw typeError(`${form.toLowerCase()}Decode input exceeds ${BYTES_LITERAL_LENGTH_MAX}`);
    }
    const bytes = is58 ? bytesOfBase58(content) : bytesOfBase64(content);
    if (bytes === undefined) throw typeError(`can't parse ${form} string`);
    return bytes;
  }

  syntaxError(): ScriptError {
    const lines = this.source.slice(0, this.at).split('\n');
    const found = this.isAtEnd() ? 'the end' : `'${this.source.slice(this.at, this.at + 20)}'`;
    const line = this.lineNumbers[lines.length - 1] ?? lines.length;
    const place = `line ${line}, column ${lines.at(-1)!.length + 1}`;
    return new ScriptError(`Parse failed: unexpected ${found} at ${place}`);
  }

  private matched(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const text = pattern.exec(this.source)?.[0] ?? '';
    this.at += text.length;
    return text;
  }
}
