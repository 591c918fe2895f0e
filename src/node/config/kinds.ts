/**
 * The kinds of values that a setting can have. A kind turns the text of a file, a variable or a
 * flag into a value, or says what was expected (node.md#configuration).
 *
 * Invariants: a kind never throws, but returns `Wrong` with the expected form; it accepts text as
 * well as HOCON's own numbers and booleans; an integer that HOCON has already rounded is refused.
 */

import { I64_MAX } from '../../base/int.ts';
import type { JsonSchema } from '../../codec/codec.ts';
import { NATIVE_TOKEN } from '../../crypto/chain-scheme.ts';

/** What a kind may read besides the raw value. */
export interface KindContext {
  /** Expands `~` at the start of a path. */
  readonly home: string;
  /** Unit of amounts such as "1.5 WEST". */
  readonly ticker: string;
}

/** Why a raw value is not a value of its kind. */
export class Wrong {
  readonly expected: string;
  readonly fix: string | undefined;
  /** The place inside a list, map or record; empty for the value as a whole. */
  readonly at: readonly string[];
  /** What else is wrong in the same value. */
  readonly others: readonly Wrong[];

  constructor(
    expected: string,
    fix?: string,
    at: readonly string[] = [],
    others: readonly Wrong[] = [],
  ) {
    this.expected = expected;
    this.fix = fix;
    this.at = at;
    this.others = others;
  }
}

export interface Kind<V> {
  /** One or two words for the documentation: `duration`, `integer 0…65535`. */
  readonly name: string;
  parse(raw: unknown, context: KindContext): V | Wrong;
  /** The value in the form of a file. */
  show(value: V): unknown;
  readonly schema: JsonSchema;
  /** Lists and maps: text from a variable or a flag is split before it is parsed. */
  readonly compound?: boolean;
}

export const QUOTE_IT = 'an unquoted integer above 2^53 loses digits: write it in quotes';

/** The text of a value, and none of a list or an object: of `[1]` JavaScript would make `1`. */
export const textOf = (raw: unknown): string => (typeof raw === 'object' ? '' : String(raw).trim());

const YES = ['true', 'yes', 'on'];
const NO = ['false', 'no', 'off'];

export const bool: Kind<boolean> = {
  name: 'yes/no',
  parse(raw) {
    const text = textOf(raw).toLowerCase();
    if (YES.includes(text)) return true;
    return NO.includes(text) ? false : new Wrong('yes or no (or true, false, on, off)');
  },
  show: (value) => (value ? 'yes' : 'no'),
  schema: { enum: [true, false, ...YES, ...NO] },
};

