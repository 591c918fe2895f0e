/**
 * Schemas of bodies and answers. The functions have the types of TypeBox, from which the compiler
 * derives the types of values, and give the same JSON Schema. They are our own because loading that
 * library takes a tenth of the start of a node.
 */
import type { Type as TypeBox } from 'typebox';
import type { JsonSchema } from '../codec/codec.ts';

export type { Static, TArray, TSchema } from 'typebox';

/** Members of objects that may be left out. */
const optional = new WeakSet<JsonSchema>();

type Members = Readonly<Record<string, JsonSchema>>;

function object(properties: Members, options: JsonSchema = {}): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.has(properties[name]!));
  const needs = required.length > 0 ? { required } : {};
  return { type: 'object', ...needs, properties, ...options };
}

function leftOut(schema: JsonSchema): JsonSchema {
  const copy = { ...schema };
  optional.add(copy);
  return copy;
}

const plain =
  (type: string) =>
  (options: JsonSchema = {}): JsonSchema => ({ type, ...options });

const functions = {
  Array: (items: JsonSchema, options: JsonSchema = {}) => ({ type: 'array', items, ...options }),
  Boolean: plain('boolean'),
  Integer: plain('integer'),
  Literal: (value: string | number | boolean, options: JsonSchema = {}) => ({
    type: typeof value,
    const: value,
    ...options,
  }),
  Null: plain('null'),
  Object: object,
  Optional: leftOut,
  Partial: ({ properties, ...options }: { properties: Members }) => {
    const members = Object.entries(properties).map(([name, schema]) => [name, leftOut(schema)]);
    const { type: _type, required: _required, ...rest } = options as JsonSchema;
    return object(Object.fromEntries(members), rest);
  },
  Record: (_names: JsonSchema, values: JsonSchema, options: JsonSchema = {}) => ({
    type: 'object',
    patternProperties: { '^.*$': values },
    ...options,
  }),
  String: plain('string'),
  Union: (anyOf: readonly JsonSchema[], options: JsonSchema = {}) => ({ anyOf, ...options }),
  Unknown: (options: JsonSchema = {}) => ({ ...options }),
  Unsafe: (schema: JsonSchema) => ({ ...schema }),
};

// Types of TypeBox carry the type of the value, which no value at run time has.
export const Type = functions as unknown as Pick<typeof TypeBox, keyof typeof functions>;
