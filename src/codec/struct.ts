/** Codecs made of codecs: structures, options, lists. */

import { apiError, type Refusal } from '../base/errors.ts';
import { isObject } from '../base/json/json.ts';
import { type Codec, CodecError, type JsonSchema, type ValueOf } from './codec.ts';
import { mismatch } from './primitives.ts';

// The one place where codecs of unrelated types are handled together.
// biome-ignore lint/suspicious/noExplicitAny: heterogeneous record
type AnyCodec = Codec<any>;
type StructValue<F extends Record<string, AnyCodec>> = { readonly [K in keyof F]: ValueOf<F[K]> };

/** Fields in declaration order. */
export function struct<const F extends Record<string, AnyCodec>>(fields: F): Codec<StructValue<F>> {
  const names = Object.keys(fields);
  const codecs = Object.values(fields) as AnyCodec[];
  const required = names.filter((name) => !fields[name]?.optional);
  return {
    write(out, value) {
      for (let i = 0; i < names.length; i++) codecs[i]!.write(out, value[names[i]!]);
    },
    read(src) {
      const value: Record<string, unknown> = {};
      for (let i = 0; i < names.length; i++) value[names[i]!] = codecs[i]!.read(src);
      return value as StructValue<F>;
    },
    toJson(value, scheme) {
      const json: Record<string, unknown> = {};
      for (let i = 0; i < names.length; i++) {
        const name = names[i]!;
        json[name] = codecs[i]!.toJson(value[name], scheme);
      }
      return json;
    },
    fromJson(json, path, scheme) {
      if (!isObject(json)) throw mismatch(path, json, 'jsobject');
      const value: Record<string, unknown> = {};
      for (let i = 0; i < names.length; i++) {
        const name = names[i]!;
        value[name] = codecs[i]!.fromJson(json[name], `${path}.${name}`, scheme);
      }
      return value as StructValue<F>;
    },
    schema: {
      type: 'object',
      properties: Object.fromEntries(names.map((name, i) => [name, codecs[i]!.schema])),
      required,
    },
  };
}

/** Byte 0, or byte 1 and the value; null or absent in JSON. */
export function option<T>(inner: Codec<T>): Codec<T | undefined> {
  return {
    optional: true,
    write(out, value) {
      if (value === undefined) out.u8(0);
      else {
        out.u8(1);
        inner.write(out, value);
      }
    },
    read(src) {
      const flag = src.u8();
      if (flag > 1) throw new CodecError('bytes', `${flag} is not an option flag`);
      return flag === 0 ? undefined : inner.read(src);
    },
    toJson: (value, scheme) => (value === undefined ? null : inner.toJson(value, scheme)),
    print: inner.print && ((src) => (src.u8() === 0 ? 'null' : inner.print!(src))),
    fromJson: (json, path, scheme) =>
      json === undefined || json === null ? undefined : inner.fromJson(json, path, scheme),
    schema: nullable(inner.schema),
  };
}

export function nullable(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: 'null' }] };
}

/** A value that a request may leave out. */
export function withDefault<T>(inner: Codec<T>, value: T): Codec<T> {
  return {
    ...inner,
    optional: true,
    fromJson: (json, path, scheme) =>
      json === undefined || json === null ? value : inner.fromJson(json, path, scheme),
  };
}

/** A field that only some versions have; in the others its value is `absent`. */
export function since<T, A = undefined>(inner: Codec<T>, absent?: A): Codec<T | A> {
  return { ...(inner as Codec<T | A>), absent: absent as A };
}

/** u16 count and items; `problem` makes the refusal of a list that is too long. */
export function list16<T>(
  inner: Codec<T>,
  max: number,
  problem?: (count: number) => Refusal,
): Codec<readonly T[]> {
  return list(inner, max, 2, problem);
}

/** i32 count and items. */
export function list32<T>(inner: Codec<T>, max: number): Codec<readonly T[]> {
  return list(inner, max, 4);
}

function list<T>(
  inner: Codec<T>,
  max: number,
  countBytes: 2 | 4,
  problem: (count: number) => Refusal = (count) =>
    apiError('TooBigSequence', `${count} items are more than ${max}`),
): Codec<readonly T[]> {
  const tooMany = (path: string, count: number): CodecError => {
    const api = problem(count);
    return new CodecError(path, api.message, api);
  };
  return {
    write(out, items) {
      if (countBytes === 2) out.u16(items.length);
      else out.i32(items.length);
      for (const item of items) inner.write(out, item);
    },
    read(src) {
      const count = countBytes === 2 ? src.u16() : src.i32();
      if (count < 0 || count > max) throw tooMany('bytes', count);
      const items: T[] = [];
      for (let i = 0; i < count; i++) items.push(inner.read(src));
      return items;
    },
    toJson: (items, scheme) => items.map((item) => inner.toJson(item, scheme)),
    fromJson(json, path, scheme) {
      if (!Array.isArray(json)) throw mismatch(path, json, 'jsarray');
      if (json.length > max) throw tooMany(path, json.length);
      return json.map((item, i) => inner.fromJson(item, `${path}[${i}]`, scheme));
    },
    schema: { type: 'array', items: inner.schema, maxItems: max },
  };
}
