/**
 * The estimate beside its first algorithm, on trees that a generator makes and on mutated ones; and
 * that the number of its steps bounds its work.
 */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { type Estimate, estimate } from '../../src/script/estimator.ts';
import { builtins } from '../../src/script/evaluation/functions.ts';
import { readScript } from '../../src/script/language/binary.ts';
import {
  nodesOf,
  ScriptError,
  TRUE,
  type Tree,
  type Version,
} from '../../src/script/language/tree.ts';
import { createScripts } from '../../src/script/script.ts';
import type { VectorFile } from '../../src/script/vector-file.ts';
import { binaryOf, dearTrees, doubled } from '../generators/dear-scripts.ts';
import { family } from '../generators/network.ts';
import { Rng } from '../generators/random.ts';
import { callsOf } from './counted-calls.ts';
import { estimateByReplay } from './replaying-estimator.ts';

const TREES = Number(process.env['ESTIMATED_TREES'] ?? 2500);

t.setTimeout(600_000);

type Estimator = (tree: Tree, version: Version) => Estimate;

/** Cost and steps, or the text of the refusal. */
function outcome(of: Estimator, tree: Tree, version: Version): string {
  try {
    const { complexity, steps } = of(tree, version);
    return `${complexity} in ${steps} steps`;
  } catch (error) {
    if (error instanceof ScriptError) return error.message;
    throw error;
  }
}

const hasCost = (found: string): boolean => /^\d+ in \d+ steps$/.test(found);

const HEADERS = [...builtins.map(({ header }) => header), 'Alias', 'Order', 'unknown', 7];
/** One of the dearest functions, so that some trees cost too much. */
const DEAR = 'addressFromString';

/** Few names, so that most are declared more than once and used in many branches. */
function randomTree(rng: Rng, depth: number, names: readonly string[]): Tree {
  const part = (): Tree => randomTree(rng, depth - 1, names);
  if (depth <= 0) return rng.chance(3) ? TRUE : { op: 'ref', name: rng.pick(names) };
  switch (rng.below(10)) {
    case 0:
      return { op: 'getter', of: part(), field: 'a' };
    case 1:
      return {
        op: 'call',
        header: rng.chance(2) ? DEAR : rng.pick(HEADERS),
        args: [part(), part()].slice(rng.below(3)),
      };
    case 2:
    case 3:
      return { op: 'ref', name: rng.pick(names) };
    case 4:
    case 5:
    case 6:
      return { op: 'if', test: part(), yes: part(), no: part() };
    default:
      return { op: 'block', name: rng.pick(names), value: part(), body: part() };
  }
}

/** All names are declared in the beginning, except where one is to be missing. */
function closedTree(rng: Rng): Tree {
  const known = ['tx', 'height', 'a', 'b', 'c', 'd', 'e', 'f'].slice(0, rng.between(2, 8));
  const names = rng.chance(8) ? [...known, 'missing'] : known;
  let tree = randomTree(rng, rng.between(2, 11), names);
  if (rng.chance(3)) tree = doubled(rng.between(1, 18), tree);
  for (const name of known.slice(2)) {
    tree = { op: 'block', name, value: randomTree(rng, rng.below(7), known), body: tree };
  }
  return tree;
}

const { scripts: cases = [] } = JSON.parse(
  readFileSync(new URL('../vectors/scripts.json', import.meta.url), 'utf8'),
) as VectorFile;
const scripts = createScripts(family.secureHash);
const compiled = cases.flatMap(({ source, base64, assetScript }) =>
  base64 === undefined
    ? []
    : [scripts.compile(source, assetScript === true ? 'asset' : 'account').tree],
);

/** With parts of other trees in place of its own. */
function mutated(rng: Rng, tree: Tree): Tree {
  if (rng.chance(12)) return rng.pick(nodesOf(rng.pick(compiled)));
  const part = (inner: Tree): Tree => mutated(rng, inner);
  switch (tree.op) {
    case 'getter':
      return { ...tree, of: part(tree.of) };
    case 'if':
      return { ...tree, test: part(tree.test), yes: part(tree.yes), no: part(tree.no) };
    case 'block':
      return { ...tree, value: part(tree.value), body: part(tree.body) };
    case 'call':
      return { ...tree, args: tree.args.map(part) };
    default:
      return tree;
  }
}

t.test('mutated trees', async (t) => {
  const rng = new Rng(24);
  let costs = 0;
  for (let i = 0; i < TREES; i++) {
    const tree = mutated(rng, rng.pick(compiled));
    const expected = outcome(estimateByReplay, tree, 2);
    const found = outcome(estimate, tree, 2);
    if (found !== expected) t.equal(found, expected, JSON.stringify(tree));
    if (hasCost(found)) costs++;
  }
  t.ok(costs > 0 && costs < TREES, `${costs} have a cost`);
});

t.test('generated trees', async (t) => {
  const rng = new Rng(24);
  const seen = { costs: 0, tooComplex: 0, tooManyPaths: 0, undeclared: 0, unknown: 0 };
  for (let i = 0; i < TREES; i++) {
    const tree = closedTree(rng);
    const version = rng.chance(2) ? 1 : 2;
    const expected = outcome(estimateByReplay, tree, version);
    const found = outcome(estimate, tree, version);
    if (found !== expected) t.equal(found, expected, JSON.stringify(tree));
    if (hasCost(found)) seen.costs++;
    else if (/too many paths/.test(found)) seen.tooManyPaths++;
    else if (/too complex/.test(found)) seen.tooComplex++;
    else if (/Undeclared/.test(found)) seen.undeclared++;
    else seen.unknown++;
  }
  t.comment(JSON.stringify(seen));
  for (const [kind, count] of Object.entries(seen)) t.ok(count > 0, `${kind}: ${count}`);
});

t.test('trees made to be dear', async (t) => {
  for (const [name, make] of Object.entries(dearTrees)) {
    const tree = make();
    t.equal(outcome(estimate, tree, 1), outcome(estimateByReplay, tree, 1), name);
  }
});

/** What changes maps and arrays. */
const changing = [
  [Map.prototype, ['set', 'delete']],
  [Array.prototype, ['push', 'pop', 'slice', 'splice']],
] as const;

const STEPS_MAX = 100_000;
/** The stack of the walk and both rows of a change. */
const CHANGES_PER_STEP = 5;

t.test('the number of steps bounds the changes', async (t) => {
  for (const [name, make] of Object.entries(dearTrees)) {
    const { tree } = readScript(binaryOf(make()), family.secureHash);
    const changes = callsOf(changing, () => outcome(estimate, tree, 1));
    t.ok(changes <= CHANGES_PER_STEP * STEPS_MAX, `${name}: ${changes} changes`);
  }
});
