/**
 * The fields of `tx send <type>` as flags: names, kinds, descriptions and required fields follow
 * from the schemas of sign requests, and these follow from the declarations of the types.
 */
import { InvalidArgumentError, Option } from 'commander';
import { type JsonObject, parse } from '../../../base/json/json.ts';
import type { JsonSchema } from '../../../codec/codec.ts';
import { transactionSchemas } from '../../../tx/json/transaction-schemas.ts';
import { types } from '../../../tx/registry.ts';

export interface SendType {
  readonly type: number;
  readonly key: string;
  readonly doc: string;
  /** Field name → schema, over all versions. */
  readonly fields: ReadonlyMap<string, JsonSchema>;
  /** Fields that every version requires. */
  readonly required: readonly string[];
  /** The lowest version first; a version may have two forms. */
  readonly versions: readonly { readonly version: number; readonly names: ReadonlySet<string> }[];
}

/** Every type that clients may submit and a node signs. */
export function sendTypes(): SendType[] {
  const forms = new Map<number, JsonSchema[]>();
  for (const [name, schema] of Object.entries(transactionSchemas())) {
    const type = propertiesOf(schema)['type']?.['const'];
    if (!name.startsWith('Unsigned') || typeof type !== 'number') continue;
    forms.set(type, [...(forms.get(type) ?? []), schema]);
  }
  return [...forms].flatMap(([type, schemas]) => {
    const def = types.get(type);
    return def === undefined || def.internal === true
      ? []
      : [{ type, key: def.key, doc: def.doc, ...fieldsOf(schemas) }];
  });
}

/** Members that the command fills in by itself. */
const OWN = new Set(['type', 'version', 'password']);

function fieldsOf(forms: readonly JsonSchema[]): Omit<SendType, 'type' | 'key' | 'doc'> {
  const fields = new Map<string, JsonSchema>();
  const versions = forms.map((form) => {
    const properties = propertiesOf(form);
    const own = Object.entries(properties).filter(([name]) => !OWN.has(name));
    for (const [name, schema] of own) if (!fields.has(name)) fields.set(name, schema);
    return {
      version: Number(properties['version']?.['const']),
      names: new Set(own.map(([name]) => name)),
    };
  });
  const required = [...fields.keys()].filter((name) =>
    forms.every((form) => (form['required'] as readonly string[]).includes(name)),
  );
  // Required fields come first, then those that the node would fill in.
  const rank = (name: string): number => (required.includes(name) ? 0 : name in DOCS ? 2 : 1);
  const sorted = [...fields].sort(([a], [b]) => rank(a) - rank(b));
  return { fields: new Map(sorted), required, versions };
}

