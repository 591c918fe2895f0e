/**
 * Request bodies: from text to JSON to the value that a route's schema describes (rest.md#numbers,
 * rest.md#errors).
 *
 * The schema is interpreted rather than compiled. So the answers name each bad field as clients of
 * the reference expect, and 64-bit integers keep every digit and may come as strings. Bad fields
 * are reported together, up to 20; reading ends there.
 */

import { type ApiError, apiError } from '../base/errors.ts';
import { isObject, type JsonObject, parse, TooManyValues } from '../base/json/json.ts';
import { type Cut, cutText, RestTooLong, TooManyEscapes } from '../base/json/json-cut.ts';
import { unescapeText } from '../base/json/json-unescape.ts';
import { BODY_VIEW_BYTES } from '../base/ports/http.ts';
import { CodecError, type JsonSchema } from '../codec/codec.ts';
import { integerFromJson } from '../codec/primitives.ts';
import { malformed } from '../codec/refusal.ts';
import { inOneGo } from '../concurrency/steps.ts';
import { limits } from './limits.ts';
import { LongBody } from './long-bodies.ts';
import type { Body } from './route.ts';
import { type Static, type TArray, type TSchema, Type } from './type.ts';

/** A signed 64-bit integer: exact in both directions. */
export const Int64 = Type.Unsafe<bigint | number>({ type: 'integer', format: 'int64' });
export const Int32 = Type.Unsafe<number>({ type: 'integer', format: 'int32' });

/** A JSON body that follows the schema. Unknown fields are dropped; null means absent. */
export function json<T extends TSchema>(schema: T): Body<Static<T>> {
  const read = reader(schema);
  return {
    type: 'application/json',
    schema: schema as unknown as JsonSchema,
    parse: (bytes) => read(readJson(textOf(bytes))),
  };
}

/**
 * The same where one member of the object may be a text of many megabytes. That text is passed on
 * as its ASCII bytes, which last until the answer; everything else is parsed without it. In a long
 * text, escapes are replaced in slices.
 */
export function jsonAround<T extends TSchema>(name: string, schema: T): Body<Static<T>> {
  const read = reader(schema);
  return {
    ...json(schema),
    parse(bytes) {
      const cut = cutOut(bytes, name);
      if (cut === undefined) return read(readJson(textOf(bytes)));
      const value = read(readJson(cut.rest));
      const isView = bytes.length <= BODY_VIEW_BYTES;
      // Always a copy, because `slice` of a Buffer would be another view.
      const text = isView ? Uint8Array.from(cut.text) : cut.text;
      const around = (text: Uint8Array) => ({ ...(value as object), [name]: text }) as Static<T>;
      if (!cut.isEscaped) return around(text);
      if (isView) return inOneGo(unescaped(text, around));
      return new LongBody(text.length, unescaped(text, around));
    },
  };
}

function cutOut(bytes: Uint8Array, name: string): Cut | undefined {
  const most = limits.body.json;
  try {
    return cutText(bytes, name, most);
  } catch (error) {
    if (error instanceof SyntaxError) throw malformed([]);
    if (error instanceof TooManyEscapes) throw badField(name, 'error.expected.base64');
    if (!(error instanceof RestTooLong)) throw error;
    throw apiError('Invalid', `The body has more than ${most} bytes besides '${name}'`);
  }
}

function* unescaped<T>(text: Uint8Array, then: (text: Uint8Array) => T): Generator<undefined, T> {
  try {
    return then(yield* unescapeText(text));
  } catch (error) {
    throw error instanceof SyntaxError ? malformed([]) : error;
  }
}

/** `json` where the body may be missing. */
export function optionalJson<T extends TSchema>(schema: T): Body<Static<T> | undefined> {
  return { ...json(schema), optional: true };
}

/**
 * A JSON object that the handler passes on unchanged, because transactions have their own codecs.
 */
export function jsonObject(schema: JsonSchema): Body<JsonObject> {
  return { type: 'application/json', schema, parse: (bytes) => readObject(textOf(bytes)) };
}

/** The raw body as UTF-8 text, whatever its content type. */
export const plainText: Body<string> = {
  type: 'text/plain',
  schema: { type: 'string' },
  parse: textOf,
};

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

