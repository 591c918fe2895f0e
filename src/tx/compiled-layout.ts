/**
 * A layout prepared for use: names and codecs side by side in byte order, so that reading and
 * writing are plain loops. Made once for each layout.
 */
import { assert } from '../base/assert.ts';
import type { Codec } from '../codec/codec.ts';
import type { Fields, Layout, TxType, Values } from './transaction.ts';

// The codecs of a layout belong to fields of unrelated types.
// biome-ignore lint/suspicious/noExplicitAny: heterogeneous list
type AnyCodec = Codec<any>;

export interface CompiledLayout {
  readonly def: TxType;
  readonly layout: Layout;
  /** In byte order; `again[i]` marks a name that occurred before. */
  readonly names: readonly string[];
  readonly wires: readonly AnyCodec[];
  readonly again: readonly boolean[];
  /** Every name once, with the codec of its JSON form. */
  readonly jsonNames: readonly string[];
  readonly jsonCodecs: readonly AnyCodec[];
  /** The same names without the members that all transactions have. */
  readonly ownNames: readonly string[];
  readonly ownCodecs: readonly AnyCodec[];
  /** The fields that this layout lacks, and their values. */
  readonly absentNames: readonly string[];
  readonly absentValues: readonly unknown[];
}

const COMMON = new Set(['senderPublicKey', 'fee', 'timestamp']);
const cache = new WeakMap<Layout, CompiledLayout>();

export function compiledLayoutOf<F extends Fields>(def: TxType<F>, layout: Layout): CompiledLayout {
  const known = cache.get(layout);
  if (known !== undefined) return known;
  const compiled = compile(def as unknown as TxType, layout);
  cache.set(layout, compiled);
  return compiled;
}

function compile(def: TxType, layout: Layout): CompiledLayout {
  const names = layout.fields;
  const codec = (name: string): AnyCodec => {
    const found = def.fields[name];
    assert(found !== undefined, `type ${def.type} declares no field ${name}`);
    return found;
  };
  const once = [...new Set(names)];
  const own = once.filter((name) => !COMMON.has(name));
  const absent = Object.keys(def.fields).filter((name) => !once.includes(name));
  return {
    def,
    layout,
    names,
    wires: names.map((name) => layout.wire?.[name] ?? codec(name)),
    again: names.map((name, i) => names.indexOf(name) < i),
    jsonNames: once,
    jsonCodecs: once.map(codec),
    ownNames: own,
    ownCodecs: own.map(codec),
    absentNames: absent,
    absentValues: absent.map((name) => codec(name).absent),
  };
}

/** All fields of the type: those of the layout as given, the others as absent. */
export function complete<F extends Fields>(compiled: CompiledLayout, given: object): Values<F> {
  const source = given as Record<string, unknown>;
  const values: Record<string, unknown> = {};
  for (let i = 0; i < compiled.jsonNames.length; i++) {
    const name = compiled.jsonNames[i]!;
    values[name] = source[name];
  }
  return withAbsent(compiled, values) as Values<F>;
}

export function withAbsent(
  compiled: CompiledLayout,
  values: Record<string, unknown>,
): Record<string, unknown> {
  for (let i = 0; i < compiled.absentNames.length; i++) {
    values[compiled.absentNames[i]!] = compiled.absentValues[i];
  }
  return values;
}
