/**
 * The evaluator (docs/protocol/scripts.md#evaluation). A tree becomes a tree of closures once and
 * can run often. A run keeps its variables in an array: the language has neither loops nor
 * functions of its own, so each `let` of the tree has at most one value in a run.
 *
 * Invariants: a run ends with an outcome, never with an exception, except where the node itself
 * fails; it retains nothing.
 */
import { caseTypes } from './case-types.ts';
import type { Environment } from './environment.ts';
import { type Builtin, builtinOf, type Parameter } from './functions.ts';
import type { Meter } from './meter.ts';
import { construct, fieldOf } from './operations.ts';
import { predefinedNames } from './scope.ts';
import { headerText, type Tree, type Version } from './tree.ts';
import { BOOLEAN, BYTES, INT, members, STRING, type Type } from './types.ts';
import {
  BUY,
  EvaluationFailure,
  isBytes,
  isList,
  isObject,
  SELL,
  UNIT,
  type Value,
} from './values.ts';

/** A variable that the run has evaluated. */
export interface Evaluated {
  readonly name: string;
  readonly value: Value | EvaluationFailure;
}

export interface Outcome {
  /** A script permits something only with true. */
  readonly result: Value | EvaluationFailure;
  /** The variables in the order in which they got their values. */
  readonly variables: () => readonly Evaluated[];
}

export interface Program {
  /** The meter is that of this run alone, and tells afterwards what the run consumed. */
  readonly run: (env: Environment, meter: Meter) => Outcome;
}

interface Run {
  readonly env: Environment;
  readonly meter: Meter;
  /** By number of the variable; undefined before its evaluation. */
  readonly values: (Value | EvaluationFailure | undefined)[];
  readonly order: number[];
}

type Step = (run: Run) => Value;

/** What a name means at a place of the tree: the innermost declaration first. */
interface Names {
  readonly name: string;
  readonly value: Step;
  readonly outer: Names | undefined;
}

export function programOf(tree: Tree, version: Version): Program {
  const names: string[] = [];
  const whole = step(tree, outerNames(version), names);
  return {
    run(env, meter) {
      const run: Run = { env, meter, values: new Array(names.length), order: [] };
      return {
        result: outcomeOf(whole, run),
        variables: () => run.order.map((i) => ({ name: names[i]!, value: run.values[i]! })),
      };
    },
  };
}

const PREDEFINED: Readonly<Record<string, Step>> = {
  tx: ({ env }) => env.tx(),
  height: ({ env }) => env.height(),
  unit: () => UNIT,
  Buy: () => BUY,
  Sell: () => SELL,
};

function outerNames(version: Version): Names | undefined {
  let names: Names | undefined;
  for (const name of predefinedNames(version)) {
    names = { name, value: PREDEFINED[name]!, outer: names };
  }
  return names;
}

function meaningOf(name: string, names: Names | undefined): Step {
  for (let at = names; at !== undefined; at = at.outer) if (at.name === name) return at.value;
  return failing(`A definition of '${name}' not found`);
}

/**
 * A failure of the store or of the node itself is no outcome of a script, and is thrown on. The two
 * errors of the engine could only come from values of a type that no check has foreseen.
 */
function outcomeOf(of: Step, run: Run): Value | EvaluationFailure {
  try {
    return of(run);
  } catch (cause) {
    if (cause instanceof EvaluationFailure) return cause;
    if (cause instanceof TypeError || cause instanceof RangeError) {
      return new EvaluationFailure(cause.message);
    }
    throw cause;
  }
}

/** `variables` collects the names of all variables of the tree. */
function step(tree: Tree, names: Names | undefined, variables: string[]): Step {
  switch (tree.op) {
    case 'ref':
      return meaningOf(tree.name, names);
    case 'getter': {
      const of = step(tree.of, names, variables);
      const { field } = tree;
      return (run) => fieldOf(of(run), field);
    }
    case 'if':
      return conditional(tree, names, variables);
    case 'block': {
      const value = variable(tree, names, variables);
      return step(tree.body, { name: tree.name, value, outer: names }, variables);
    }
    case 'call':
      return call(tree, names, variables);
    default: {
      const { value } = tree;
      return () => value;
    }
  }
}

type Node<Op> = Extract<Tree, { op: Op }>;

const failing =
  (text: string): Step =>
  () => {
    throw new EvaluationFailure(text);
  };

function conditional(tree: Node<'if'>, names: Names | undefined, variables: string[]): Step {
  const test = step(tree.test, names, variables);
  const yes = step(tree.yes, names, variables);
  const no = step(tree.no, names, variables);
  return (run) => {
    const found = test(run);
    if (found === true) return yes(run);
    if (found === false) return no(run);
    throw new EvaluationFailure('The condition is not a Boolean');
  };
}

/** Evaluates the value where it is first needed; the outcome stays, and so does a failure. */
function variable(tree: Node<'block'>, names: Names | undefined, variables: string[]): Step {
  const number = variables.push(tree.name) - 1;
  const value = step(tree.value, names, variables);
  return (run) => {
    let known = run.values[number];
    if (known === undefined) {
      known = outcomeOf(value, run);
      run.values[number] = known;
      run.order.push(number);
    }
    if (known instanceof EvaluationFailure) throw known;
    return known;
  };
}

function call(tree: Node<'call'>, names: Names | undefined, variables: string[]): Step {
  const { header } = tree;
  const args = tree.args.map((arg) => step(arg, names, variables));
  const builtin = builtinOf(header);
  if (builtin !== undefined) return builtinCall(builtin, args);
  if (typeof header === 'string' && caseTypes('account').constructors.has(header)) {
    return (run) =>
      construct(
        header,
        args.map((arg) => arg(run)),
      );
  }
  return failing(`function '${headerText(header)}' not found`);
}

/** A native function takes exactly its arguments; a user function leaves further ones unused. */
function builtinCall(builtin: Builtin, args: readonly Step[]): Step {
  const { parameters, header, unguarded } = builtin;
  const count = parameters.length;
  const isComplete = typeof header === 'number' ? args.length === count : args.length >= count;
  const checks = parameters.map((parameter) => (unguarded ? anything : checkOf(parameter)));
  const call = builtin.run as (...args: unknown[]) => Value;
  return (run) => {
    const values: unknown[] = [];
    for (const arg of args) values.push(arg(run));
    if (!isComplete)
      throw new EvaluationFailure(`Wrong number of arguments of '${headerText(header)}'`);
    for (let i = 0; i < count; i++) {
      if (!checks[i]!(values[i] as Value)) {
        throw new EvaluationFailure(`Wrong type of an argument of '${headerText(header)}'`);
      }
    }
    values[count] = run.env;
    return call(...values);
  };
}

type Check = (value: Value) => boolean;

const anything: Check = () => true;

/** A binary may pass values of any type, so natives check what they get. */
function checkOf(parameter: Parameter): Check {
  switch (parameter.kind) {
    case 'T':
    case 'T|Unit':
      return anything;
    case 'LIST(T)':
    case 'list':
      return isList;
    default:
      return typeCheck(parameter);
  }
}

function typeCheck(type: Type): Check {
  if (type === INT) return (value) => typeof value === 'bigint';
  if (type === STRING) return (value) => typeof value === 'string';
  if (type === BOOLEAN) return (value) => typeof value === 'boolean';
  if (type === BYTES) return isBytes;
  if (type.kind === 'case') return (value) => isObject(value) && value.type === type.name;
  const checks = members(type).map(typeCheck);
  return (value) => checks.some((check) => check(value));
}
