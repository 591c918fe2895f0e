/**
 * From syntax to the typed tree (docs/protocol/scripts.md#compiler). The texts of the refusals are
 * those that clients know.
 */
import { Steps } from '../language/steps.ts';
import { type Context, ScriptError, type Tree, type Version } from '../language/tree.ts';
import {
  BOOLEAN,
  BYTES,
  breadth,
  common,
  equivalent,
  INT,
  members,
  NOTHING,
  STRING,
  type Type,
  typesText,
  typeText,
} from '../language/types.ts';
import { compileMatch } from './match-compiler.ts';
import { resolveCall } from './overload-resolution.ts';
import { typeError } from './scanner.ts';
import { enter, leave, outerScope, requireFree, type Scope, type Typed } from './scope.ts';
import type { Syntax } from './syntax.ts';

/** Twice what a script takes whose 8,192 bytes do nothing but join types as wide as that of `tx`. */
const STEPS_MAX = 50_000;

/**
 * The tree of a whole script. Throws ScriptError. A step looks at one node or at one member of its
 * type, so their number bounds the time.
 */
export function compileTree(syntax: Syntax, version: Version, context: Context): Tree {
  const steps = new Steps(STEPS_MAX, 'Script is too complex: too many types to check');
  const { tree, type } = compile(syntax, outerScope(version, context, steps));
  if (type !== BOOLEAN) throw new ScriptError('Script should return boolean');
  return tree;
}

function compile(syntax: Syntax, scope: Scope): Typed {
  scope.steps.take();
  switch (syntax.is) {
    case 'long':
      return { tree: { op: 'long', value: syntax.value }, type: INT };
    case 'bytes':
      return { tree: { op: 'bytes', value: syntax.value }, type: BYTES };
    case 'string':
      return { tree: { op: 'string', value: syntax.value }, type: STRING };
    case 'bool':
      return { tree: { op: 'bool', value: syntax.value }, type: BOOLEAN };
    case 'name':
      return variable(syntax.name, scope);
    case 'field':
      return getter(compile(syntax.of, scope), syntax.field, scope.steps);
    case 'if':
      return conditional(syntax, scope);
    case 'let':
      return declaration(syntax, scope);
    case 'call':
      return call(syntax, scope);
    case 'match':
      return compileMatch(syntax, scope, compile);
  }
}

type Node<Is> = Extract<Syntax, { is: Is }>;

function variable(name: string, scope: Scope): Typed {
  const type = scope.variables.get(name);
  if (type === undefined) throw typeError(`A definition of '${name}' is not found`);
  return { tree: { op: 'ref', name }, type };
}

function getter(of: Typed, field: string, steps: Steps): Typed {
  const owners = members(of.type);
  steps.take(owners.length);
  let type: Type = NOTHING;
  for (const owner of owners) {
    const own = owner.kind === 'case' ? owner.fields.get(field) : undefined;
    if (own === undefined) throw undefinedField(field, owners);
    type = common(type, own);
  }
  if (owners.length === 0) throw undefinedField(field, owners);
  return { tree: { op: 'getter', of: of.tree, field }, type };
}

const undefinedField = (field: string, owners: readonly Type[]): ScriptError =>
  typeError(`Undefined field \`${field}\` of variable of type \`Union(${typesText(owners)})\``);

function conditional(syntax: Node<'if'>, scope: Scope): Typed {
  const test = compile(syntax.test, scope);
  if (!equivalent(test.type, BOOLEAN)) {
    throw typeError(`Unexpected type, required: Boolean, but ${typeText(test.type)} found`);
  }
  const yes = compile(syntax.yes, scope);
  const no = compile(syntax.no, scope);
  scope.steps.take(breadth(test.type) + breadth(yes.type) + breadth(no.type));
  const tree: Tree = { op: 'if', test: test.tree, yes: yes.tree, no: no.tree };
  return { tree, type: common(yes.type, no.type) };
}

/** The name is free in its own value, which may mean an outer variable of the same name. */
function declaration({ name, value, body }: Node<'let'>, scope: Scope): Typed {
  requireFree(name, scope);
  const bound = compile(value, scope);
  const outer = enter(scope, name, bound.type);
  const rest = compile(body, scope);
  leave(scope, name, outer);
  return { tree: { op: 'block', name, value: bound.tree, body: rest.tree }, type: rest.type };
}

function call({ name, args }: Node<'call'>, scope: Scope): Typed {
  const trees: Tree[] = [];
  const types: Type[] = [];
  for (const arg of args) {
    const { tree, type } = compile(arg, scope);
    trees.push(tree);
    types.push(type);
    scope.steps.take(breadth(type));
  }
  const { header, type } = resolveCall(name, types, scope.types);
  return { tree: { op: 'call', header, args: trees }, type };
}
