/**
 * Values as the store can hold them. A text of PostgreSQL has every character except U+0000, and no
 * half of a surrogate pair. An integer has at most 64 bits. Such values must not stop the crawl, so
 * they are changed and reported.
 */

import { I64_MAX } from '../../base/int.ts';
import { isObject, type JsonObject } from '../../base/json/json.ts';

export const storableText = (text: string): string =>
  text.includes('\0') || !text.isWellFormed() ? text.replaceAll('\0', '').toWellFormed() : text;

/** False where a JSON text has a character that no text of the store can hold, as an escape. */
export const hasOnlyStorable = (json: string): boolean =>
  !json.includes('\\u') || !/\\u(0000|d[89a-f])/i.test(json);

/** Undefined where it is no integer of 64 bits. */
export function exactInteger(value: unknown): number | bigint | undefined {
  if (typeof value === 'bigint') return value <= I64_MAX && value >= -I64_MAX ? value : undefined;
  return Number.isSafeInteger(value) ? (value as number) : undefined;
}

export function int64(value: unknown): bigint | undefined {
  const found = exactInteger(value);
  return typeof found === 'number' ? BigInt(found) : found;
}

export const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? storableText(value) : undefined;

/** The objects of a list; other members and other values count as none. */
export const objects = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

export const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.flatMap((one) => text(one) ?? []) : [];

/** A JSON value without what no text can hold. */
export function storableJson(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(storableJson);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [storableText(name), storableJson(member)]),
  );
}
