/**
 * `match` becomes a variable with tests of its kind (docs/protocol/scripts.md#match). A value that
 * no case takes would end in `throw()`; the check of exhaustiveness makes that unreachable.
 */
import { TRUE, type Tree } from '../language/tree.ts';
import {
  breadth,
  common,
  covers,
  equivalent,
  members,
  NOTHING,
  type Type,
  typesText,
  typeText,
  unionOf,
} from '../language/types.ts';
import { typeError } from './scanner.ts';
import { enter, leave, requireFree, type Scope, type Typed } from './scope.ts';
import type { Case, Syntax } from './syntax.ts';

type Match = Extract<Syntax, { is: 'match' }>;
type Compile = (syntax: Syntax, scope: Scope) => Typed;

/** The native function that tests the kind of a value; no source can call it. */
export const IS_INSTANCE = 1;

/** Nodes of the tree for each type that a case names. */
const NODES_PER_TEST = 4;

/** Throws ScriptError. */
export function compileMatch(match: Match, outer: Scope, compile: Compile): Typed {
  const of = compile(match.of, outer);
  if (of.type.kind !== 'union') throw typeError('Only union type can be matched');
  const name = `$match${outer.matches}`;
  const scope: Scope = { ...outer, matches: outer.matches + 1 };
  const shadowed = match.of.is === 'name' ? match.of.name : undefined;

  const types = match.cases.map((one) => typesOf(one, scope));
  const bodies: Typed[] = [];
  for (const [i, one] of match.cases.entries()) {
    const variable = one.variable === shadowed ? undefined : one.variable;
    if (variable !== undefined) requireFree(variable, scope);
    const type = one.types.length === 0 ? of.type : unionOf(types[i]!);
    bodies.push(caseBody(one, { name, type }, scope, compile));
    // What follows a case for every type is never reached, and is not compiled.
    if (one.types.length === 0) break;
  }
  requireExhaustive(match, of.type, types.flat());

  let rest: Tree = { op: 'call', header: 'throw', args: [] };
  let result: Type = NOTHING;
  for (let i = bodies.length - 1; i >= 0; i--) {
    const { tree } = bodies[i]!;
    const isDefault = match.cases[i]!.types.length === 0;
    rest = isDefault ? tree : { op: 'if', test: anyOf(name, types[i]!), yes: tree, no: rest };
  }
  for (const { type } of bodies) {
    scope.steps.take(breadth(result) + breadth(type));
    result = common(result, type);
  }
  return { tree: { op: 'block', name, value: of.tree, body: rest }, type: result };
}

function caseBody(
  { variable, body }: Case,
  matched: { readonly name: string; readonly type: Type },
  scope: Scope,
  compile: Compile,
): Typed {
  if (variable === undefined) return compile(body, scope);
  const outer = enter(scope, variable, matched.type);
  const { tree, type } = compile(body, scope);
  leave(scope, variable, outer);
  const value: Tree = { op: 'ref', name: matched.name };
  return { tree: { op: 'block', name: variable, value, body: tree }, type };
}

/** The types that a case names; a name may stand for several. */
function typesOf({ variable = '_', types }: Case, scope: Scope): readonly Type[] {
  const { named } = scope.types;
  return types.flatMap((name) => {
    const type = named.get(name);
    if (type !== undefined) {
      scope.steps.take(breadth(type) * NODES_PER_TEST);
      return members(type);
    }
    const possible = [...named.values()].map(typeText).join(', ');
    throw typeError(
      `Value '${variable}' declared as non-existing type, ` +
        `while all possible types are List(${possible})`,
    );
  });
}

function requireExhaustive({ cases }: Match, possible: Type, matched: readonly Type[]): void {
  const whole = unionOf(matched);
  const hasDefault = cases.at(-1)!.types.length === 0;
  if (hasDefault ? covers(possible, whole) : equivalent(possible, whole)) return;
  throw typeError(
    `Matching not exhaustive: possibleTypes are ${typesText(members(possible))}, ` +
      `while matched are ${typesText(matched)}`,
  );
}

/** The first type is tested last. */
function anyOf(name: string, types: readonly Type[]): Tree {
  const tests = types.map((type): Tree => {
    const kind: Tree = { op: 'string', value: typeText(type) };
    return { op: 'call', header: IS_INSTANCE, args: [{ op: 'ref', name }, kind] };
  });
  return tests.reduce((other, test) => ({ op: 'if', test, yes: TRUE, no: other }));
}
