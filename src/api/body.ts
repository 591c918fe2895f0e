/**
 * Request bodies: text to JSON to the value a route's schema describes (rest-api.md §1.1, §2.3).
 *
 * The schema is read directly rather than compiled: the answers name each bad field the way
 * clients of the reference know it, 64-bit integers keep every digit and may come as strings, and
 * all bad fields are reported at once.
 */
import Type, { type Static, type TSchema } from 'typebox';
import type { ApiError } from '../base/errors.ts';
import { isObject, type JsonObject, parse } from '../base/json.ts';
import { CodecError, type JsonSchema } from '../codec/codec.ts';
import { integerFromJson } from '../codec/primitives.ts';
import { malformed } from './answer.ts';
import type { Body } from './route.ts';

/** A signed 64-bit integer: exact in both directions. */
export const Int64 = Type.Unsafe<bigint | number>({ type: 'integer', format: 'int64' });
export const Int32 = Type.Unsafe<number>({ type: 'integer', format: 'int32' });

/** A JSON body that follows the schema; unknown fields are dropped, null means absent. */
export function json<T extends TSchema>(schema: T): Body<Static<T>> {
  return {
    type: 'application/json',
    schema: schema as unknown as JsonSchema,
    parse: reader(schema),
  };
}

/** The same where no body at all is legal. */
export function optionalJson<T extends TSchema>(schema: T): Body<Static<T> | undefined> {
  return { ...json(schema), optional: true };
}

/** A JSON object that the handler passes on as it is: transactions have their own codecs. */
export function jsonObject(schema: JsonSchema): Body<JsonObject> {
  return { type: 'application/json', schema, parse: readObject };
}

/** The raw body as a UTF-8 text, whatever its content type says. */
export const plainText: Body<string> = {
  type: 'text/plain',
  schema: { type: 'string' },
  parse: (text) => text,
};

function readJson(text: string): unknown {
  try {
    return parse(text);
  } catch {
    // SyntaxError, or RangeError on absurd nesting.
    throw malformed({});
  }
}

function readObject(text: string): JsonObject {
  const value = readJson(text);
  if (!isObject(value)) throw malformed({ obj: ['error.expected.jsobject'] });
  return value;
}

interface Node {
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
}

type Reasons = Record<string, string[]>;

function reader<T extends TSchema>(schema: T): (text: string) => Static<T> {
  const node = schema as Node;
  return (text) => {
    const reasons: Reasons = {};
    const value = read(node, readJson(text), 'obj', reasons);
    if (Object.keys(reasons).length > 0) throw malformed(reasons);
    // `read` follows the schema that the type was derived from.
    return value as Static<T>;
  };
}

function read(node: Node, value: unknown, path: string, reasons: Reasons): unknown {
  const refuse = (why: string): undefined => {
    reasons[path] = [why];
    return undefined;
  };
  if (node.anyOf !== undefined) return readAny(node.anyOf, value, path, reasons);
  switch (node.type) {
    case 'object':
      if (!isObject(value)) return refuse('error.expected.jsobject');
      return readFields(node, value, path, reasons);
    case 'array':
      if (!Array.isArray(value)) return refuse('error.expected.jsarray');
      return value.map((item, i) => read(node.items ?? {}, item, `${path}[${i}]`, reasons));
    case 'string':
      return typeof value === 'string' ? value : refuse('error.expected.jsstring');
    case 'boolean':
      return typeof value === 'boolean' ? value : refuse('error.expected.jsboolean');
    case 'integer':
      return readInteger(node.format ?? 'int64', value, path, reasons);
    default:
      return value;
  }
}

function readFields(node: Node, value: JsonObject, path: string, reasons: Reasons): JsonObject {
  const out: JsonObject = {};
  for (const [name, field] of Object.entries(node.properties ?? {})) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    if (given !== undefined && given !== null) {
      out[name] = read(field, given, `${path}.${name}`, reasons);
    } else if (node.required?.includes(name) === true) {
      reasons[`${path}.${name}`] = ['error.path.missing'];
    }
  }
  return out;
}

function readInteger(format: string, value: unknown, path: string, reasons: Reasons): unknown {
  try {
    const exact = integerFromJson(value, path);
    if (format === 'int64') return exact;
    if (BigInt.asIntN(32, exact) === exact) return Number(exact);
    reasons[path] = ['error.expected.int'];
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    reasons[path] = [error.why];
  }
  return undefined;
}

/** The first alternative that fits; the reasons are those of the last one. */
function readAny(nodes: readonly Node[], value: unknown, path: string, reasons: Reasons): unknown {
  let last: Reasons = {};
  for (const node of nodes) {
    last = {};
    const result = read(node, value, path, last);
    if (Object.keys(last).length === 0) return result;
  }
  Object.assign(reasons, last);
  return undefined;
}

/** For handlers: code 1 about one field. */
export const badField = (field: string, why: string): ApiError =>
  malformed({ [`obj.${field}`]: [why] });
