/** What a script looks up has one outcome, on every store and for every argument. */
import t from 'tap';
import { builtins } from '../../src/script/evaluation/functions.ts';
import { Meter, RUN_UNITS_MAX, UNMETERED } from '../../src/script/evaluation/meter.ts';
import { type Outcome, programOf } from '../../src/script/evaluation/program.ts';
import type { Tree } from '../../src/script/language/tree.ts';
import { Rng } from '../generators/random.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import {
  alice,
  big,
  bytes,
  call,
  field,
  long,
  name,
  ran,
  shown,
  small,
  TRUE,
  text,
  wide,
  worldIn,
  worlds,
  zeros,
} from './world.ts';

const account = call('Address', bytes(alice));
const alias = (of: string): Tree => call('Alias', text(of));

t.test('keys of any length', async (t) => {
  const { memory, lmdb } = await worlds(t);
  const outcome = (key: string): string => {
    const tree = call(1050, account, text(key));
    const [one, other] = [ran(tree, memory), ran(tree, lmdb)];
    t.equal(one.used, other.used);
    t.equal(shown(one.result), shown(other.result), `a key of ${key.length} code units`);
    t.equal(shown(ran(tree, lmdb, UNMETERED).result), shown(one.result), 'as ever');
    return shown(one.result);
  };
  const absent = shown(ran(name('unit'), memory).result);
  const tooLong = 'EvaluationFailure: The key is too long: more than 4070 bytes';
  t.equal(outcome('five'), '"5n"');
  for (const length of [0, 1, 100, 101, 485, 486, 1952, 1953, 4070]) {
    t.equal(outcome('x'.repeat(length)), absent);
  }
  for (const length of [4071, 5000, 32_767]) t.equal(outcome('x'.repeat(length)), tooLong);
  t.equal(outcome('€'.repeat(1356)), absent, 'bytes count: 4068');
  t.equal(outcome('€'.repeat(1357)), tooLong, '4071');
  t.equal(outcome('\ud800'), absent, 'a half of a character');
});

t.test('aliases of any text', async (t) => {
  const { memory, lmdb } = await worlds(t);
  const outcome = (of: string, tree: Tree): string => {
    const [one, other] = [ran(tree, memory), ran(tree, lmdb)];
    t.equal(one.used, other.used);
    t.equal(shown(one.result), shown(other.result), `an alias of ${of.length} code units`);
    t.equal(shown(ran(tree, lmdb, UNMETERED).result), shown(one.result));
    return shown(one.result);
  };
  const data = (of: string): string => outcome(of, call(1050, alias(of), text('five')));
  const balance = (of: string): string => outcome(of, call('wavesBalance', alias(of)));
  t.equal(data('alice'), '"5n"');
  t.equal(balance('alice'), '"0n"');
  const absent = shown(ran(name('unit'), memory).result);
  for (const one of ['', 'a', 'bob', 'nobody', 'Alice', '\0', '€', '\ud800', 'x'.repeat(4096)]) {
    t.equal(data(one), absent);
    const named = one.slice(0, 100).toWellFormed();
    t.equal(balance(one), `EvaluationFailure: Alias '${named}' does not exist`);
  }
  const tooLong = 'EvaluationFailure: The alias is too long: more than 4096 bytes';
  for (const one of ['x'.repeat(4097), '€'.repeat(1366), 'x'.repeat(32_767)]) {
    t.equal(data(one), tooLong);
    t.equal(balance(one), tooLong);
  }
});

t.test('what names no account', async (t) => {
  const { memory, lmdb } = await worlds(t);
  const other = alice.slice();
  other[25]! ^= 1;
  const nobody: readonly Tree[] = [
    call('Address'),
    call('Address', text('x')),
    call('Address', zeros(0)),
    call('Address', zeros(26)),
    call('Address', zeros(60_000)),
    call('Address', bytes(other)),
    call('Alias'),
    call('Alias', long(1)),
    call('Alias', zeros(60_000)),
    call('Alias', field(name('tx'), 'proofs')),
  ];
  for (const env of [memory, lmdb]) {
    for (const one of nobody) {
      t.match(ran(call(1050, one, text('five')), env).result, { type: 'Unit' });
      const { result } = ran(call(1003, one, name('unit')), env);
      t.match(shown(result), /^EvaluationFailure: (Invalid address|Alias '' does not exist)$/);
    }
    for (const size of [0, 31, 33, 64, 60_000]) {
      t.equal(ran(call(1003, account, zeros(size)), env).result, 0n, `an asset of ${size} bytes`);
      t.match(ran(call(1000, zeros(size)), env).result, { type: 'Unit' });
      t.match(ran(call(1001, zeros(size)), env).result, { type: 'Unit' });
    }
  }
});