const propertiesOf = (schema: JsonSchema): Readonly<Record<string, JsonSchema>> =>
  (schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>;

/** Descriptions that the schemas do not contain. */
const DOCS: Readonly<Record<string, string>> = {
  sender: 'address of an account in the keystore of the node',
  fee: 'default: the fee that the node calculates',
  timestamp: 'ms since 1970 UTC; default: now',
};

/** `assetId` → `--asset-id` */
export const flagOf = (name: string): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

export function fieldOption(of: SendType, name: string): Option {
  const schema = of.fields.get(name) ?? {};
  const read = (text: string): unknown => {
    try {
      return valueFrom(schema, text);
    } catch (cause) {
      throw new InvalidArgumentError(cause instanceof Error ? cause.message : String(cause));
    }
  };
  const option = new Option(`${flagOf(name)} ${placeholder(schema)}`, docOf(of, name, schema));
  const { enum: words, type } = bare(schema);
  if (Array.isArray(words)) option.choices(words.map(String));
  const isList = type === 'array';
  return option.argParser((text: string, former: unknown) =>
    isList
      ? [...((former as unknown[] | undefined) ?? []), ...(read(text) as unknown[])]
      : read(text),
  );
}

function docOf(of: SendType, name: string, schema: JsonSchema): string {
  const { description, minimum, maximum } = { ...schema, ...bare(schema) };
  const having = of.versions.filter(({ names }) => names.has(name));
  const facts = [
    ...(of.required.includes(name) ? ['required'] : []),
    ...(having.length === of.versions.length ? [] : [`from version ${having[0]?.version}`]),
    ...(minimum === undefined || minimum === 0 ? [] : [`at least ${minimum}`]),
    ...(maximum === undefined ? [] : [`at most ${maximum}`]),
  ];
  const text = DOCS[name] ?? description ?? formDoc(bare(schema));
  const braced = facts.length === 0 ? '' : `(${facts.join('; ')})`;
  return [text, braced].filter((part) => part).join(' ');
}

/** The form of a value that is not plain. */
function formDoc({ type, items, properties }: JsonSchema): string {
  const members = (of: object): string =>
    Object.keys(of)
      .map((name) => `${name}=…`)
      .join(',');
  if (type === 'object') return `${members(properties ?? {})}, or a JSON object`;
  if (type !== 'array') return '';
  const item = propertiesOf(items as JsonSchema);
  const one = Object.keys(item).length === 0 ? 'one item' : members(item);
  return `${one}, once for each; or a JSON list`;
}

function placeholder(schema: JsonSchema): string {
  const { enum: choices, type, format, description } = bare(schema);
  if (Array.isArray(choices)) return '<name>';
  if (type === 'boolean') return '[true|false]';
  if (type === 'array') return '<item>';
  if (type !== 'string') return `<${type}>`;
  return String(description).startsWith('address') ? '<address>' : `<${format ?? 'text'}>`;
}

/** The schema without the alternative null. */
function bare(schema: JsonSchema): JsonSchema {
  const alternatives = schema['anyOf'] as readonly JsonSchema[] | undefined;
  return alternatives?.find(({ type }) => type !== 'null') ?? schema;
}

/** A value in the form of the command line. Throws Error with the expected form. */
export function valueFrom(schema: JsonSchema, text: string): unknown {
  const { type, enum: choices, items } = bare(schema);
  if (text === 'null' && bare(schema) !== schema) return null;
  if (Array.isArray(choices)) {
    if (choices.includes(text)) return text;
    throw new Error(`expected one of ${choices.join(', ')}`);
  }
  switch (type) {
    case 'string':
      return text;
    case 'integer':
      if (/^[+-]?\d+$/.test(text)) return parse(text.replace('+', ''));
      throw new Error('expected an integer');
    case 'boolean':
      if (text === 'true' || text === 'false') return text === 'true';
      throw new Error('expected true or false');
    case 'array':
      if (text.trimStart().startsWith('[')) return json(text);
      return [valueFrom((items ?? {}) as JsonSchema, text)];
    case 'object':
      return text.trimStart().startsWith('{') ? json(text) : pairs(bare(schema), text);
    default:
      return loose(text);
  }
}

/** `recipient=3N…,amount=5` as an object; a value with a comma in it needs JSON. */
function pairs(schema: JsonSchema, text: string): JsonObject {
  const out: JsonObject = {};
  const properties = propertiesOf(schema);
  for (const part of text.split(',')) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(part) ?? [];
    if (name === undefined || value === undefined || properties[name] === undefined) {
      const names = Object.keys(properties).map((one) => `${one}=…`);
      throw new Error(`expected ${names.join(',')} or a JSON object`);
    }
    // The value of an entry has the kind that the member `type` before it names.
    const isOpen = Object.keys(properties[name]).every((keyword) => keyword === 'description');
    const kind = isOpen && typeof out['type'] === 'string' ? { type: out['type'] } : undefined;
    out[name] = valueFrom(kind ?? properties[name], value);
  }
  return out;
}

const json = (text: string): unknown => {
  try {
    return parse(text);
  } catch {
    throw new Error('expected JSON');
  }
};

/** The JSON value where the text is JSON, else the text itself. */
export function loose(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return text;
  }
}

/** The lowest version that has all these fields; undefined where there is none. */
export function versionFor(of: SendType, names: readonly string[]): number | undefined {
  const known = names.filter((name) => of.fields.has(name));
  return of.versions.find((form) => known.every((name) => form.names.has(name)))?.version;
}