function readJson(text: string): unknown {
  try {
    return parse(text, limits.body.values);
  } catch (error) {
    if (error instanceof TooManyValues) {
      throw apiError('TooBigSequence', `The body holds more than ${limits.body.values} values`);
    }
    // SyntaxError, or RangeError on extreme nesting.
    throw malformed([]);
  }
}

function readObject(text: string): JsonObject {
  const value = readJson(text);
  if (!isObject(value)) throw malformed([new CodecError('obj', 'error.expected.jsobject')]);
  return value;
}

/** A list of at most `most` elements; a longer one is refused before its elements are read. */
export const list = <T extends TSchema>(item: T, most: number): TArray<T> =>
  Type.Array(item, { maxItems: most });

interface Node {
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly items?: Node;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly anyOf?: readonly Node[];
}

/** The problems of a body; this many tell a client enough. */
const PROBLEMS_MAX = 20;

class Problems {
  readonly found: CodecError[] = [];

  get full(): boolean {
    return this.found.length >= PROBLEMS_MAX;
  }

  add(problem: CodecError): void {
    if (!this.full) this.found.push(problem);
  }
}

function reader<T extends TSchema>(schema: T): (json: unknown) => Static<T> {
  const node = schema as Node;
  return (json) => {
    const problems = new Problems();
    const value = read(node, json, 'obj', problems);
    if (problems.found.length > 0) throw malformed(problems.found);
    // `read` follows the schema that the type was derived from.
    return value as Static<T>;
  };
}

function read(node: Node, value: unknown, path: string, problems: Problems): unknown {
  const refuse = (why: string): undefined => {
    problems.add(new CodecError(path, why));
    return undefined;
  };
  if (node.anyOf !== undefined) return readAny(node.anyOf, value, path, problems);
  switch (node.type) {
    case 'object':
      if (!isObject(value)) return refuse('error.expected.jsobject');
      return readFields(node, value, path, problems);
    case 'array':
      if (!Array.isArray(value)) return refuse('error.expected.jsarray');
      return readElements(node, value, path, problems);
    case 'string':
      if (typeof value !== 'string') return refuse('error.expected.jsstring');
      return value.length > (node.maxLength ?? Infinity) ? refuse('error.maxLength') : value;
    case 'boolean':
      return typeof value === 'boolean' ? value : refuse('error.expected.jsboolean');
    case 'integer':
      return readInteger(node.format ?? 'int64', value, path, problems);
    default:
      return value;
  }
}

/** Throws ApiError TooBigSequence before the first element is read. */
function readElements(
  { items = {}, maxItems = 0 }: Node,
  values: readonly unknown[],
  path: string,
  problems: Problems,
): unknown[] {
  if (values.length > maxItems) {
    const name = path.slice(path.lastIndexOf('.') + 1);
    throw apiError('TooBigSequence', `${name} has ${values.length}, at most ${maxItems} are taken`);
  }
  const out: unknown[] = [];
  for (const [i, value] of values.entries()) {
    out.push(read(items, value, `${path}[${i}]`, problems));
    if (problems.full) break;
  }
  return out;
}

function readFields(node: Node, value: JsonObject, path: string, problems: Problems): JsonObject {
  const out: JsonObject = {};
  for (const [name, field] of Object.entries(node.properties ?? {})) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    if (given !== undefined && given !== null) {
      out[name] = read(field, given, `${path}.${name}`, problems);
    } else if (node.required?.includes(name) === true) {
      problems.add(new CodecError(`${path}.${name}`, 'error.path.missing'));
    }
  }
  return out;
}

function readInteger(format: string, value: unknown, path: string, problems: Problems): unknown {
  try {
    const exact = integerFromJson(value, path);
    if (format === 'int64') return exact;
    if (BigInt.asIntN(32, exact) === exact) return Number(exact);
    problems.add(new CodecError(path, 'error.expected.int'));
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    problems.add(error);
  }
  return undefined;
}

/** The first alternative that fits; otherwise the problems are those of the last one. */
function readAny(
  nodes: readonly Node[],
  value: unknown,
  path: string,
  problems: Problems,
): unknown {
  let last = new Problems();
  for (const node of nodes) {
    last = new Problems();
    const result = read(node, value, path, last);
    if (last.found.length === 0) return result;
  }
  for (const problem of last.found) problems.add(problem);
  return undefined;
}

/** For handlers: code 1 about one field. */
export const badField = (field: string, why: string): ApiError =>
  malformed([new CodecError(`obj.${field}`, why)]);
