// Bodies with many errors, and bodies with too many values.

import t from 'tap';
import Type from 'typebox';
import { ApiError } from '../../src/base/errors.ts';
import { CodecError, type JsonSchema } from '../../src/codec/codec.ts';
import { routes } from '../../src/rest/routes/index.ts';
import { json, list } from '../../src/rest-framework/body.ts';
import { limits } from '../../src/rest-framework/limits.ts';

const body = json(Type.Object({ texts: list(Type.String(), 1000), name: Type.String() }));

function refusal(value: unknown): ApiError {
  try {
    body.parse(Buffer.from(JSON.stringify(value)));
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('accepted');
}

t.test('problems are collected up to 20, and reading ends there', async (t) => {
  const { code, extra } = refusal({ texts: Array(1000).fill(1) });
  t.equal(code, 1);
  const fields = Object.keys(extra['validationErrors'] as object);
  t.equal(fields.length, 20);
  t.strictSame(fields.slice(0, 2), ['obj.texts[0]', 'obj.texts[1]']);
});

t.test('too many values are refused before they are read, whatever the schema', async (t) => {
  const { parse } = json(Type.Object({ id: Type.String() }));
  const of = (values: number) => Buffer.from(`{"id":"x","more":[${'1,'.repeat(values - 4)}1]}`);
  t.strictSame(parse(of(limits.body.values)), { id: 'x' });
  t.throws(() => parse(of(limits.body.values + 1)), { name: 'ApiError', code: 10 });
});

t.test('too many elements are refused before they are looked at', async (t) => {
  const { code, message } = refusal({ texts: Array(1001).fill(1) });
  t.equal(code, 10);
  t.equal(message, 'Too big sequences requested: texts has 1001, at most 1000 are taken');
});

t.test('a refusal of a value carries no stack', async (t) => {
  t.notMatch(new CodecError('obj.a', 'error.expected.jsstring').stack, /\n/);
});

t.test('every list of every body has a bound', async (t) => {
  function* unbounded(schema: JsonSchema, path: string): Generator<string> {
    if (schema['type'] === 'array' && !(Number(schema['maxItems']) > 0)) yield path;
    for (const [key, value] of Object.entries(schema)) {
      if (typeof value === 'object' && value !== null) {
        yield* unbounded(value as JsonSchema, `${path}.${key}`);
      }
    }
  }
  for (const route of Object.values(routes)) {
    if (route.body === undefined) continue;
    t.strictSame([...unbounded(route.body.schema, route.path)], [], route.path);
  }
});
