// Ranges in order give the same verdicts as all ranges one by one, and in few comparisons.
import t from 'tap';
import { compare } from '../../../src/base/bytes.ts';
import { ReadRanges } from '../../../src/contracts/reads/read-ranges.ts';
import { Rng } from '../../generators/random.ts';

const keyOf = (n: number): Uint8Array => Uint8Array.of(n >> 8, n & 255);

t.test('as every range alone', async (t) => {
  const rng = new Rng(7);
  for (let round = 0; round < 200; round++) {
    const ranges = new ReadRanges();
    const all: { from: Uint8Array; to: Uint8Array; position: number }[] = [];
    let [position, count] = [0, 0];
    for (let i = rng.below(12); i >= 0; i--) {
      const [a, b] = [keyOf(rng.below(60)), keyOf(rng.below(60))];
      position += rng.below(3);
      all.push({ from: a, to: b, position });
      count += ranges.add(a, b, position);
    }
    t.ok(count <= 2 * all.length);
    for (let n = 0; n < 60; n++) {
      for (let change = 0; change <= position + 1; change++) {
        const key = keyOf(n);
        const expected = all.some(
          (one) =>
            one.position <= change && compare(one.from, key) <= 0 && compare(key, one.to) < 0,
        );
        if (ranges.hasReadBefore(key, change) !== expected) t.fail(`${round}: ${n} at ${change}`);
      }
    }
  }
});

/** A key that counts how often its bytes are looked at. */
function counting(looks: { count: number }): Uint8Array {
  return new Proxy(keyOf(20_001), {
    get(target, name) {
      if (name === 'length') looks.count++;
      return Reflect.get(target, name, target);
    },
  });
}

t.test('a key is found by halving', async (t) => {
  const ranges = new ReadRanges();
  for (let i = 0; i < 10_000; i++) ranges.add(keyOf(4 * i), keyOf(4 * i + 2), 0);
  const looks = { count: 0 };
  t.equal(ranges.hasReadBefore(counting(looks), 0), true);
  t.ok(looks.count > 0 && looks.count < 100, `${looks.count} comparisons`);
});
