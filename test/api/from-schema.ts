/** Values that a JSON Schema of the interface description allows, and values that it does not. */
import fc from 'fast-check';
import { isObject, type JsonObject } from '../../src/base/json.ts';

/** Values that the node knows, by the name of the field or parameter they belong in. */
export type Known = ReadonlyMap<string, readonly unknown[]>;

const DEPTH_MAX = 4;
const ITEMS_MAX = 4;
const CHARS_MAX = 60;
const INT64 = 2 ** 53 - 1;
const INT32 = 2 ** 31 - 1;

export class Values {
  private readonly components: JsonObject;
  private readonly known: Known;

  constructor(components: JsonObject, known: Known) {
    this.components = components;
    this.known = known;
  }

  /** What the schema allows; half of it known to the node where the name is. */
  allowed(schema: JsonObject, name = '', depth = 0): fc.Arbitrary<unknown> {
    const known = this.known.get(name) ?? [];
    const made = this.made(schema, depth);
    return known.length === 0 ? made : fc.oneof(fc.constantFrom(...known), made);
  }

  private made(schema: JsonObject, depth: number): fc.Arbitrary<unknown> {
    const { $ref, anyOf, type } = schema;
    if (typeof $ref === 'string') return this.made(this.resolve($ref), depth);
    if (Array.isArray(anyOf)) {
      return fc.oneof(...(anyOf as JsonObject[]).map((one) => this.made(one, depth)));
    }
    if ('const' in schema) return fc.constant(schema['const']);
    if (Array.isArray(schema['enum'])) return fc.constantFrom(...schema['enum']);
    if (Array.isArray(type)) {
      return fc.oneof(...type.map((one) => this.made({ ...schema, type: one }, depth)));
    }
    switch (type) {
      case 'object':
        return this.object(schema, depth);
      case 'array': {
        const items = isObject(schema['items']) ? schema['items'] : {};
        const most = depth < DEPTH_MAX ? ITEMS_MAX : 0;
        return fc.array(this.made(items, depth + 1), { maxLength: most });
      }
      case 'string':
        return fc.string({
          minLength: Number(schema['minLength'] ?? 0),
          maxLength: Math.min(CHARS_MAX, Number(schema['maxLength'] ?? CHARS_MAX)),
        });
      case 'integer':
        return integers(schema);
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      default:
        return fc.jsonValue({ maxDepth: 2 });
    }
  }

  private object(schema: JsonObject, depth: number): fc.Arbitrary<unknown> {
    const properties = (schema['properties'] ?? {}) as Record<string, JsonObject>;
    const required = (schema['required'] ?? []) as string[];
    const fields = Object.entries(properties).map(
      ([name, field]) => [name, this.allowed(field, name, depth + 1)] as const,
    );
    return fc.record(Object.fromEntries(fields), { requiredKeys: required });
  }

  /** The properties of an object that the schema describes by their type. */
  fieldsOf(schema: JsonObject): Readonly<Record<string, JsonObject>> {
    const { $ref } = schema;
    if (typeof $ref === 'string') return this.fieldsOf(this.resolve($ref));
    return (schema['properties'] ?? {}) as Record<string, JsonObject>;
  }

  private resolve(ref: string): JsonObject {
    return (this.components['schemas'] as JsonObject)[ref.split('/').at(-1)!] as JsonObject;
  }
}

function integers(schema: JsonObject): fc.Arbitrary<number> {
  const most = schema['format'] === 'int32' ? INT32 : INT64;
  const min = Number(schema['minimum'] ?? -most);
  const max = Math.min(most, Number(schema['maximum'] ?? most));
  return fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max), fc.integer({ min, max: 9 }));
}

const OF_OTHER_TYPE: Readonly<Record<string, readonly unknown[]>> = {
  object: [true, 1, 'x', [1]],
  array: [true, 1, 'x', { a: 1 }],
  string: [true, 1, [1], { a: 1 }],
  integer: [true, 'x', 1.5, '', [1], { a: 1 }],
  boolean: [1, 'true', [true], { a: 1 }],
};

/** Values of another type than the schema asks for; none where it allows any. */
export const wrong = ({ type }: JsonObject): readonly unknown[] =>
  typeof type === 'string' ? (OF_OTHER_TYPE[type] ?? []) : [];
