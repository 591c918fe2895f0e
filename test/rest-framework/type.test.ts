// Our functions give the schemas of TypeBox, whose types they have.
import t from 'tap';
import TypeBox from 'typebox';
import { Type } from '../../src/rest-framework/type.ts';

const samples = (of: typeof Type): readonly object[] => [
  of.String({ maxLength: 3 }),
  of.Boolean(),
  of.Null({ description: 'none' }),
  of.Integer({ minimum: 1 }),
  of.Object({}),
  of.Object({ a: of.String(), b: of.Optional(of.Integer()) }, { description: 'some' }),
  of.Object({ only: of.Optional(of.Unsafe<string>({ anyOf: [] })) }),
  of.Array(of.Boolean(), { maxItems: 3 }),
  of.Union([of.Null(), of.Literal('a'), of.Literal(5), of.Literal(true)], { title: 'u' }),
  of.Record(of.String(), of.Array(of.String()), { description: 'by name' }),
  of.Unknown({ description: 'anything' }),
  of.Unsafe<unknown>({ $ref: 'x' }),
  of.Partial(of.Object({ a: of.String(), b: of.Optional(of.String()) })),
];

t.test('the text of every schema is that of TypeBox', (t) => {
  const expected = samples(TypeBox);
  for (const [i, schema] of samples(Type).entries()) {
    t.equal(JSON.stringify(schema), JSON.stringify(expected[i]));
  }
  t.end();
});
