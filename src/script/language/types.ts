/**
 * Types of the expression language and their order (docs/protocol/scripts.md#types). A union is
 * flat, and no type has more members than the language has types without unions, twice.
 */
export interface CaseType {
  readonly kind: 'case';
  readonly name: string;
  readonly fields: ReadonlyMap<string, Type>;
}

export interface Plain {
  readonly kind: 'plain';
  readonly name: 'Int' | 'String' | 'ByteVector' | 'Boolean' | 'Nothing';
}

export interface List {
  readonly kind: 'list';
  readonly name: string;
  readonly of: Type;
}

/** Two of them are equal if their names are. */
export type Single = Plain | CaseType | List;

export interface Union {
  readonly kind: 'union';
  readonly members: readonly Single[];
  readonly names: ReadonlySet<string>;
}

export type Type = Single | Union;

const plain = (name: Plain['name']): Plain => ({ kind: 'plain', name });

export const INT = plain('Int');
export const STRING = plain('String');
export const BYTES = plain('ByteVector');
export const BOOLEAN = plain('Boolean');
export const NOTHING = plain('Nothing');
export const UNIT_TYPE: CaseType = { kind: 'case', name: 'Unit', fields: new Map() };

export const list = (of: Type): List => ({ kind: 'list', name: `LIST(${typeText(of)})`, of });

/** The members of a type: none for Nothing, and the type itself unless it is a union. */
export function members(type: Type): readonly Single[] {
  if (type.kind === 'union') return type.members;
  return type === NOTHING ? [] : [type];
}

/** How many steps it takes to look at a type. */
export const breadth = (type: Type): number => members(type).length;

export const union = (...types: readonly Type[]): Type => unionOf(types);

/**
 * A union of one member is that member. One that was named twice makes a union of its own, which
 * `match` takes; naming it more often means nothing more.
 */
export function unionOf(types: Iterable<Type>): Type {
  const once = new Set<string>();
  const twice = new Set<string>();
  const flat: Single[] = [];
  for (const type of types) {
    for (const member of members(type)) {
      if (twice.has(member.name)) continue;
      (once.has(member.name) ? twice : once).add(member.name);
      flat.push(member);
    }
  }
  return flat.length === 1 ? flat[0]! : { kind: 'union', members: flat, names: once };
}

/** True where every value of `b` is one of `a`. */
export function covers(a: Type, b: Type): boolean {
  if (a === b) return true;
  return a.kind === 'union'
    ? members(b).every(({ name }) => a.names.has(name))
    : members(b).every(({ name }) => a.name === name);
}

export const equivalent = (a: Type, b: Type): boolean => covers(a, b) && covers(b, a);

/** The least type that has the values of both. */
export function common(a: Type, b: Type): Type {
  if (a === NOTHING) return b;
  if (b === NOTHING || equivalent(a, b)) return a;
  if (a.kind === 'list' && b.kind === 'list') {
    const of = common(a.of, b.of);
    if (of === NOTHING) return NOTHING;
    return of.kind === 'union' ? union(a, b) : list(of);
  }
  // A single type stands after the union that it extends.
  if (a.kind !== 'union' && b.kind === 'union') return covers(b, a) ? b : union(b, a);
  return unionOf([a, ...members(b).filter((type) => !covers(a, type))]);
}

/** As errors show it. */
export function typeText(type: Type): string {
  if (type.kind !== 'union') return type.name;
  return `UNION(${type.members
    .map(({ name }) => name)
    .sort()
    .join('|')})`;
}

/** More than a refusal can show. */
const TYPES_SHOWN_MAX = 100;

/** Those in front of a long list, as errors show them. */
export function joinedTypes(types: readonly Type[]): string {
  const texts = types.slice(0, TYPES_SHOWN_MAX).map(typeText);
  return [...texts, ...(types.length > TYPES_SHOWN_MAX ? ['…'] : [])].join(', ');
}

export const typesText = (types: readonly Type[]): string => `List(${joinedTypes(types)})`;
