/**
 * Types of the expression language and their order (docs/protocol/scripts.md#types). A union is
 * flat; it may name a member twice, and comparisons ignore that.
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

export interface Union {
  readonly kind: 'union';
  readonly members: readonly Type[];
}

export interface List {
  readonly kind: 'list';
  readonly of: Type;
}

export type Type = Plain | CaseType | Union | List;

const plain = (name: Plain['name']): Plain => ({ kind: 'plain', name });

export const INT = plain('Int');
export const STRING = plain('String');
export const BYTES = plain('ByteVector');
export const BOOLEAN = plain('Boolean');
export const NOTHING = plain('Nothing');
export const UNIT_TYPE: CaseType = { kind: 'case', name: 'Unit', fields: new Map() };

export const list = (of: Type): List => ({ kind: 'list', of });

/** The members of a type: none for Nothing, and the type itself unless it is a union. */
export function members(type: Type): readonly Type[] {
  if (type.kind === 'union') return type.members;
  return type === NOTHING ? [] : [type];
}

/** A union of one member is that member. */
export function union(...types: readonly Type[]): Type {
  const flat = types.flatMap(members);
  return flat.length === 1 ? flat[0]! : { kind: 'union', members: flat };
}

/** True where every value of `b` is one of `a`. */
export function covers(a: Type, b: Type): boolean {
  const wide = members(a);
  return members(b).every((member) => wide.some((type) => equalTypes(type, member)));
}

export const equivalent = (a: Type, b: Type): boolean => covers(a, b) && covers(b, a);

function equalTypes(a: Type, b: Type): boolean {
  if (a === b) return true;
  if (a.kind === 'list') return b.kind === 'list' && equivalent(a.of, b.of);
  return a.kind === 'case' && b.kind === 'case' && a.name === b.name;
}

/** The least type that has the values of both. */
export function common(a: Type, b: Type): Type {
  if (a === NOTHING) return b;
  if (b === NOTHING || equivalent(a, b)) return a;
  if (a.kind === 'list' && b.kind === 'list') {
    const of = common(a.of, b.of);
    if (of === NOTHING) return NOTHING;
    return of.kind === 'union' ? union(a, b) : list(of);
  }
  const known = members(a);
  const added = members(b).filter((type) => !known.some((other) => equalTypes(other, type)));
  // A single type stands after the union that it extends.
  return a.kind !== 'union' && b.kind === 'union'
    ? union(b, ...(covers(b, a) ? [] : [a]))
    : union(a, ...added);
}

/** As errors show it. */
export function typeText(type: Type): string {
  switch (type.kind) {
    case 'list':
      return `LIST(${typeText(type.of)})`;
    case 'union':
      return `UNION(${type.members.map(typeText).sort().join('|')})`;
    default:
      return type.name;
  }
}

export const typesText = (types: readonly Type[]): string =>
  `List(${types.map(typeText).join(', ')})`;
