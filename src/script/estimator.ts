/**
 * What a script costs at most (docs/protocol/scripts.md#complexity). A variable costs once on each
 * path, where it is first used; of two branches the dearer one counts.
 *
 * Both branches of every `if` are walked from the same state, so a script can make this walk
 * exponential in its size. STEPS_MAX ends it; a script of honest shape needs a hundredth of that.
 * The state after an `if` is that of the dearer branch, of `else` where both cost the same.
 *
 * Invariants: a step looks at one node and changes the meaning of one name at most. States are
 * immutable, so no change is undone or repeated, and the number of steps bounds the time. The walk
 * keeps its own stack, so every tree fits.
 */
import { costOf } from './evaluation/functions.ts';
import { Steps } from './language/steps.ts';
import {
  type Header,
  headerText,
  nodesOf,
  predefinedNames,
  ScriptError,
  type Tree,
  type Version,
} from './language/tree.ts';

export const COMPLEXITY_MAX = 2000;
const STEPS_MAX = 100_000;

const BLOCK_COST = 5;
const REFERENCE_COST = 2;
const GETTER_COST = 2;

interface Variable {
  readonly value: Tree | undefined;
  readonly isCounted: boolean;
}

const COUNTED: Variable = { value: undefined, isCounted: true };

/** What a path has cost so far, and what names mean at its end. */
interface State {
  readonly cost: number;
  readonly names: Snapshot<Variable>;
}

/** An `if` whose condition, or one of whose branches, is being walked. */
interface Choice {
  readonly op: 'choice';
  readonly of: Extract<Tree, { op: 'if' }>;
  /** Known when the condition is done. */
  before: State | undefined;
  /** Known when the first branch is done. */
  yes: State | undefined;
}

export interface Estimate {
  readonly complexity: number;
  /** The steps that the estimate took, at most STEPS_MAX. */
  readonly steps: number;
}

/** Throws ScriptError where a name is unknown, or where the script costs more than it may. */
export function estimate(tree: Tree, version: Version): Estimate {
  return new Walk(tree, version).toEnd();
}

class Walk {
  private readonly steps = new Steps(
    STEPS_MAX,
    'Script is too complex: too many paths to estimate',
  );
  private readonly numbers: NameNumbers;
  private readonly names: NameTable<Variable>;
  private cost = 0;
  /** The last one is the next. */
  private readonly rest: (Tree | Choice)[];

  constructor(tree: Tree, version: Version) {
    const predefined = predefinedNames(version);
    this.numbers = numbersOf(tree, predefined);
    this.names = new NameTable(this.numbers.count);
    for (let i = 0; i < predefined.length; i++) this.names.set(i, COUNTED);
    this.rest = [tree];
  }

  toEnd(): Estimate {
    for (let next = this.rest.pop(); next !== undefined; next = this.rest.pop()) {
      if (next.op === 'choice') this.choose(next);
      else this.visit(next);
    }
    if (this.cost > COMPLEXITY_MAX) throw tooComplex(this.cost);
    return { complexity: this.cost, steps: this.steps.taken };
  }

  private visit(node: Tree): void {
    this.steps.take();
    switch (node.op) {
      case 'getter':
        this.cost += GETTER_COST;
        this.rest.push(node.of);
        break;
      case 'block':
        this.cost += BLOCK_COST;
        this.names.set(this.numbers.of(node), { value: node.value, isCounted: false });
        this.rest.push(node.body);
        break;
      case 'ref':
        this.cost += REFERENCE_COST;
        this.reference(node);
        break;
      case 'if':
        this.cost += 1;
        this.rest.push({ op: 'choice', of: node, before: undefined, yes: undefined }, node.test);
        break;
      case 'call':
        this.cost += costOfCall(node.header);
        for (let i = node.args.length - 1; i >= 0; i--) this.rest.push(node.args[i]!);
        break;
      default:
        this.cost += 1;
    }
  }

