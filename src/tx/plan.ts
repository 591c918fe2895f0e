/**
 * A layout prepared for use: names and codecs side by side in byte order, so that reading and
 * writing are plain loops. Made once for each layout.
 */
import { assert } from '../base/assert.ts';
import type { Codec } from '../codec/codec.ts';
import type { Fields, Layout, TxType, Values } from './transaction.ts';

// The codecs of a plan belong to fields of unrelated types.
// biome-ignore lint/suspicious/noExplicitAny: heterogeneous list
type AnyCodec = Codec<any>;

export interface Plan {
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
const plans = new WeakMap<Layout, Plan>();

export function planOf<F extends Fields>(def: TxType<F>, layout: Layout): Plan {
  const known = plans.get(layout);
  if (known !== undefined) return known;
  const plan = makePlan(def as unknown as TxType, layout);
  plans.set(layout, plan);
  return plan;
}

function makePlan(def: TxType, layout: Layout): Plan {
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
export function complete<F extends Fields>(plan: Plan, given: object): Values<F> {
  const source = given as Record<string, unknown>;
  const values: Record<string, unknown> = {};
  for (let i = 0; i < plan.jsonNames.length; i++) {
    const name = plan.jsonNames[i]!;
    values[name] = source[name];
  }
  return withAbsent(plan, values) as Values<F>;
}

export function withAbsent(plan: Plan, values: Record<string, unknown>): Record<string, unknown> {
  for (let i = 0; i < plan.absentNames.length; i++) {
    values[plan.absentNames[i]!] = plan.absentValues[i];
  }
  return values;
}
