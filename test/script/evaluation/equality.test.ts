/** `==`: by structure, in as many steps as there are objects, or as the budget pays. */
import t from 'tap';
import { equal } from '../../../src/base/bytes.ts';
import { same } from '../../../src/script/evaluation/equality.ts';
import {
  Meter,
  OutOfUnits,
  RUN_UNITS_MAX,
  UNMETERED,
} from '../../../src/script/evaluation/meter.ts';
import type { Tree } from '../../../src/script/language/tree.ts';
import {
  caseObject,
  isBytes,
  isList,
  isObject,
  UNIT,
  type Value,
} from '../../../src/script/language/values.ts';
import { Rng } from '../../generators/random.ts';
import { block, call, name, ran, TRUE, worlds } from '../world.ts';

/** By the definition, for values that share little. */
function alike(a: Value, b: Value): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b;
  if (isBytes(a)) return isBytes(b) && equal(a, b);
  if (isList(a)) return isList(b) && a.length === b.length && a.every((x, i) => alike(x, b[i]!));
  if (!isObject(b) || a.type !== b.type || a.fields.size !== b.fields.size) return false;
  return [...a.fields].every(([of, x]) => b.fields.has(of) && alike(x, b.fields.get(of)!));
}

const steps = (a: Value, b: Value): [boolean, number] => {
  const meter = new Meter(UNMETERED);
  return [same(a, b, meter), meter.used];
};

/** Two fields hold the level below, so that a tree of these levels has 2^levels leaves. */
function shared(levels: number, leaf: Value): Value {
  let value = leaf;
  for (let i = 0; i < levels; i++)
    value = caseObject('Transfer', { recipient: value, amount: value });
  return value;
}

t.test('random values', async (t) => {
  const rng = new Rng(24);
  let equalPairs = 0;
  for (let i = 0; i < 20_000; i++) {
    const pool: Value[] = [1n, 2n, 'a', true, new Uint8Array(2), Uint8Array.of(0, 1), UNIT];
    const pick = (): Value => rng.pick(pool);
    for (let n = rng.between(2, 12); n > 0; n--) {
      const fields = rng.chance(4) ? { x: pick() } : { x: pick(), y: pick() };
      pool.push(rng.chance(5) ? [pick(), pick()] : caseObject(rng.pick(['A', 'B']), fields));
    }
    const [a, b] = [pick(), pick()];
    const expected = alike(a, b);
    if (expected) equalPairs++;
    if (steps(a, b)[0] !== expected) t.fail('another verdict without a budget');
    if (same(a, b, new Meter(RUN_UNITS_MAX)) !== expected) t.fail('another verdict with one');
  }
  t.ok(equalPairs > 1000, `${equalPairs} pairs are equal`);
});

t.test('records that share parts', async (t) => {
  for (const levels of [10, 16, 400]) {
    const [equalOnes, used] = steps(shared(levels, 1n), shared(levels, 1n));
    t.ok(equalOnes);
    t.ok(used <= 20 * levels, `${used} units for ${levels} levels`);
    const [others, more] = steps(shared(levels, 1n), shared(levels, 2n));
    t.notOk(others);
    t.ok(more <= 20 * levels);
  }
  // Shared at other places in the two, so that an object meets several others.
  const shifted = caseObject('Transfer', { recipient: shared(17, 1n), amount: shared(17, 1n) });
  const [equalOnes, used] = steps(shared(18, 1n), shifted);
  t.ok(equalOnes);
  t.ok(used <= 20 * 40);
});

t.test('a run pays for the whole tree', async (t) => {
  const value = (levels: number) => shared(levels, 1n);
  const meter = new Meter(RUN_UNITS_MAX);
  t.ok(same(value(10), value(10), meter));
  t.equal(meter.used, 3 * (2 ** 11 - 1));
  t.throws(() => same(value(400), value(400), new Meter(RUN_UNITS_MAX)), OutOfUnits);
});

t.test('in a script, as a stranger would write it', async (t) => {
  const { memory: env } = await worlds(t);
  const levels = 200;
  const doubled = (side: string): ((body: Tree) => Tree) => {
    let around = (body: Tree): Tree => block(`${side}0`, TRUE, body);
    for (let i = 1; i <= levels; i++) {
      const below = name(`${side}${i - 1}`);
      const inner = around;
      around = (body) => inner(block(`${side}${i}`, call('Transfer', below, below), body));
    }
    return around;
  };
  const compared = call(0, name(`a${levels}`), name(`b${levels}`));
  const tree = doubled('a')(doubled('b')(compared));
  t.match(ran(tree, env).result, { message: `The script needs more than ${RUN_UNITS_MAX} units` });
  t.equal(ran(tree, env, UNMETERED).result, true, 'before there are budgets');
});
