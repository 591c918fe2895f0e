/** What runs charge (docs/protocol/scripts.md#metering), and that all nodes charge the same. */
import t from 'tap';
import { unitsOf } from '../../../src/base/charge.ts';
import type { Environment } from '../../../src/script/evaluation/environment.ts';
import {
  Meter,
  OutOfUnits,
  RUN_UNITS_MAX,
  UNMETERED,
} from '../../../src/script/evaluation/meter.ts';
import { programOf } from '../../../src/script/evaluation/program.ts';
import type { Tree } from '../../../src/script/language/tree.ts';
import { EvaluationFailure } from '../../../src/script/language/values.ts';
import { scheme } from '../../generators/network.ts';
import {
  alice,
  big,
  block,
  bytes,
  call,
  choice,
  field,
  long,
  name,
  ran,
  shown,
  small,
  TRUE,
  text,
  wide,
  worlds,
  zeros,
} from '../world.ts';

const { charges } = scheme;
const hash = (size: number): number => unitsOf(charges.hash, size);
const ADDRESS = 2 * hash(64);
const RECORD = 200 + 4 * ADDRESS;
const ELEMENT = 20;
const OVER = new EvaluationFailure('over');

t.test('a meter', async (t) => {
  const meter = new Meter(10);
  meter.charge(4);
  meter.charge(6);
  t.equal(meter.used, 10, 'all of it may be used');
  meter.charge(0);
  t.throws(() => meter.charge(1), OutOfUnits);
  t.equal(meter.used, 10, 'what is refused is not counted');
  const other = new Meter(10);
  other.charge(3);
  t.throws(() => other.charge(1_000_000), { message: 'The script needs more than 10 units' });
  t.equal(other.used, 10, 'a refusal uses up the budget, whatever was asked for');
  t.throws(() => other.charge(1), OutOfUnits, 'and nothing is left');
  t.ok(new Meter(UNMETERED).isLimited === false && other.isLimited);
});

t.test('each part of a script charges', async (t) => {
  const { memory: env } = await worlds(t);
  const used = (tree: Tree): number => ran(tree, env).used;
  const tx = name('tx');
  const account = call('Address', bytes(alice));
  const found = 2 * 400;
  const decoded = (size: number): number => Math.ceil(size / 6) + hash(size);
  const expected: readonly (readonly [string, Tree, number])[] = [
    ['a constant', TRUE, 1],
    ['height', name('height'), 1],
    ['an unknown name', name('nobody'), 1],
    ['an unknown function', call('nothing', call(504, zeros(1000))), 1],
    ['a condition and one branch', choice(TRUE, TRUE, call(504, zeros(1000))), 3],
    ['a variable that nothing needs', block('x', call(504, zeros(1000)), TRUE), 2],
    ['a variable, once', block('x', TRUE, choice(name('x'), name('x'), TRUE)), 5],
    ['the transaction, once', choice(TRUE, tx, TRUE), 3 + RECORD + 8 * ELEMENT],
    ['a field', field(tx, 'fee'), 2 + RECORD + 8 * ELEMENT],
    [
      'the transaction twice',
      call(0, field(tx, 'fee'), field(tx, 'fee')),
      1 + 4 + RECORD + 8 * ELEMENT + 3,
    ],
    ['a constructor', call('Alias', text('x'), TRUE), 3 + 4 + 4],
    ['a hash of the family', call(504, zeros(1000)), 2 + hash(1000)],
    ['a hash of nothing', call(504, zeros(0)), 2 + charges.hash.fixed],
    ['keccak256', call(501, zeros(129)), 2 + 20 + 2 * 12],
    ['blake2b256', call(502, zeros(129)), 2 + 20 + 2 * 4],
    ['sha256', call(503, zeros(129)), 2 + 40 + 2 * 3],
    ['an address of a key', call('addressFromPublicKey', zeros(100)), 2 + hash(100) + ADDRESS],
    ['an address of a text', call('addressFromString', text('x')), 2 + 100 + ADDRESS],
    ['a signature', call(500, zeros(129), zeros(1), zeros(1)), 4 + unitsOf(charges.verify, 129)],
    ['a result', call(203, zeros(128), zeros(1)), 3 + 4 + 3],
    ['a part', call(201, zeros(6000), long(1)), 3 + 4 + 1],
    ['equal numbers', call(0, long(1), long(1)), 3 + 3],
    ['equal texts', call(0, text('x'.repeat(513)), text('x'.repeat(513))), 3 + 3 + 2],
    ['texts of other lengths', call(0, text('x'.repeat(513)), text('x')), 3 + 3],
    ['bytes', call('!=', zeros(513), zeros(513)), 3 + 3 + 2],
    ['the records of one account', call(0, account, account), 1 + 4 + 2 * 6 + 2 * 3 + 1],
    ['a row', call(1050, account, text('five')), 1 + 2 + 6 + 1 + ADDRESS + 2 * 400 + 1],
    ['a text in a row', call(1053, account, text('text')), 10 + ADDRESS + 2 * 400 + 1 + 500],
    [
      'a value of another kind',
      call(1050, account, text('bytes')),
      10 + ADDRESS + 2 * 400 + 1 + 100,
    ],
    ['a long key', call(1050, account, text('k'.repeat(100))), 10 + ADDRESS + 2 * 400 + 7],
    ['a balance', call(1003, account, name('unit')), 10 + ADDRESS + 2 * 400],
    ['an alias', call(1060, call('Alias', text('alice'))), 1 + 1 + 6 + 1 + ADDRESS + 400],
    ['no transaction', call(1000, zeros(32)), 2 + found],
    [
      'a transaction',
      call(1000, bytes(small.id)),
      2 + found + decoded(small.bytes.length) + RECORD + 8 * ELEMENT,
    ],
    ['its height', call(1001, bytes(small.id)), 2 + found + decoded(small.bytes.length)],
    [
      'a mass transfer',
      call(1000, bytes(wide.id)),
      2 + found + decoded(wide.bytes.length) + RECORD + (40 + 48) * ELEMENT + 40 * ADDRESS,
    ],
    [
      'data',
      call(1000, bytes(big.id)),
      2 + found + decoded(big.bytes.length) + RECORD + (100 + 108) * ELEMENT,
    ],
  ];
  for (const [what, tree, units] of expected) t.equal(used(tree), units, what);
});

