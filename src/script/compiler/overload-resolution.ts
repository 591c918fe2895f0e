/**
 * Whether arguments match the parameters of a function, and what it then returns
 * (docs/protocol/scripts.md#calls).
 */
import { type Builtin, overloadsOf, type Parameter, type Result } from '../evaluation/functions.ts';
import type { CaseTypes } from '../language/case-types.ts';
import type { Header } from '../language/tree.ts';
import {
  common,
  covers,
  joinedTypes,
  list,
  members,
  NOTHING,
  type Type,
  typesText,
  typeText,
  UNIT_TYPE,
  union,
  unionOf,
} from '../language/types.ts';
import { typeError } from './scanner.ts';

interface Candidate {
  readonly header: Header;
  readonly parameters: readonly Parameter[];
  readonly result: Result;
}

export interface Resolved {
  readonly header: Header;
  readonly type: Type;
}

/** Throws ScriptError. */
export function resolveCall(name: string, args: readonly Type[], types: CaseTypes): Resolved {
  const found = candidates(name, types);
  const results = found.map((candidate) => matched(name, candidate, args, types));
  const fitting = results.filter((result) => typeof result !== 'function');
  if (fitting.length === 1) return fitting[0]!;
  const [first] = results;
  if (results.length === 1 && typeof first === 'function') throw typeError(first());
  if (fitting.length === 0) {
    throw typeError(`Can't find a function '${name}'(${joinedTypes(args)})`);
  }
  const all = found.map(({ header }) => String(header)).join(', ');
  throw typeError(`Can't choose an overloaded function. Candidates: ${all}`);
}

/** True where the name belongs to a function that sources may call; no variable may have it. */
export const isFunction = (name: string): boolean => overloadsOf(name).length > 0;

function candidates(name: string, types: CaseTypes): readonly Candidate[] {
  const overloads: readonly Builtin[] = overloadsOf(name);
  if (overloads.length > 0) return overloads;
  const type = types.constructors.get(name);
  if (type === undefined) return [];
  return [{ header: name, parameters: [...type.fields.values()], result: type }];
}

/** The text of a refusal, which is made only if it is shown. */
type Reason = () => string;

/** What the call resolves to, or why the candidate does not fit. */
function matched(
  name: string,
  { header, parameters, result }: Candidate,
  args: readonly Type[],
  types: CaseTypes,
): Resolved | Reason {
  if (args.length !== parameters.length) {
    return () =>
      `Function '${name}' requires ${parameters.length} arguments, but ${args.length} are provided`;
  }
  const bound: Type[] = [];
  for (const [i, parameter] of parameters.entries()) {
    if (!fits(args[i]!, parameter, bound)) {
      return () =>
        `Non-matching types: expected: ${parameterText(parameter)}, actual: ${typeText(args[i]!)}`;
    }
  }
  const t = inferred(bound);
  if (t === undefined) {
    return () => `Can't match inferred types of TYPEPARAM(84) over ${typesText(bound)}`;
  }
  return { header, type: resultType(result, t, types) };
}

/** Adds to `bound` what the argument binds the type parameter to. */
function fits(arg: Type, parameter: Parameter, bound: Type[]): boolean {
  if (arg === NOTHING) return true;
  switch (parameter.kind) {
    case 'T':
      bound.push(arg);
      return true;
    case 'LIST(T)':
      if (arg.kind !== 'list') return false;
      if (arg.of !== NOTHING) bound.push(arg.of);
      return true;
    case 'T|Unit':
      if (!covers(UNIT_TYPE, arg)) bound.push(without(arg, UNIT_TYPE));
      return true;
    case 'list':
      return arg.kind === 'list' && fits(arg.of, parameter.of, bound);
    default:
      return covers(parameter, arg);
  }
}

/**
 * The common type of all bindings, or undefined where they have too little in common: at least one
 * member of a union must belong to every bound type.
 */
function inferred(bound: readonly Type[]): Type | undefined {
  const type = bound.reduce<Type>(common, NOTHING);
  if (bound.length < 2 || type.kind !== 'union') return type;
  const isShared = members(type).some((member) => bound.every((one) => covers(one, member)));
  return isShared ? type : undefined;
}

function without(type: Type, removed: Type): Type {
  return unionOf(members(type).filter((member) => !covers(removed, member)));
}

function resultType(result: Result, t: Type, types: CaseTypes): Type {
  if (result === 'AnyTransaction|Unit') return union(types.anyTransaction, UNIT_TYPE);
  if (result.kind === 'T') return t;
  if (result.kind === 'LIST(T)') return list(t);
  return result.kind === 'T|Unit' ? union(t, UNIT_TYPE) : result;
}

function parameterText(parameter: Parameter): string {
  switch (parameter.kind) {
    case 'T':
      return 'TYPEPARAM(84)';
    case 'LIST(T)':
      return 'LIST(TYPEPARAM(84))';
    case 'T|Unit':
      return 'UNION(TYPEPARAM(84)|Unit)';
    default:
      return typeText(parameter);
  }
}
