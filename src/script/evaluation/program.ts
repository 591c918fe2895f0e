/**
 * The evaluator (docs/protocol/scripts.md#evaluation). A tree becomes a list of instructions once and
 * can run often. The instructions work on a stack of values of their own, so that neither the depth
 * of a tree nor that of its variables takes any of the engine's stack. The language has neither loops
 * nor functions of its own, so each `let` of the tree has at most one value in a run, and no
 * instruction runs twice.
 *
 * Invariants: a run ends with an outcome, never with an exception, except where the node itself
 * fails; it retains nothing.
 */
import { unitsOf } from '../../base/charge.ts';
import { caseTypes } from '../language/case-types.ts';
import { headerText, predefinedNames, type Tree, type Version } from '../language/tree.ts';
import {
  BUY,
  type CaseObject,
  EvaluationFailure,
  SELL,
  UNIT,
  type Value,
} from '../language/values.ts';
import { anything, checkOf } from './argument-checks.ts';
import { elementUnits, NODE_UNITS, recordUnits, SCRIPT_CHARGE } from './charges.ts';
import type { Environment } from './environment.ts';
import { type Builtin, builtinOf, CONSTRUCTOR_CHARGE } from './functions.ts';
import type { Meter } from './meter.ts';
import { construct, fieldOf } from './operations.ts';

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
  readonly stack: Value[];
  /** By number of the variable; undefined before its evaluation. */
  readonly values: (Value | EvaluationFailure | undefined)[];
  readonly order: number[];
  /** The variables that are being evaluated, the innermost last. */
  readonly pending: Pending[];
  /** Place of the next instruction; END after the last one. */
  at: number;
  /** Undefined before the script asks for it. */
  tx: CaseObject | undefined;
}

interface Pending {
  readonly variable: number;
  /** Where the value is needed. */
  readonly back: number;
}

type Instruction = (run: Run) => void;

const END = -1;

/** `size` is that of the script in bytes. */
export function programOf(tree: Tree, version: Version, size: number): Program {
  const { code, names } = assemble(tree, version);
  const units = unitsOf(SCRIPT_CHARGE, size);
  return {
    run(env, meter) {
      const run: Run = {
        env,
        meter,
        stack: [],
        values: new Array(names.length),
        order: [],
        pending: [],
        at: 0,
        tx: undefined,
      };
      return {
        result: outcomeOf(run, code, units),
        variables: () => run.order.map((i) => ({ name: names[i]!, value: run.values[i]! })),
      };
    },
  };
}

function outcomeOf(run: Run, code: readonly Instruction[], units: number) {
  try {
    run.meter.charge(units);
    while (run.at !== END) code[run.at++]!(run);
    return run.stack.pop()!;
  } catch (cause) {
    const failure = failureOf(cause);
    // Every variable that waits for another one fails with it.
    for (const { variable } of run.pending.toReversed()) settle(run, variable, failure);
    return failure;
  }
}

/**
 * A failure of the store or of the node itself is no outcome of a script, and is thrown on. The two
 * errors of the engine could only come from values of a type that no check has foreseen.
 */
function failureOf(cause: unknown): EvaluationFailure {
  if (cause instanceof EvaluationFailure) return cause;
  if (cause instanceof TypeError || cause instanceof RangeError) {
    return new EvaluationFailure(cause.message);
  }
  throw cause;
}

function settle(run: Run, variable: number, value: Value | EvaluationFailure): void {
  run.values[variable] = value;
  run.order.push(variable);
}

// ── from the tree to instructions ────────────────────────────────────────────────────────────

/** A place in the instructions, known once they are there. */
interface Place {
  at: number;
}

/** What a name means at a place of the tree: the innermost declaration first. */
interface Names {
  readonly name: string;
  readonly read: Instruction;
  readonly outer: Names | undefined;
}

/** A tree whose instructions stand together: the script itself, or the value of a variable. */
interface Segment {
  readonly tree: Tree;
  readonly names: Names | undefined;
  readonly start: Place;
  readonly last: Instruction;
}

interface Code {
  readonly code: readonly Instruction[];
  /** Of the variables, by number. */
  readonly names: readonly string[];
}

/** Works through lists and not by recursion, so that a deep tree needs no stack. */
function assemble(tree: Tree, version: Version): Code {
  const code: Instruction[] = [];
  const names: string[] = [];
  const segments: Segment[] = [{ tree, names: outerNames(version), start: { at: 0 }, last: end }];
  // The list grows on the way.
  for (const segment of segments) {
    segment.start.at = code.length;
    const todo: (() => void)[] = [() => emit(segment.tree, segment.names, todo)];
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) next();
    code.push(segment.last);
  }
  return { code, names };

  /** Adds the instructions of a node; what belongs behind them is left to do, the last first. */
  function emit(node: Tree, scope: Names | undefined, todo: (() => void)[]): void {
    const later = (part: Tree): void => void todo.push(() => emit(part, scope, todo));
    switch (node.op) {
      case 'ref':
        code.push(meaningOf(node.name, scope));
        break;
      case 'getter':
        todo.push(() => code.push(getter(node.field)));
        later(node.of);
        break;
      case 'if': {
        const no: Place = { at: 0 };
        const after: Place = { at: 0 };
        todo.push(() => {
          after.at = code.length;
        });
        later(node.no);
        todo.push(() => {
          code.push(jump(after));
          no.at = code.length;
        });
        later(node.yes);
        todo.push(() => code.push(branch(no)));
        later(node.test);
        break;
      }
      case 'block': {
        code.push(block);
        const number = names.push(node.name) - 1;
        const start: Place = { at: 0 };
        segments.push({ tree: node.value, names: scope, start, last: store(number) });
        const inner = { name: node.name, read: variable(number, start), outer: scope };
        todo.push(() => emit(node.body, inner, todo));
        break;
      }
      case 'call': {
        const instruction = call(node);
        if (instruction === undefined) {
          code.push(failing(`function '${headerText(node.header)}' not found`));
          break;
        }
        todo.push(() => code.push(instruction));
        for (const arg of node.args.toReversed()) later(arg);
        break;
      }
      default:
        code.push(constant(node.value));
    }
  }
}

