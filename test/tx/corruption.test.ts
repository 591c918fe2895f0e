/**
 * For any bytes of a peer, the decoder returns a transaction or throws a CodecError. MUTATIONS says how
 * many bytes are tried; `npm run test:bytes` tries five times as many.
 */
import t from 'tap';
import { equal } from '../../src/base/bytes.ts';
import { CodecError } from '../../src/codec/codec.ts';
import { allTypes } from '../../src/tx/registry.ts';
import { buildTx, decodeTx } from '../../src/tx/tx-bytes.ts';
import { scheme } from '../generators/network.ts';
import { Rng } from '../generators/random.ts';
import { transactionOf } from '../generators/tx.ts';
import { accepted, fullBytes, title } from './vectors.ts';

/** The vectors are of the international family. */
const VECTOR_KEY_BYTES = 32;
/** Longer transactions are cut at so many places. */
const CUTS_MAX = 3000;
const MUTATIONS = Number(process.env['MUTATIONS'] ?? 20_000);

/** The error of an attempt, if it is one that is allowed. */
function refusal(bytes: Uint8Array): CodecError | undefined {
  try {
    decodeTx(bytes, scheme);
    return undefined;
  } catch (cause) {
    if (cause instanceof CodecError) return cause;
    throw cause;
  }
}

const layouts = allTypes.flatMap((def) => def.layouts.map((layout) => ({ def, layout })));
const samples = layouts.map(
  ({ def, layout }, seed) => transactionOf(def, layout, new Rng(seed)).bytes,
);
/** Transactions from outside, which are all of one family, and one of each layout. */
const whole = [
  ...(scheme.publicKeySize === VECTOR_KEY_BYTES
    ? accepted.map((vector) => ({ name: title(vector), bytes: fullBytes(vector) }))
    : []),
  ...samples.map((bytes, i) => ({
    name: `${layouts[i]!.def.key} ${layouts[i]!.layout.version}`,
    bytes,
  })),
];

t.test('truncated or extended transactions', (t) => {
  for (const { name, bytes } of whole) {
    const step = Math.ceil(bytes.length / CUTS_MAX);
    for (let length = 0; length < bytes.length; length += step) {
      if (!refusal(bytes.subarray(0, length))) t.fail(`${name} cut to ${length}`);
    }
    if (!refusal(Uint8Array.of(...bytes, 0))) t.fail(`${name} with one more byte`);
  }
  t.pass('are refused');
  t.end();
});

t.test('a view into a larger buffer ends where it ends', (t) => {
  const { bytes } = whole[0]!;
  const larger = new Uint8Array(bytes.length + 20);
  larger.set(bytes, 10);
  const tx = decodeTx(larger.subarray(10, 10 + bytes.length), scheme);
  t.ok(equal(tx.bytes, bytes));
  t.ok(refusal(larger.subarray(10, 9 + bytes.length)));
  t.end();
});

t.test(`${MUTATIONS} mutations of valid transactions`, (t) => {
  let refused = 0;
  for (let seed = 0; seed < MUTATIONS; seed++) {
    const rng = new Rng(seed);
    const bytes = mutated(samples[seed % samples.length]!, rng);
    try {
      const tx = decodeTx(bytes, scheme);
      // Nothing that is accepted has a second spelling.
      const again = buildTx(tx.def, tx.layout, tx.fields, tx.proofs, scheme);
      if (!equal(again.bytes, bytes)) t.fail('not canonical', { seed });
    } catch (cause) {
      refused++;
      if (!(cause instanceof CodecError)) t.fail('another error', { seed, cause });
    }
  }
  t.ok(refused > MUTATIONS / 4, `${refused} were refused`);
  t.end();
});

function mutated(source: Uint8Array, rng: Rng): Uint8Array {
  const bytes = Uint8Array.from(source);
  const changes = rng.between(1, 4);
  for (let i = 0; i < changes; i++) {
    const at = rng.chance(3) ? rng.below(Math.min(bytes.length, 80)) : rng.below(bytes.length);
    bytes[at] = rng.pick([0, 1, 255, rng.u32() & 255, bytes[at]! ^ (1 << rng.below(8))]);
  }
  if (rng.chance(6)) return bytes.subarray(0, rng.below(bytes.length));
  if (rng.chance(6)) return Uint8Array.of(...bytes, ...rng.bytes(rng.below(9)));
  return bytes;
}

t.test('noise', (t) => {
  const rng = new Rng(1);
  for (let i = 0; i < 20_000; i++) {
    const bytes = rng.bytes(rng.below(200));
    if (bytes.length > 2) {
      bytes[0] = rng.pick([0, bytes[0]!, rng.below(12)]);
      bytes[1] = rng.pick([rng.below(16), rng.between(100, 115)]);
      bytes[2] = rng.below(4);
    }
    if (!refusal(bytes)) t.fail('noise is no transaction');
  }
  t.pass('is refused');
  t.end();
});
