/** The declarations themselves: complete, unambiguous, and each backed by an outside vector. */
import t from 'tap';
import { compiledLayoutOf } from '../../src/tx/compiled-layout.ts';
import { transactionSchemas } from '../../src/tx/json/transaction-schemas.ts';
import { allTypes, types } from '../../src/tx/registry.ts';
import { accepted } from './vectors.ts';

/** The versions of this node's era (transactions.md#types-and-versions). */
const ERA: Readonly<Record<number, readonly number[]>> = {
  1: [1],
  2: [1],
  3: [1, 2],
  4: [1, 2],
  5: [1, 2],
  6: [1, 2],
  7: [1, 2],
  8: [1, 2],
  9: [1, 2],
  10: [1, 2],
  11: [1],
  12: [1],
  13: [1],
  14: [1],
  15: [1],
  101: [1],
  102: [1],
  103: [1],
  104: [1, 2],
  105: [1],
  106: [1],
  107: [1],
  110: [1],
  111: [1],
  112: [1],
  113: [1],
  114: [1],
  /** Behind a feature. */
  120: [],
};

/** No client builds them and no vector exists. */
const WITHOUT_VECTOR = new Set(['7.1']);

t.test('numbers, names and keys are unique', (t) => {
  for (const member of ['type', 'name', 'key'] as const) {
    t.equal(new Set(allTypes.map((def) => def[member])).size, allTypes.length, member);
  }
  t.same(
    allTypes.map((def) => def.type),
    Object.keys(ERA).map(Number),
    'every type of the era, in order',
  );
  t.equal(types.get(4)?.name, 'TransferTransaction');
  t.equal(types.get(99), undefined);
  t.end();
});

t.test('versions of the era need no feature of a later one', (t) => {
  for (const def of allTypes) {
    for (const version of ERA[def.type]!) {
      const layouts = def.layouts.filter((layout) => layout.version === version);
      t.ok(layouts.length > 0, `${def.key} has version ${version}`);
      t.ok(layouts.every(({ feature = 0 }) => feature < 100));
    }
    for (const layout of def.layouts) {
      if (ERA[def.type]!.includes(layout.version)) continue;
      t.ok((layout.feature ?? 0) > 100, `${def.key} ${layout.version} is gated`);
    }
  }
  t.end();
});

t.test('fields', (t) => {
  for (const def of allTypes) {
    const used = new Set(def.layouts.flatMap((layout) => layout.fields));
    for (const [name, codec] of Object.entries(def.fields)) {
      t.notMatch(name, /^\d/, 'JavaScript would reorder it');
      t.ok(used.has(name), `${def.key}.${name} is used`);
      const missing = def.layouts.some((layout) => !layout.fields.includes(name));
      const mayMiss = 'absent' in codec || codec.optional === true;
      if (missing) t.ok(mayMiss, `${def.key}.${name} has a value where it is absent`);
    }
    for (const layout of def.layouts)
      t.ok(compiledLayoutOf(def, layout), 'all its fields are declared');
    t.ok(def.doc.endsWith('.'));
  }
  t.end();
});

t.test('every version has a vector from outside', (t) => {
  const known = new Set(accepted.map((vector) => `${vector.type}.${vector.version}`));
  for (const def of allTypes) {
    for (const { version } of def.layouts) {
      const pair = `${def.type}.${version}`;
      if (!WITHOUT_VECTOR.has(pair)) t.ok(known.has(pair), pair);
    }
  }
  t.end();
});

t.test('JSON Schemas', (t) => {
  const schemas = transactionSchemas();
  const text = JSON.stringify(schemas);
  for (const [, name] of text.matchAll(/#\/components\/schemas\/(\w+)/g)) {
    t.ok(schemas[name!], String(name));
  }
  const { properties, required } = schemas['TransferV2'] as {
    properties: Record<string, unknown>;
    required: string[];
  };
  t.match(properties, { type: { const: 4 }, version: { const: 2 }, amount: { type: 'integer' } });
  t.ok(required.includes('senderPublicKey'));
  const unsigned = schemas['UnsignedTransferV2'] as { required: string[] };
  t.same(unsigned.required, ['type', 'sender', 'amount', 'recipient']);
  t.notOk(schemas['SignedGenesis'], 'clients do not submit what they may not');
  t.notOk(schemas['UnsignedExchangeV2']);
  t.ok(schemas['SponsorFeeV1Switch'] && schemas['SponsorFeeV1Ratio']);
  t.end();
});
