import fc from 'fast-check';
import t from 'tap';
import { equal } from '../../../src/base/bytes.ts';
import { EdwardsKeys } from '../../../src/crypto/curve25519/edwards-keys.ts';
import { seededRandom } from '../random.ts';

const random = seededRandom('edwards keys');
const target = new Uint8Array(32);

t.test('never gives the value of another key', async () => {
  const pool = Array.from({ length: 60 }, () => ({
    key: random.bytes(32),
    value: random.bytes(32),
  }));
  const step = fc.tuple(fc.boolean(), fc.nat(pool.length - 1));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const keys = new EdwardsKeys(16);
      const added = new Set<number>();
      return steps.every(([add, i]) => {
        const { key, value } = pool[i]!;
        if (!add) return !keys.copy(key, target) || (added.has(i) && equal(target, value));
        added.add(i);
        if (!keys.has(key)) keys.add(key, value);
        return keys.copy(key, target) && equal(target, value);
      });
    }),
  );
});

t.test('holds about what it promises and drops what was not used', async (t) => {
  const keys = new EdwardsKeys(1024);
  const favourite = random.bytes(32);
  keys.add(favourite, favourite);
  const others = Array.from({ length: 5000 }, () => random.bytes(32));
  for (const other of others) {
    keys.add(other, other);
    if (!keys.copy(favourite, target)) t.fail('dropped though in use');
  }
  const held = others.filter((key) => keys.has(key)).length;
  t.ok(held > 900 && held < 1024, `${held} held`);
});

t.test('the key of zeros is not there before it was added', async (t) => {
  const keys = new EdwardsKeys(1);
  t.notOk(keys.has(new Uint8Array(32)));
  keys.add(new Uint8Array(32), target);
  t.ok(keys.has(new Uint8Array(32)));
});
