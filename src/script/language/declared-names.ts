/**
 * The rule on names for scripts of version 1 (scripts.md#types-13-and-15): a script declares each name
 * once, wherever it stands in the tree.
 */
import { nodesOf, predefinedNames, type Tree } from './tree.ts';

/** The names of `match`. */
const EXEMPT = '$';
/** The names inside built-in functions. */
const RESERVED = '@';

/** Why the rule is broken, or undefined. */
export function nameProblem(tree: Tree): string | undefined {
  const declared = new Set(predefinedNames(1));
  for (const node of nodesOf(tree)) {
    const problem = node.op === 'block' ? problemOf(node.name) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;

  function problemOf(name: string): string | undefined {
    if (name.startsWith(RESERVED)) return `VarNames: Can't declare var starting with ${RESERVED}`;
    if (name.startsWith(EXEMPT) || !declared.has(name)) {
      declared.add(name);
      return undefined;
    }
    return `VarNames: duplicate variable names are temporarily denied: '${name}'`;
  }
}
