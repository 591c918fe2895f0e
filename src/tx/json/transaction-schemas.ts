/**
 * The declarations as JSON Schemas for the interface description: a component for each type and
 * version, in the forms of answers, broadcast and sign, and the unions of all of them.
 */
import type { Codec, JsonSchema } from '../../codec/codec.ts';
import { nullable } from '../../codec/struct.ts';
import { base58 } from '../../codec/text.ts';
import { isSigned } from '../assemble.ts';
import { type CompiledLayout, compiledLayoutOf } from '../compiled-layout.ts';
import { proofs } from '../fields/proofs.ts';
import { allTypes } from '../registry.ts';
import { lease } from '../types/008-lease.ts';
import { leaseCancel } from '../types/009-lease-cancel.ts';
import { guardBroadcast, guardSign } from './request.ts';

type Properties = Record<string, JsonSchema>;

interface Members {
  readonly properties: Properties;
  readonly required: readonly string[];
}

const address: JsonSchema = { type: 'string', description: 'address' };
const password = nullable({ type: 'string', description: 'of the key in the keystore' });

/** Components by name, among them `Transaction`, `SignedTransaction`, `UnsignedTransaction`. */
export function transactionSchemas(): Record<string, JsonSchema> {
  const schemas: Record<string, JsonSchema> = {};
  const unions: Record<string, { $ref: string }[]> = {
    Transaction: [],
    SignedTransaction: [],
    UnsignedTransaction: [],
  };
  const add = (union: string, name: string, compiled: CompiledLayout, members: Members): void => {
    schemas[name] = { type: 'object', description: compiled.def.doc, ...members };
    unions[union]!.push({ $ref: `#/components/schemas/${name}` });
  };
  for (const def of allTypes) {
    for (const layout of def.layouts) {
      const compiled = compiledLayoutOf(def, layout);
      const name = componentName(compiled);
      add('Transaction', name, compiled, answer(compiled));
      if (passes(() => guardBroadcast(compiled)))
        add('SignedTransaction', `Signed${name}`, compiled, signed(compiled));
      if (passes(() => guardSign(compiled)))
        add('UnsignedTransaction', `Unsigned${name}`, compiled, unsigned(compiled));
    }
  }
  // `anyOf` and not `oneOf`: the two layouts of sponsorship (14) look the same in answers.
  for (const [union, anyOf] of Object.entries(unions)) schemas[union] = { anyOf };
  return schemas;
}

/** `TransferV2`; for a version with two layouts the name contains the variant. */
function componentName({ def, layout }: CompiledLayout): string {
  const bare = def.name.replace(/Transaction$/, '');
  if (def.versionless === true) return bare;
  const isAmbiguous = def.layouts.filter(({ version }) => version === layout.version).length > 1;
  const variant = isAmbiguous ? (layout.variant ?? '') : '';
  return `${bare}V${layout.version}${variant.slice(0, 1).toUpperCase()}${variant.slice(1)}`;
}

function passes(guard: () => void): boolean {
  try {
    guard();
    return true;
  } catch {
    return false;
  }
}

function answer(compiled: CompiledLayout): Members {
  const { def, layout } = compiled;
  const isGenesis = layout.frame === 'genesis';
  const evidence: Properties =
    isGenesis || isSigned(layout.frame) ? { signature: base58.schema } : {};
  const sender: Properties = isGenesis ? {} : { sender: address, senderPublicKey: base58.schema };
  const properties: Properties = {
    type: { const: def.type },
    ...(def.versionless === true ? {} : { version: { const: layout.version } }),
    id: base58.schema,
    ...sender,
    fee: { type: 'integer', format: 'int64' },
    ...evidence,
    ...(isGenesis ? {} : { proofs: proofs.schema }),
    ...asShown(fieldProperties(compiled)),
    ...accountProperties(compiled),
    ...def.derivedSchema,
  };
  const required = Object.keys(properties);
  return { properties: { ...properties, ...ofConfirmed, ...extended.get(def.type) }, required };
}

/** In an answer the transactions inside another one have the form of answers, too. */
const asShown = (properties: Properties): Properties =>
  JSON.parse(JSON.stringify(properties).replaceAll('/SignedTransaction"', '/Transaction"'));

const ofConfirmed: Properties = {
  height: { type: 'integer' },
  final: { type: 'boolean', description: 'in /transactions/info, where voters make blocks final' },
};

/** What /transactions/info, /blocks/at and /blocks/seqext add. */
const extended: ReadonlyMap<number, Properties> = new Map([
  [lease.type, { status: { enum: ['active', 'canceled'] } }],
  [leaseCancel.type, { lease: nullable({ $ref: '#/components/schemas/Transaction' }) }],
]);

function signed(compiled: CompiledLayout): Members {
  const { def, layout } = compiled;
  const evidence: Properties = isSigned(layout.frame)
    ? { signature: base58.schema }
    : { proofs: proofs.schema };
  return {
    properties: {
      type: { const: def.type },
      version: { const: layout.version },
      ...fieldProperties(compiled),
      ...accountProperties(compiled),
      ...evidence,
    },
    required: ['type', ...requiredFields(compiled), ...Object.keys(evidence)],
  };
}

/** The node fills these in: it knows the key and the time, and calculates the fee. */
const FILLED_IN = new Set(['senderPublicKey', 'authorPublicKey', 'timestamp', 'fee']);

function unsigned(compiled: CompiledLayout): Members {
  const { def, layout } = compiled;
  const { senderPublicKey: _key, ...fields } = fieldProperties(compiled);
  return {
    properties: {
      type: { const: def.type },
      version: { const: layout.version },
      sender: address,
      password,
      ...fields,
      ...accountProperties(compiled),
    },
    required: [
      'type',
      'sender',
      ...requiredFields(compiled).filter((name) => !FILLED_IN.has(name)),
    ],
  };
}

const accountProperties = ({ def }: CompiledLayout): Properties =>
  Object.fromEntries(Object.keys(def.accounts ?? {}).map((member) => [member, address]));

function fieldProperties(compiled: CompiledLayout): Properties {
  const properties: Properties = {};
  compiled.jsonNames.forEach((name, i) => {
    const codec = compiled.jsonCodecs[i]!;
    if (codec.flat) Object.assign(properties, codec.schema['properties']);
    else properties[name] = codec.schema;
  });
  return properties;
}

function requiredFields(compiled: CompiledLayout): string[] {
  return compiled.jsonNames.filter((_, i) => {
    const codec: Codec<unknown> = compiled.jsonCodecs[i]!;
    return codec.optional !== true && codec.flat !== true;
  });
}