function outerNames(version: Version): Names | undefined {
  let names: Names | undefined;
  for (const name of predefinedNames(version)) {
    names = { name, read: PREDEFINED[name]!, outer: names };
  }
  return names;
}

function meaningOf(name: string, names: Names | undefined): Instruction {
  for (let at = names; at !== undefined; at = at.outer) if (at.name === name) return at.read;
  return failing(`A definition of '${name}' not found`);
}

// ── instructions ─────────────────────────────────────────────────────────────────────────────

const end: Instruction = (run) => {
  run.at = END;
};

const constant =
  (value: Value): Instruction =>
  ({ meter, stack }) => {
    meter.charge(NODE_UNITS);
    stack.push(value);
  };

const failing =
  (text: string): Instruction =>
  ({ meter }) => {
    meter.charge(NODE_UNITS);
    throw new EvaluationFailure(text);
  };

const PREDEFINED: Readonly<Record<string, Instruction>> = {
  tx(run) {
    const { env, meter, stack } = run;
    meter.charge(NODE_UNITS);
    if (run.tx === undefined) {
      meter.charge(recordUnits(env.hashes.charges));
      run.tx = env.tx();
      meter.charge(elementUnits(run.tx));
    }
    stack.push(run.tx);
  },
  height({ env, meter, stack }) {
    meter.charge(NODE_UNITS);
    stack.push(env.height());
  },
  unit: constant(UNIT),
  Buy: constant(BUY),
  Sell: constant(SELL),
};

/** Evaluates the value where it is first needed; then it stays. */
const variable =
  (number: number, start: Place): Instruction =>
  (run) => {
    run.meter.charge(NODE_UNITS);
    // A failure ends the run, so nothing can ask for it again.
    const known = run.values[number] as Value | undefined;
    if (known !== undefined) {
      run.stack.push(known);
      return;
    }
    run.pending.push({ variable: number, back: run.at });
    run.at = start.at;
  };

/** Behind the instructions of a variable: its value stays on the stack. */
const store =
  (number: number): Instruction =>
  (run) => {
    settle(run, number, run.stack.at(-1)!);
    run.at = run.pending.pop()!.back;
  };

const block: Instruction = ({ meter }) => meter.charge(NODE_UNITS);

const getter =
  (field: string): Instruction =>
  ({ meter, stack }) => {
    meter.charge(NODE_UNITS);
    stack.push(fieldOf(stack.pop()!, field));
  };

const jump =
  (to: Place): Instruction =>
  (run) => {
    run.at = to.at;
  };

const branch =
  (no: Place): Instruction =>
  (run) => {
    run.meter.charge(NODE_UNITS);
    const found = run.stack.pop();
    if (found === true) return;
    if (found !== false) throw new EvaluationFailure('The condition is not a Boolean');
    run.at = no.at;
  };

/** Undefined for an unknown function, which fails before its arguments. */
function call({
  header,
  args: { length },
}: Extract<Tree, { op: 'call' }>): Instruction | undefined {
  const builtin = builtinOf(header);
  if (builtin !== undefined) return builtinCall(builtin, length);
  if (typeof header === 'string' && caseTypes('account').constructors.has(header)) {
    return ({ meter, stack }) => {
      meter.charge(NODE_UNITS + unitsOf(CONSTRUCTOR_CHARGE, length));
      stack.push(construct(header, taken(stack, length)));
    };
  }
  return undefined;
}

const taken = (stack: Value[], count: number): Value[] => stack.splice(stack.length - count, count);

/** A native function takes exactly its arguments; a user function leaves further ones unused. */
function builtinCall(builtin: Builtin, given: number): Instruction {
  const { parameters, header, unguarded, charge } = builtin;
  const count = parameters.length;
  const isComplete = typeof header === 'number' ? given === count : given >= count;
  const checks = parameters.map((parameter) => (unguarded ? anything : checkOf(parameter)));
  const compute = builtin.run as (...args: unknown[]) => Value;
  return ({ env, meter, stack }) => {
    const args = taken(stack, given);
    if (!isComplete) {
      throw new EvaluationFailure(`Wrong number of arguments of '${headerText(header)}'`);
    }
    args.length = count;
    for (let i = 0; i < count; i++) {
      if (!checks[i]!(args[i]!)) {
        throw new EvaluationFailure(`Wrong type of an argument of '${headerText(header)}'`);
      }
    }
    meter.charge(NODE_UNITS + charge.before(args, env.hashes.charges));
    const result = compute(...args, env, meter);
    if (charge.after !== undefined) meter.charge(charge.after(result));
    stack.push(result);
  };
}