/** An integer in a closed range, at most 2^53 − 1. */
export function int(min: number, max: number, fix?: string): Kind<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min} up` : `from ${min} to ${max}`;
  return {
    name: max === Number.MAX_SAFE_INTEGER ? `integer ≥ ${min}` : `integer ${min}…${max}`,
    parse(raw) {
      const value = toInteger(raw);
      if (value instanceof Wrong) return value;
      if (value === undefined || value < BigInt(min) || value > BigInt(max)) {
        return new Wrong(`an integer ${range}`, fix);
      }
      return Number(value);
    },
    show: (value) => value,
    schema: { type: ['integer', 'string'], minimum: min, maximum: max },
  };
}

export const port = int(0, 65535, 'choose a free port; 0 lets the system choose');

/** An integer, or a word in its place. */
export function intOr<const W extends string>(word: W, kind: Kind<number>): Kind<number | W> {
  return {
    name: `${kind.name}, or ${word}`,
    parse(raw, context) {
      if (typeof raw === 'string' && raw.trim() === word) return word;
      const value = kind.parse(raw, context);
      return value instanceof Wrong ? new Wrong(`${value.expected}, or ${word}`, value.fix) : value;
    },
    show: (value) => value,
    schema: { anyOf: [kind.schema, { enum: [word] }] },
  };
}

/** undefined: not an integer. */
function toInteger(raw: unknown): bigint | undefined | Wrong {
  if (typeof raw === 'bigint') return raw;
  if (typeof raw === 'number') {
    if (!Number.isInteger(raw)) return undefined;
    return Number.isSafeInteger(raw) ? BigInt(raw) : new Wrong('an exact integer', QUOTE_IT);
  }
  const text = typeof raw === 'string' ? raw.trim() : '';
  return /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined;
}

/** Smallest units, or a decimal with the native ticker: "1.5 WEST" is 150,000,000. */
export const amount: Kind<bigint> = {
  name: 'amount',
  parse(raw, { ticker }) {
    const wrong = new Wrong(
      `an amount from 0 to ${I64_MAX}: an integer of smallest units, or a text like "1.5 ${ticker}"`,
    );
    const plain = toInteger(raw);
    if (plain instanceof Wrong) return plain;
    if (plain !== undefined) return plain >= 0n && plain <= I64_MAX ? plain : wrong;
    const match = typeof raw === 'string' ? /^(\d{1,19})(?:\.(\d{1,8}))? +(\S+)$/.exec(raw) : null;
    if (match === null || (match[3] !== ticker && match[3] !== NATIVE_TOKEN)) return wrong;
    const units = BigInt(match[1] + (match[2] ?? '').padEnd(8, '0'));
    return units <= I64_MAX ? units : wrong;
  },
  show: (value) => (value <= 9007199254740991n ? Number(value) : value.toString()),
  schema: { type: ['integer', 'string'] },
};

/** A span of time that keeps the form in which it was written. */
export interface Duration {
  readonly ms: number;
  /** Value and unit for people and for /consensus/settings: "17 seconds", "1 minute". */
  readonly text: string;
}

const TIME_UNITS: readonly [ms: number, name: string, spellings: string][] = [
  [1, 'millisecond', 'ms milli millis millisecond milliseconds'],
  [1000, 'second', 's sec secs second seconds'],
  [60_000, 'minute', 'm min mins minute minutes'],
  [3_600_000, 'hour', 'h hr hour hours'],
  [86_400_000, 'day', 'd day days'],
];

export function durationOf(count: number, unit: string): Duration | undefined {
  const found = TIME_UNITS.find(([, , spellings]) => spellings.split(' ').includes(unit));
  if (found === undefined) return undefined;
  const ms = Math.round(count * found[0] * 1000) / 1000;
  if (!Number.isSafeInteger(ms)) return undefined;
  const [shown, name] = Number.isInteger(count) ? [count, found[1]] : [ms, 'millisecond'];
  return { ms, text: `${shown} ${name}${shown === 1 ? '' : 's'}` };
}

/** A number without a unit means milliseconds, as in HOCON. */
export function duration(min = 0, max = Number.MAX_SAFE_INTEGER, range = ''): Kind<Duration> {
  return {
    name: `duration${range === '' ? '' : ` ${range}`}`,
    parse(raw) {
      const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(textOf(raw));
      const value = match && durationOf(Number(match[1]), match[2]?.toLowerCase() || 'ms');
      if (!value) {
        return new Wrong('a duration such as "200ms", "17s", "1 minute", "2h" or "1d"');
      }
      return value.ms >= min && value.ms <= max ? value : new Wrong(`a duration ${range}`);
    },
    show: (value) => value.text,
    schema: { type: ['string', 'integer'] },
  };
}

/** `least` in the form of a file. */
export const durationFrom = (least: string): Kind<Duration> => {
  const value = duration().parse(least, { home: '', ticker: '' });
  if (value instanceof Wrong) throw new Error(value.expected);
  return duration(value.ms, Number.MAX_SAFE_INTEGER, `of at least ${least}`);
};

const SIZE_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  byte: 1,
  bytes: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  k: 2 ** 10,
  ki: 2 ** 10,
  kib: 2 ** 10,
  m: 2 ** 20,
  mi: 2 ** 20,
  mib: 2 ** 20,
  g: 2 ** 30,
  gi: 2 ** 30,
  gib: 2 ** 30,
  t: 2 ** 40,
  ti: 2 ** 40,
  tib: 2 ** 40,
};

/** Bytes; kB, MB, GB are powers of 1000, KiB, MiB, GiB (and K, M, G) of 1024. */
export const sizeFrom = (min: number, max = Number.MAX_SAFE_INTEGER): Kind<number> => ({
  name: 'size',
  parse(raw) {
    const match = /^(\d+)\s*([a-z]*)$/i.exec(textOf(raw));
    const unit = match && SIZE_UNITS[(match[2] ?? '').toLowerCase()];
    const bytes = match && unit ? Number(match[1]) * unit : NaN;
    if (!Number.isSafeInteger(bytes)) {
      return new Wrong('a size such as "100MiB", "64 KiB" or 1048576');
    }
    if (bytes > max) return new Wrong(`at most ${max} bytes`);
    return bytes < min ? new Wrong(`at least ${min} bytes`) : bytes;
  },
  show: (value) => value,
  schema: { type: ['string', 'integer'] },
});

export const size = sizeFrom(0);