t.test('transactions', async (t) => {
  const { memory, lmdb } = await worlds(t);
  for (const tx of [small, wide, big]) {
    const other = tx.id.slice();
    other[16]! ^= 1;
    for (const env of [memory, lmdb]) {
      t.match(ran(call(1000, bytes(tx.id)), env).result, { type: tx.def.name });
      t.equal(ran(call(1001, bytes(tx.id)), env).result, 5n);
      t.match(ran(call(1000, bytes(other)), env).result, { type: 'Unit' });
      t.match(ran(call(1001, bytes(other)), env).result, { type: 'Unit' });
      t.match(ran(call(1000, bytes(tx.id.subarray(0, 16))), env).result, { type: 'Unit' });
    }
  }
});

t.test('an error of the store is no outcome, whatever its kind', async (t) => {
  for (const error of [new RangeError('offset'), new TypeError('closed'), new Error('damaged')]) {
    const env = await worldIn({
      ...createMemoryStore(),
      get: () => {
        throw error;
      },
    });
    for (const tree of [
      call(1050, account, text('five')),
      call(1060, alias('alice')),
      call('wavesBalance', account),
      call(1003, account, zeros(32)),
      call(1000, bytes(small.id)),
      call(1001, bytes(small.id)),
    ]) {
      t.throws(() => ran(tree, env), { message: new RegExp(error.message) });
    }
  }
});

t.test('any function with any arguments ends with an outcome', async (t) => {
  const { memory, lmdb } = await worlds(t);
  const rng = new Rng(24);
  const tx = name('tx');
  const leaves: readonly Tree[] = [
    TRUE,
    ...[0, 1, -1, 31, 65_536, 2n ** 63n - 1n, -(2n ** 63n)].map(long),
    ...[
      '',
      'a',
      'alice',
      'five',
      'text',
      'bytes',
      'key 1',
      '€'.repeat(32_767),
      'z'.repeat(100),
    ].map(text),
    ...[0, 1, 26, 31, 32, 64, 65_536].map(zeros),
    ...[alice, small.id, wide.id, big.id, scheme26()].map(bytes),
    ...['unit', 'Buy', 'tx', 'height'].map(name),
    ...['proofs', 'recipient', 'bodyBytes', 'nothing'].map((of) => field(tx, of)),
    field(call(1000, bytes(big.id)), 'data'),
    field(call(1000, bytes(wide.id)), 'transfers'),
    account,
    alias('alice'),
    alias(''),
  ];
  const headers = [
    ...builtins.map(({ header }) => header),
    'Alias',
    'Address',
    'DataEntry',
    'Order',
  ];
  const tree = (depth: number): Tree => {
    if (depth === 0 || rng.chance(3)) return rng.pick(leaves);
    const header = rng.pick(headers);
    const count = builtins.find((one) => one.header === header)?.parameters.length ?? 2;
    const given = rng.chance(20) ? rng.below(5) : count;
    return call(header, ...Array.from({ length: given }, () => tree(depth - 1)));
  };
  let values = 0;
  for (let i = 0; i < 6000; i++) {
    const program = programOf(tree(3), 2, 0);
    const budget = rng.chance(4) ? rng.below(3000) : RUN_UNITS_MAX;
    const outcomes = [memory, lmdb, lmdb].map((env): [Outcome, number] => {
      const meter = new Meter(budget);
      return [program.run(env, meter), meter.used];
    });
    const [[first, used]] = outcomes as [[Outcome, number]];
    if (!(first.result instanceof Error)) values++;
    for (const [{ result }, units] of outcomes) {
      if (units !== used || shown(result) !== shown(first.result)) {
        t.fail(
          `${units}, ${used}: ${shown(result).slice(0, 200)}, ${shown(first.result).slice(0, 200)}`,
        );
      }
    }
  }
  t.ok(values > 1000, `${values} of 6000 have a value`);
});

/** Bytes as long as an address that is none. */
function scheme26(): Uint8Array {
  return Uint8Array.from(alice, (byte, i) => (i < 2 ? byte : 255 - byte));
}
