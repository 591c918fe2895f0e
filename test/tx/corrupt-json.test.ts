/** For any input of a client, the result is a transaction or an ApiError. */
import t from 'tap';
import { ApiError } from '../../src/base/errors.ts';
import { parse, stringify } from '../../src/base/json/json.ts';
import {
  broadcastFromJson,
  forFeeFromJson,
  txFromJson,
  txToJson,
  unsignedFromJson,
} from '../../src/tx/json/encode.ts';
import { allTypes } from '../../src/tx/registry.ts';
import { publicKeys, scheme } from '../generators/network.ts';
import { Rng } from '../generators/random.ts';
import { transactionOf } from '../generators/tx.ts';

const MUTATIONS = Number(process.env['JSON_MUTATIONS'] ?? 20_000);

const junk: readonly unknown[] = [
  ...[undefined, null, true, 0, -1, 1.5, 1e300, Number.NaN, 2n ** 64n, -(2n ** 63n)],
  ...['', 'x', '0', 'base64:', 'alias:T:', '1'.repeat(5000), '\ud800', '😀'.repeat(200)],
  ...[[], [[]], [null], [{}], {}, { key: 1 }, { type: 'integer' }, { __proto__: null }],
  ...[{ toString: 1 }, { toJSON: 1 }, { length: 5 }, nested(50_000)],
];

function nested(depth: number): unknown {
  return JSON.parse('['.repeat(depth) + ']'.repeat(depth));
}

const forms: readonly ((json: unknown) => unknown)[] = [
  (json) => txFromJson(json, scheme),
  (json) => broadcastFromJson(json, scheme),
  (json) => forFeeFromJson(json, scheme),
  (json) =>
    unsignedFromJson(json, scheme, {
      publicKeyOf: () => publicKeys[0]!,
      timestamp: 1,
      feeOf: () => 1n,
    }),
];

/** Replaces one member or item somewhere in the value. */
function mutate(value: unknown, rng: Rng): unknown {
  if (typeof value !== 'object' || value === null || rng.chance(6)) return rng.pick(junk);
  if (Array.isArray(value)) {
    if (value.length === 0) return [rng.pick(junk)];
    const at = rng.below(value.length);
    return value.map((item, i) => (i === at ? mutate(item, rng) : item));
  }
  const names = Object.keys(value);
  if (names.length === 0) return { key: rng.pick(junk) };
  const name = rng.pick(names);
  return { ...value, [name]: mutate((value as Record<string, unknown>)[name], rng) };
}

t.test(`${MUTATIONS} mutations of valid requests`, (t) => {
  const samples = allTypes
    .flatMap((def) => def.layouts.map((layout) => ({ def, layout })))
    .map(({ def, layout }, seed) => {
      const tx = transactionOf(def, layout, new Rng(seed));
      return parse(stringify(txToJson(tx, scheme)));
    });
  let refused = 0;
  for (let seed = 0; seed < MUTATIONS; seed++) {
    const rng = new Rng(seed);
    let json = mutate(samples[seed % samples.length], rng);
    if (rng.chance(4)) json = mutate(json, rng);
    try {
      rng.pick(forms)(json);
    } catch (cause) {
      refused++;
      if (!(cause instanceof ApiError)) t.fail('another error', { seed, cause });
    }
  }
  t.ok(refused > MUTATIONS / 4, `${refused} were refused`);
  t.end();
});
