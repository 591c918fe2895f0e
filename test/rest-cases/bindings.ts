/**
 * Placeholders: `{{name}}` in paths, headers, bodies, keys and expectations
 * (rest.md#conformance-cases).
 */
import { createHash, randomBytes } from 'node:crypto';
import { base58 } from '../../src/base/base58.ts';
import { utf8 } from '../../src/base/bytes.ts';
import { isObject } from '../../src/base/json/json.ts';

export type Bindings = Readonly<Record<string, unknown>>;

/** A case names something that nobody bound. */
export class Unbound extends Error {
  override name = 'Unbound';
}

const WHOLE = /^\{\{([^{}]+)\}\}$/;
const ANY = /\{\{([^{}]+)\}\}/g;
/** Stands for a field that is to be left out. */
const DROPPED = Symbol('dropped');

const computed: Readonly<Record<string, (text: string) => string>> = {
  base58: (text) => base58.encode(utf8(text)),
  sha256b58: (text) => base58.encode(createHash('sha256').update(text).digest()),
};

function lookUp(name: string, bindings: Bindings): unknown {
  if (Object.hasOwn(bindings, name)) return bindings[name];
  const [kind, ...rest] = name.split(':');
  const compute = computed[kind ?? ''];
  if (compute !== undefined && rest.length > 0) return compute(rest.join(':'));
  if (name === 'password' || name === 'password2') return DROPPED;
  throw new Unbound(`nothing is bound to {{${name}}}`);
}

/** Text with its placeholders replaced. */
export function fillText(text: string, bindings: Bindings): string {
  return text.replace(ANY, (_, name: string) => {
    const value = lookUp(name, bindings);
    return value === DROPPED ? '' : String(value);
  });
}

/** A JSON value with its placeholders replaced and its directives carried out. */
export function fill(value: unknown, bindings: Bindings): unknown {
  const filled = fillValue(value, bindings);
  return filled === DROPPED ? undefined : filled;
}

function fillValue(value: unknown, bindings: Bindings): unknown {
  if (typeof value === 'string') {
    const whole = WHOLE.exec(value);
    return whole === null ? fillText(value, bindings) : lookUp(whole[1]!, bindings);
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, bindings));
  if (!isObject(value)) return value;
  if ('$repeat' in value) {
    const [item, count] = value['$repeat'] as [unknown, number];
    return new Array(count).fill(fill(item, bindings));
  }
  if ('$distinctIds' in value) {
    const ids = { length: value['$distinctIds'] as number };
    return Array.from(ids, () => base58.encode(randomBytes(32)));
  }
  const entries = Object.entries(value)
    .map(([key, item]) => [fillText(key, bindings), fillValue(item, bindings)] as const)
    .filter(([, item]) => item !== DROPPED);
  return Object.fromEntries(entries);
}

/** `minFee.11 + 2*additionalFee.11`: sums of products of numbers and bindings. */
export function evaluate(expression: string, bindings: Bindings): bigint {
  const factor = (text: string): bigint =>
    BigInt(/^\d+$/.test(text) ? text : String(lookUp(text, bindings)));
  const product = (text: string): bigint =>
    text
      .split('*')
      .map((part) => factor(part.trim()))
      .reduce((a, b) => a * b);
  return expression
    .split('+')
    .map(product)
    .reduce((a, b) => a + b);
}
