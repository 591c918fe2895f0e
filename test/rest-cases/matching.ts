/** Expectations: subsets with matchers, and shapes (rest.md#conformance-cases). */
import { isObject, stringify } from '../../src/base/json/json.ts';
import { type Bindings, evaluate } from './bindings.ts';

type Matcher = (actual: unknown, argument: unknown, bindings: Bindings) => boolean;

const matchers: Readonly<Record<string, Matcher>> = {
  $in: (actual, list) => (list as readonly unknown[]).some((item) => same(actual, item)),
  $regex: (actual, text) => typeof actual === 'string' && new RegExp(String(text)).test(actual),
  $gte: (actual, bound) => isInteger(actual) && BigInt(actual) >= BigInt(bound as number),
  $lt: (actual, bound) => isInteger(actual) && BigInt(actual) < BigInt(bound as number),
  $any: (actual) => actual !== undefined,
  $anyOf: (actual, list, bindings) =>
    (list as readonly unknown[]).some(
      (item) => mismatches(actual, item, '', bindings).length === 0,
    ),
  $eval: (actual, text, bindings) => same(actual, evaluate(String(text), bindings)),
};

const isInteger = (value: unknown): value is number | bigint =>
  typeof value === 'bigint' || Number.isInteger(value);

function same(a: unknown, b: unknown): boolean {
  return isInteger(a) && isInteger(b) ? BigInt(a) === BigInt(b) : a === b;
}

const show = (value: unknown): string => stringify(value)?.slice(0, 200) ?? 'nothing';

/** What `actual` lacks of the deep subset `expected`. */
export function mismatches(
  actual: unknown,
  expected: unknown,
  path: string,
  bindings: Bindings,
): string[] {
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return [`${path || 'body'}: ${show(actual)} is no array`];
    return expected.flatMap((item, i) => mismatches(actual[i], item, `${path}[${i}]`, bindings));
  }
  if (!isObject(expected)) {
    if (same(actual, expected)) return [];
    return [`${path || 'body'}: ${show(actual)} instead of ${show(expected)}`];
  }
  const [name] = Object.keys(expected);
  const matcher = name === undefined ? undefined : matchers[name];
  if (matcher !== undefined) {
    if (matcher(actual, expected[name!], bindings)) return [];
    return [`${path || 'body'}: ${show(actual)} does not match ${show(expected)}`];
  }
  if (!isObject(actual)) return [`${path || 'body'}: ${show(actual)} is no object`];
  return Object.entries(expected).flatMap(([key, item]) =>
    mismatches(actual[key], item, `${path}.${key}`, bindings),
  );
}

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  integer: isInteger,
  number: (value) => typeof value === 'number' || typeof value === 'bigint',
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: isObject,
  null: (value) => value === null,
  any: (value) => value !== undefined,
  absent: (value) => value === undefined,
};

/** Where the body is not of the expected shape. */
export function misshapen(body: unknown, shape: Readonly<Record<string, string>>): string[] {
  return Object.entries(shape).flatMap(([path, wanted]) => {
    const value = path === '$root' ? body : at(body, path);
    return wanted.split('|').some((type) => hasType(value, type))
      ? []
      : [`${path}: ${show(value)} is not ${wanted}`];
  });
}

function hasType(value: unknown, type: string): boolean {
  const count = /^array:(\d+)$/.exec(type);
  if (count !== null) return Array.isArray(value) && value.length === Number(count[1]);
  const test = types[type];
  if (test === undefined) throw new Error(`unknown type ${type}`);
  return test(value);
}

function at(body: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], body);
}