t.test('a script charges its own bytes', async (t) => {
  const { memory: env } = await worlds(t);
  const meter = new Meter(RUN_UNITS_MAX);
  programOf(TRUE, 1, 100).run(env, meter);
  t.equal(meter.used, 201);
  const poor = new Meter(200);
  const { result } = programOf(TRUE, 1, 101).run(env, poor);
  t.ok(result instanceof OutOfUnits, 'also where nothing but that is too much');
});

t.test('an id that begins like another one pays for reading it', async (t) => {
  const { memory, lmdb } = await worlds(t);
  const other = big.id.slice();
  other[31]! ^= 1;
  for (const env of [memory, lmdb]) {
    for (const header of [1000, 1001]) {
      const meant = ran(call(header, bytes(big.id)), env);
      const { used, result } = ran(call(header, bytes(other)), env);
      t.match(result, { type: 'Unit' });
      const made = header === 1000 ? 108 * ELEMENT : 0;
      t.equal(used, meant.used - made);
    }
  }
});

t.test('a run ends where its budget ends, whatever it would do next', async (t) => {
  const { memory: env } = await worlds(t);
  const tree = block(
    'x',
    call(504, zeros(1000)),
    block('y', call(200, name('x')), call(0, name('y'), long(32))),
  );
  const whole = ran(tree, env);
  t.equal(whole.result, true);
  t.equal(ran(tree, env, whole.used).result, true, 'its own units are enough');
  for (let budget = 0; budget < whole.used; budget++) {
    const { result, used, variables } = ran(tree, env, budget);
    if (!(result instanceof OutOfUnits) || used !== budget) {
      t.fail(`${budget}: ${shown(result)}, ${used} used`);
    }
    // The variables that waited have failed with the run.
    for (const { value } of variables()) {
      if (value instanceof EvaluationFailure && value !== result) t.fail('another failure');
    }
  }
  t.match(
    ran(tree, env, 5).variables(),
    [
      { name: 'x', value: OutOfUnits },
      { name: 'y', value: OutOfUnits },
    ],
    'the innermost first',
  );
});

t.test('the same run charges the same everywhere', async (t) => {
  const { memory, lmdb } = await worlds(t);
  const account = call('Address', bytes(alice));
  const parts = [
    call(1053, account, text('text')),
    call(1000, bytes(wide.id)),
    call(
      500,
      field(name('tx'), 'bodyBytes'),
      call(401, field(name('tx'), 'proofs'), long(0)),
      zeros(64),
    ),
    call('addressFromPublicKey', zeros(64)),
    call(0, call(1000, bytes(big.id)), call(1000, bytes(big.id))),
  ];
  const seen = new Set<string>();
  for (const order of [parts, parts.toReversed(), parts]) {
    for (const env of [memory, lmdb, memory]) {
      const tree = order.reduce<Tree>(
        (rest, part) => choice(call(1, part, text('')), TRUE, rest),
        TRUE,
      );
      const program = programOf(tree, 2, 0);
      for (let again = 0; again < 3; again++) {
        const meter = new Meter(RUN_UNITS_MAX);
        t.equal(program.run(env, meter).result, true);
        seen.add(String(meter.used));
      }
    }
  }
  t.equal(seen.size, 1, [...seen].join(', '));
});

t.test('a text has at most 65,536 bytes, once there are budgets', async (t) => {
  const { memory: env } = await worlds(t);
  const size = (length: number): Tree => call(200, call(411, text('€'.repeat(length))));
  t.equal(ran(size(21_845), env).result, 65_535n);
  t.match(ran(size(21_846), env).result, { message: 'ByteVector is too large' });
  t.equal(ran(size(32_767), env, UNMETERED).result, 98_301n, 'and before there were any');
});

t.test('a failure of the store is no outcome', async (t) => {
  const { memory } = await worlds(t);
  const broken: Environment = {
    ...memory,
    data: () => {
      throw new Error('damaged');
    },
  };
  const tree = call(1050, call('Address', bytes(alice)), text('five'));
  for (const around of [tree, block('x', tree, name('x'))]) {
    t.throws(() => ran(around, broken), { message: 'damaged' });
  }
  t.match(
    ran(tree, {
      ...memory,
      data: () => {
        throw OVER;
      },
    }).result,
    OVER,
    'unlike one of the script',
  );
});