  private reference(node: Extract<Tree, { op: 'ref' }>): void {
    const variable = this.names.get(this.numbers.of(node));
    if (variable === undefined) {
      throw new ScriptError(`ScriptValidator: Undeclared variable '${node.name}'`);
    }
    if (variable.isCounted) return;
    this.names.set(this.numbers.of(node), COUNTED);
    this.rest.push(variable.value!);
  }

  /** Walks the first branch, then the second one from the same state, then goes on with one. */
  private choose(choice: Choice): void {
    if (choice.before === undefined) {
      choice.before = { cost: this.cost, names: this.names.snapshot() };
      this.rest.push(choice, choice.of.yes);
    } else if (choice.yes === undefined) {
      choice.yes = { cost: this.cost, names: this.names.snapshot() };
      this.goBack(choice.before);
      this.rest.push(choice, choice.of.no);
    } else if (choice.yes.cost > this.cost) {
      this.goBack(choice.yes);
    }
  }

  private goBack(state: State): void {
    this.cost = state.cost;
    this.names.restore(state.names);
  }
}

interface NameNumbers {
  readonly count: number;
  /** Of the name that a block declares or a reference means. */
  readonly of: (node: Tree) => number;
}

/** Equal names have one number; those of `first` come first. Names are compared once for each node. */
function numbersOf(tree: Tree, first: readonly string[]): NameNumbers {
  const byName = new Map(first.map((name, number) => [name, number]));
  const byNode = new Map<Tree, number>();
  for (const node of nodesOf(tree)) {
    if (node.op !== 'block' && node.op !== 'ref') continue;
    const number = byName.get(node.name) ?? byName.size;
    byName.set(node.name, number);
    byNode.set(node, number);
  }
  return { count: byName.size, of: (node) => byNode.get(node)! };
}

function costOfCall(header: Header): number {
  const cost = costOf(header);
  if (cost !== undefined) return cost;
  throw new ScriptError(`ScriptValidator: Unknown function '${headerText(header)}'`);
}

const tooComplex = (complexity: number): ScriptError =>
  new ScriptError(`Script is too complex: ${complexity} > ${COMPLEXITY_MAX}`);

/**
 * What names mean on the paths of an estimate. A snapshot and the return to one take no time,
 * however much has changed: rows are shared, and a change copies its row if a snapshot may have it.
 */
const ROW_BITS = 5;
const ROW_LENGTH = 1 << ROW_BITS;

/** Items that were made after the snapshot `since` belong to no snapshot and may change. */
interface Owned<Item> {
  readonly since: number;
  readonly items: Item[];
}

type Row<Meaning> = Owned<Meaning | undefined>;

/** To be given back to the same table; anybody else leaves it alone. */
type Snapshot<Meaning> = Owned<Row<Meaning>>;

/** Names are numbers. */
class NameTable<Meaning> {
  private rows: Owned<Row<Meaning>>;
  private snapshots = 0;

  /** Of names below `count`, without any meaning. */
  constructor(count: number) {
    const row = { since: -1, items: new Array<Meaning | undefined>(ROW_LENGTH).fill(undefined) };
    this.rows = { since: -1, items: new Array(Math.ceil(count / ROW_LENGTH)).fill(row) };
  }

  get(name: number): Meaning | undefined {
    return this.rows.items[name >> ROW_BITS]!.items[name % ROW_LENGTH];
  }

  /** Copies a row and the list of rows at most. */
  set(name: number, meaning: Meaning): void {
    const { snapshots } = this;
    if (this.rows.since !== snapshots) this.rows = copyOf(this.rows, snapshots);
    let row = this.rows.items[name >> ROW_BITS]!;
    if (row.since !== snapshots) {
      row = copyOf(row, snapshots);
      this.rows.items[name >> ROW_BITS] = row;
    }
    row.items[name % ROW_LENGTH] = meaning;
  }

  snapshot(): Snapshot<Meaning> {
    this.snapshots++;
    return this.rows;
  }

  restore(snapshot: Snapshot<Meaning>): void {
    this.rows = snapshot;
  }
}

const copyOf = <Item>({ items }: Owned<Item>, since: number): Owned<Item> => ({
  since,
  items: items.slice(),
});
