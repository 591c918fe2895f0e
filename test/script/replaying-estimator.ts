/**
 * The estimate by its first algorithm, which undoes the changes of a branch one by one and makes
 * those of the dearer branch again. It is the oracle of the estimator: every value and every refusal
 * of it is a rule of all chains made since.
 */
import type { Estimate } from '../../src/script/estimator.ts';
import { costOf } from '../../src/script/evaluation/functions.ts';
import {
  headerText,
  predefinedNames,
  ScriptError,
  type Tree,
  type Version,
} from '../../src/script/language/tree.ts';

const COMPLEXITY_MAX = 2000;
const STEPS_MAX = 100_000;

const BLOCK_COST = 5;
const REFERENCE_COST = 2;
const GETTER_COST = 2;

interface Variable {
  readonly value: Tree | undefined;
  readonly counted: boolean;
}

const COUNTED: Variable = { value: undefined, counted: true };

/** A change of the state, so that a branch can be undone and done again. */
interface Change {
  readonly name: string;
  readonly before: Variable | undefined;
  readonly after: Variable;
}

/** Throws ScriptError where a name is unknown, or where the script costs more than it may. */
export function estimateByReplay(tree: Tree, version: Version): Estimate {
  const state = new Map(predefinedNames(version).map((name) => [name, COUNTED]));
  const changes: Change[] = [];
  let steps = 0;
  const complexity = cost(tree);
  if (complexity > COMPLEXITY_MAX) throw tooComplex(complexity);
  return { complexity, steps };

  function cost(node: Tree): number {
    if (++steps > STEPS_MAX)
      throw new ScriptError('Script is too complex: too many paths to estimate');
    switch (node.op) {
      case 'getter':
        return cost(node.of) + GETTER_COST;
      case 'block':
        set(node.name, { value: node.value, counted: false });
        return cost(node.body) + BLOCK_COST;
      case 'ref':
        return reference(node.name);
      case 'if': {
        // Stays in this function, because a frame for each branch would halve the depth that fits.
        const test = cost(node.test) + 1;
        const mark = changes.length;
        const yes = cost(node.yes);
        const done = undoTo(mark);
        const no = cost(node.no);
        if (yes <= no) return test + no;
        undoTo(mark);
        for (const { name, after } of done) set(name, after);
        return test + yes;
      }
      case 'call': {
        const own = costOf(node.header);
        if (own === undefined) {
          throw new ScriptError(`ScriptValidator: Unknown function '${headerText(node.header)}'`);
        }
        let sum = own;
        for (const arg of node.args) sum += cost(arg);
        return sum;
      }
      default:
        return 1;
    }
  }

  function reference(name: string): number {
    const variable = state.get(name);
    if (variable === undefined) {
      throw new ScriptError(`ScriptValidator: Undeclared variable '${name}'`);
    }
    if (variable.counted) return REFERENCE_COST;
    set(name, { ...variable, counted: true });
    return cost(variable.value!) + REFERENCE_COST;
  }

  function set(name: string, after: Variable): void {
    changes.push({ name, before: state.get(name), after });
    state.set(name, after);
  }

  function undoTo(mark: number): readonly Change[] {
    const undone = changes.splice(mark);
    for (const { name, before } of undone.toReversed()) {
      if (before === undefined) state.delete(name);
      else state.set(name, before);
    }
    return undone;
  }
}

const tooComplex = (complexity: number): ScriptError =>
  new ScriptError(`Script is too complex: ${complexity} > ${COMPLEXITY_MAX}`);
