/** What is known at a place of a source: its variables and the types that it may name. */
import { BUY_TYPE, type CaseTypes, caseTypes, SELL_TYPE } from '../language/case-types.ts';
import type { Steps } from '../language/steps.ts';
import { type Context, predefinedNames, type Tree, type Version } from '../language/tree.ts';
import { INT, type Type, UNIT_TYPE } from '../language/types.ts';
import { isFunction } from './overload-resolution.ts';
import { typeError } from './scanner.ts';

export interface Scope {
  readonly types: CaseTypes;
  /** One map for the whole script: a place changes it on the way in, and back on the way out. */
  readonly variables: Map<string, Type>;
  readonly steps: Steps;
  /** How many `match` expressions are around this place. */
  readonly matches: number;
}

/** A compiled part of a script. */
export interface Typed {
  readonly tree: Tree;
  readonly type: Type;
}

export function outerScope(version: Version, context: Context, steps: Steps): Scope {
  const types = caseTypes(context);
  const known = { tx: types.tx, height: INT, unit: UNIT_TYPE, Buy: BUY_TYPE, Sell: SELL_TYPE };
  const names = predefinedNames(version) as readonly (keyof typeof known)[];
  const variables = new Map(names.map((name) => [name, known[name]]));
  return { types, variables, steps, matches: 0 };
}

/** Throws ScriptError where the name is taken. */
export function requireFree(name: string, scope: Scope): void {
  if (scope.variables.has(name)) throw typeError(`Value '${name}' already defined in the scope`);
  if (isFunction(name)) {
    throw typeError(
      `Value '${name}' can't be defined because function with this name is already defined`,
    );
  }
}

/** Gives the name a type, until `leave` gets the result. */
export function enter({ variables }: Scope, name: string, type: Type): Type | undefined {
  const outer = variables.get(name);
  variables.set(name, type);
  return outer;
}

export function leave({ variables }: Scope, name: string, outer: Type | undefined): void {
  if (outer === undefined) variables.delete(name);
  else variables.set(name, outer);
}
